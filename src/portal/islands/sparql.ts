import { endpointPath } from '../playground/endpoint-path.ts'
import type { PlaygroundData } from '../playground/sparql-page.ts'
import { CodePaint } from './modules/code-paint.ts'
import { CompletionList, vocabularySource } from './modules/completion-list.ts'
import { exampleList } from './modules/example-list.ts'
import type { MessageSource, QueryMessage, QueryRun } from './modules/query-messages.ts'
import { QueryView } from './modules/query-view.ts'

/** The SPARQL playground: runs the query in a worker and shows its answer as it arrives. */
const data = JSON.parse(element('playground-data').textContent ?? '') as PlaygroundData
const form = element('playground') as HTMLFormElement
const field = element('query') as HTMLTextAreaElement
const run = element('run') as HTMLButtonElement
const stop = element('stop') as HTMLButtonElement
const plan = element('plan') as HTMLButtonElement
const via = element('via') as HTMLSelectElement
const here = location.origin + new URL(data.base).pathname.replace(/\/+$/, '')
const shownText = form.querySelector('.code pre') as HTMLElement
const paint = new CodePaint(field, shownText)
new CompletionList(field, shownText, data.texts.names, vocabularySource(here, data.prefixes, chosen))
const view = new QueryView(element('status'), element('answer'), { ...data, here })
let worker: Worker | null = null

form.addEventListener('submit', event => {
  event.preventDefault()
  event.stopImmediatePropagation()
  if (worker === null) start()
})
plan.hidden = false
plan.addEventListener('click', () => {
  if (worker === null) start(true)
})
stop.addEventListener('click', () => {
  end()
  view.stop()
})
field.addEventListener('input', () => reportState())
field.addEventListener('keydown', event => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  start()
})
via.addEventListener('change', () => reportState())
for (const box of form.querySelectorAll<HTMLInputElement>('[name=source]'))
  box.addEventListener('change', () => {
    reportState()
    examples.show(chosen())
  })
const examples = exampleList(element('examples'), { here, ...data }, (query, sources) => {
  field.value = query
  choose(sources)
  paint.mark(null)
  reportState(true)
})
reportState()

function start(isExplained = false): void {
  end()
  const query = field.value
  const sources = chosen()
  reportState(true)
  paint.mark(null)
  if (sources.length === 0) {
    view.fail(data.texts.choose)
    return
  }
  if (query.trim() === '') {
    field.focus()
    return
  }
  view.begin(query)
  showRunning(true)
  const begun = new Worker(data.worker)
  worker = begun
  begun.onmessage = ({ data: message }: MessageEvent<QueryMessage>) => {
    if (worker !== begun) return
    if (message.type === 'ready') {
      const requested = {
        query,
        sources: sources.map(sourceOf),
        base: data.base,
        here,
        isExplained,
      } satisfies QueryRun
      begun.postMessage(requested)
    }
    view.show(message)
    if (message.type === 'fault') paint.mark(message.offset)
    if (message.type === 'done' || message.type === 'fault') end()
  }
  begun.onerror = () => {
    end()
    view.fail(data.texts.failed)
  }
}

function end(): void {
  worker?.terminate()
  worker = null
  showRunning(false)
}

/** Buttons that do nothing while a query runs are not disabled, so that the focus stays where it is. */
function showRunning(isRunning: boolean): void {
  for (const button of [run, plan]) button.ariaDisabled = String(isRunning)
  if (!isRunning && document.activeElement === stop) run.focus({ preventScroll: true })
  stop.hidden = !isRunning
}

function sourceOf(id: string): MessageSource {
  const name = encodeURIComponent(id)
  switch (via.value) {
    case 'fragments':
      return { type: 'qpf', value: `${data.base}/api/tpf/${name}` }
    case 'brtpf':
      return { type: 'brtpf', value: `${data.base}/api/tpf/${name}` }
    default:
      return { type: 'sparql', value: `${data.base}/api/sparql/${name}` }
  }
}

function chosen(): readonly string[] {
  return [...form.querySelectorAll<HTMLInputElement>('[name=source]:checked')].map(({ value }) => value)
}

function choose(ids: readonly string[]): void {
  for (const box of form.querySelectorAll<HTMLInputElement>('[name=source]'))
    box.checked = ids.includes(box.value)
}

/** Updates the links of the page to its state, and its own address if the query is run or chosen. */
function reportState(entersHistory = false): void {
  const permalink = new URL(form.action)
  const language = form.querySelector<HTMLInputElement>('[name=lang]')?.value
  if (language !== undefined) permalink.searchParams.set('lang', language)
  for (const id of chosen()) permalink.searchParams.append('source', id)
  if (via.value !== 'endpoint') permalink.searchParams.set('via', via.value)
  permalink.searchParams.set('query', field.value)
  const link = element('permalink') as HTMLAnchorElement
  link.href = permalink.href
  const twin = element('twin') as HTMLAnchorElement
  twin.href = here + endpointPath(field.value, chosen(), data.base, 'json')
  if (entersHistory) history.replaceState(null, '', permalink.pathname + permalink.search)
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no ${id}`)
  return found
}
