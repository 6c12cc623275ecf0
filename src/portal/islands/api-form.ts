import { exactJson, parseExactly } from '../../model/exact-json.ts'
import { lookup } from '../../model/lookup.ts'
import { highlightTokens } from '../parts/highlight.ts'
import { editOnFocus } from './modules/edit-on-focus.ts'
import { make } from './modules/elements.ts'

/** Runs the call of the form in place: updates the address of the page, and shows the answer of the API. */
const form = document.querySelector<HTMLFormElement>('form.api-form')

form?.addEventListener('submit', event => {
  event.preventDefault()
  const address = new URL(form.action)
  for (const [name, value] of new FormData(form))
    if (typeof value === 'string' && value.trim() !== '') address.searchParams.append(name, value.trim())
  history.replaceState(null, '', address)
  void run(address)
})

editOnFocus(form?.querySelector<HTMLTextAreaElement>('textarea[name=where]'))

/** Ends the call before: its answer must not follow that of a later one. */
let latest = new AbortController()

/** The portal renders the part of the page that depends on the call, as if the page were reloaded. */
async function run(address: URL): Promise<void> {
  let shown = document.querySelector<HTMLElement>('#call')
  if (shown === null) return
  latest.abort()
  latest = new AbortController()
  const { signal } = latest
  shown.setAttribute('aria-busy', 'true')
  try {
    const text = await (await fetch(address, { signal })).text()
    const callArea = new DOMParser().parseFromString(text, 'text/html').querySelector<HTMLElement>('#call')
    if (callArea === null) return location.assign(address)
    callArea.setAttribute('aria-busy', 'true')
    shown.replaceWith(callArea)
    shown = callArea
    for (const button of callArea.querySelectorAll<HTMLButtonElement>('button.copy')) button.hidden = false
    // If the portal refuses the call, the page shows the fault, and the call is not sent.
    if (callArea.querySelector('.fault') === null) await call(callArea, signal)
  } catch {
    // A later call has replaced this one.
    if (signal.aborted) return
    report(shown, shown.dataset.failed ?? '')
  }
  shown.removeAttribute('aria-busy')
}

async function call(shown: HTMLElement, signal: AbortSignal): Promise<void> {
  const begun = performance.now()
  const response = await fetch(shown.dataset.call ?? '', { signal, headers: { accept: 'application/json' } })
  const body = await response.arrayBuffer()
  const text = new TextDecoder().decode(body)
  const parts: Readonly<Record<string, string>> = {
    status: String(response.status),
    ms: String(Math.round(performance.now() - begun)),
    bytes: body.byteLength.toLocaleString(document.documentElement.lang),
  }
  report(
    shown,
    (shown.dataset.status ?? '').replace(/\{(\w+)\}/g, (_, name: string) => lookup(parts, name) ?? ''),
  )
  // Also that of a refusal: the one on the page is of the portal itself.
  const answer = shown.querySelector('.answer')
  if (answer === null) return
  shown.querySelector('.remark')?.remove()
  const code = answer.querySelector('code') ?? answer.appendChild(document.createElement('pre'))
  const isJson = response.headers.get('content-type')?.includes('json') === true
  const whole = isJson ? exactJson(parseExactly(text), 2) : text
  const isCut = whole.length > MAX_LENGTH
  code.replaceChildren(
    ...painted(isCut ? `${whole.slice(0, whole.lastIndexOf('\n', MAX_LENGTH))}\n…` : whole),
  )
  const note = shown.querySelector<HTMLElement>('.cut')
  if (note !== null) note.hidden = !isCut
}

/** Maximum characters of an answer on the page. */
const MAX_LENGTH = 100_000

function painted(text: string): readonly (Node | string)[] {
  return highlightTokens(text, 'json').map(({ kind, text }) =>
    kind === 'plain' ? text : make('span', { class: `t-${kind}` }, text),
  )
}

function report(shown: HTMLElement, text: string): void {
  const status = shown.querySelector('.status')
  if (status !== null) status.textContent = text
}
