import { memoised } from '../../model/memoised.ts'
import { type HighlightToken, highlightTokens } from '../parts/highlight.ts'
import { endpointPath } from '../playground/endpoint-path.ts'
import type { PlaygroundData } from '../playground/sparql-page.ts'
import { CompletionList, vocabularySource } from './modules/completion-list.ts'
import { make } from './modules/elements.ts'
import type { MessageSource, QueryMessage, QueryRun } from './modules/query-messages.ts'
import { QueryView } from './modules/query-view.ts'

/**
 * Highlights the text of a field: the visible text lies behind the field, whose own letters are transparent, so that the
 * field is unchanged for keyboards, screen readers and programs.
 */
class CodePaint {
  private readonly field: HTMLTextAreaElement
  private readonly paint: HTMLElement
  private bad: number | null = null

  constructor(field: HTMLTextAreaElement, paint: HTMLElement) {
    this.field = field
    this.paint = paint
    field.addEventListener('input', () => {
      this.bad = null
      field.removeAttribute('aria-invalid')
      this.draw()
    })
    field.parentElement?.classList.add('painted')
    this.draw()
  }

  /** Marks the position of a fault; null for none. */
  mark(offset: number | null): void {
    this.bad = offset
    if (offset === null) this.field.removeAttribute('aria-invalid')
    else this.field.setAttribute('aria-invalid', 'true')
    this.draw()
  }

  draw(): void {
    let at = 0
    const pieces = highlightTokens(this.field.value, 'sparql').map(token => {
      const from = at
      at += token.text.length
      const isBad = this.bad !== null && this.bad >= from && this.bad < at
      return pieceOf(token, isBad)
    })
    // An empty line has no height without a character.
    this.paint.replaceChildren(...pieces, '\n')
  }
}

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
  const { value: way } = via
  if (way !== 'fragments' && way !== 'brtpf') return { value: `${data.base}/api/sparql/${name}` }
  return { type: way === 'brtpf' ? 'brtpf' : 'qpf', value: `${data.base}/api/tpf/${name}` }
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

function pieceOf({ kind, text }: HighlightToken, isBad: boolean): Node | string {
  if (!isBad && kind === 'plain') return text
  return make('span', { class: `t-${kind}${isBad ? ' t-bad' : ''}` }, text)
}

/** An example in the list at `/api/void/{dataset}/queries`. */
interface ListedQuery {
  readonly title: string
  readonly query: string
  readonly federatesWith: readonly string[]
}

interface Place {
  readonly here: string
  /** Ids of the existing datasets. */
  readonly sources: readonly string[]
  readonly texts: { readonly noExamples: string }
}

/**
 * The list of examples: a click inserts one into the page, and the list follows the selected datasets.
 *
 * @param take called with the example, and the datasets that it needs
 */
function exampleList(
  list: HTMLElement,
  { here, sources, texts }: Place,
  take: (query: string, sources: readonly string[]) => void,
): { show(ids: readonly string[]): void } {
  const known = new Map<string, Promise<readonly ListedQuery[]>>()
  let requested: readonly string[] = []
  list.addEventListener('click', event => {
    const link = (event.target as Element).closest('a')
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    const { searchParams } = new URL(link.href)
    take(searchParams.get('query') ?? '', searchParams.getAll('source'))
    document.getElementById('run')?.focus()
  })
  const examplesOf = (id: string) =>
    memoised(known, id, () =>
      // A list that could not be read is requested again.
      listOf(`${here}/api/void/${encodeURIComponent(id)}/queries`).catch(() => {
        known.delete(id)
        return []
      }),
    )
  return {
    show(ids) {
      requested = ids
      Promise.all(ids.map(async id => ({ id, queries: await examplesOf(id) }))).then(found => {
        if (requested !== ids) return
        const items = found.flatMap(({ id, queries }) =>
          queries.flatMap(each =>
            each.federatesWith.every(other => sources.includes(other)) ? [itemOf(id, each)] : [],
          ),
        )
        const none = make('li', { class: 'soft' }, texts.noExamples)
        list.replaceChildren(...(items.length === 0 ? [none] : items))
      })
    },
  }
}

async function listOf(address: string): Promise<readonly ListedQuery[]> {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`${answer.status}`)
  const { queries } = (await answer.json()) as { readonly queries: readonly ListedQuery[] }
  return queries
}

function itemOf(id: string, { title, query, federatesWith }: ListedQuery): HTMLElement {
  const address = new URL(location.pathname, location.origin)
  for (const source of [id, ...federatesWith]) address.searchParams.append('source', source)
  address.searchParams.set('query', query)
  return make('li', {}, make('a', { href: address.href }, title))
}
