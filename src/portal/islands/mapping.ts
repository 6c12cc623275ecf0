import type { SourceLanguage } from '../parts/highlight.ts'
import { make } from './modules/elements.ts'
import type { ReportedDiagnostic } from './modules/mapping-editor.ts'

/** The editor of mappings: the portal checks the text while it is typed, and diagnostics link to their lines. */
const MILLISECONDS = 600

/** The view of the text: the plain field, or the editor once it is loaded. */
interface Shown {
  readonly goTo: (line: number, column: number) => void
  readonly mark: (diagnostics: readonly ReportedDiagnostic[]) => void
  readonly setLanguage: (language: SourceLanguage) => void
}

const form = document.querySelector<HTMLFormElement>('form.mapping')
const field = form?.querySelector<HTMLTextAreaElement>('textarea[name=text]') ?? null
const results = form?.querySelector<HTMLElement>('.mapping-results') ?? null

if (form !== null && field !== null && results !== null) start(form, field, results)

function start(form: HTMLFormElement, field: HTMLTextAreaElement, results: HTMLElement): void {
  let shown: Shown = {
    goTo: (line, column) => selectIn(field, line, column),
    mark: () => undefined,
    setLanguage: () => undefined,
  }
  let described: readonly ReportedDiagnostic[] = []
  let written: SourceLanguage | null = null
  let isChanged = form.dataset.leaving === 'changed'
  let timer = 0
  let requested = 0

  const check = async () => {
    const number = ++requested
    results.setAttribute('aria-busy', 'true')
    const body = new URLSearchParams(new FormData(form) as unknown as Record<string, string>)
    const answer = await fetch(form.dataset.check ?? '', { method: 'POST', body }).catch(() => null)
    if (number !== requested) return
    results.setAttribute('aria-busy', 'false')
    if (answer?.ok !== true) {
      results.replaceChildren(make('p', { class: 'fault' }, form.dataset.failed ?? ''))
      return
    }
    const { diagnostics, language, html } = (await answer.json()) as {
      readonly diagnostics: readonly ReportedDiagnostic[]
      readonly language: SourceLanguage
      readonly html: string
    }
    described = diagnostics
    written = language
    shown.setLanguage(language)
    const open = [...results.querySelectorAll('details[open]')].map(({ className }) => className)
    results.innerHTML = html
    for (const each of results.querySelectorAll('details')) each.open = open.includes(each.className)
    shown.mark(diagnostics)
  }

  field.addEventListener('input', () => {
    isChanged = true
    window.clearTimeout(timer)
    timer = window.setTimeout(check, MILLISECONDS)
  })
  field.addEventListener(
    'focus',
    async () => {
      const { editMapping } = await import('./modules/mapping-editor.ts')
      const names = JSON.parse(document.querySelector('#mapping-fields')?.textContent ?? '[]') as string[]
      shown = editMapping(field, names)
      shown.mark(described)
      if (written !== null) shown.setLanguage(written)
      if (described.length === 0) await check()
    },
    { once: true },
  )
  results.addEventListener('click', event => {
    const link = (event.target as Element).closest<HTMLElement>('a[data-line]')
    if (link === null) return
    event.preventDefault()
    shown.goTo(Number(link.dataset.line), Number(link.dataset.column))
  })
  void followState(document.querySelector<HTMLElement>('.mapping-state'), check)
  form.addEventListener('submit', () => {
    isChanged = false
  })
  window.addEventListener('beforeunload', event => {
    if (isChanged) event.preventDefault()
  })
}

/** Milliseconds between polls of the state of a saved mapping: they grow up to a maximum. */
const FIRST_PAUSE = 700
const MAX_PAUSE_LENGTH = 10_000

/** Shows the state of a saved mapping until it is served, or refused; then checks the changes of the text again. */
async function followState(region: HTMLElement | null, check: () => Promise<void>): Promise<void> {
  let shown = region
  let pause = FIRST_PAUSE
  while (shown?.dataset.next !== undefined) {
    await new Promise(resolve => window.setTimeout(resolve, pause))
    pause = Math.min(MAX_PAUSE_LENGTH, pause * 1.2)
    const answer = await fetch(shown.dataset.next).catch(() => null)
    if (answer?.ok !== true) continue
    const { html } = (await answer.json()) as { readonly html: string }
    const template = document.createElement('template')
    template.innerHTML = html
    const next = template.content.firstElementChild as HTMLElement
    // The region stays: screen readers do not announce a replaced live region.
    shown.innerHTML = next.innerHTML
    shown.className = next.className
    shown.dataset.state = next.dataset.state ?? ''
    if (next.dataset.next !== undefined) continue
    delete shown.dataset.next
    const url = new URL(location.href)
    url.searchParams.delete('saved')
    history.replaceState(history.state, '', url)
    await check()
    shown = null
  }
}

function selectIn(field: HTMLTextAreaElement, line: number, column: number): void {
  const before = field.value.split('\n').slice(0, line - 1)
  const at = before.reduce((sum, text) => sum + text.length + 1, 0) + column - 1
  field.focus()
  field.setSelectionRange(at, at)
}
