import { memoised } from '../../../model/memoised.ts'
import {
  type QueryVocabulary,
  type SparqlCompletion,
  sparqlCompletions,
} from '../../playground/sparql-completion.ts'
import { make } from './elements.ts'

/**
 * A list of completions below the cursor of a query; the field announces the selected one to screen readers
 * (`aria-activedescendant`, WAI-ARIA 1.2). Arrows select, Enter and Tab accept, Escape closes; further typing is not disturbed.
 */
export class CompletionList {
  private readonly field: HTMLTextAreaElement
  private readonly paint: HTMLElement
  private readonly list: HTMLElement
  private readonly vocabulary: () => Promise<QueryVocabulary>
  private offers: readonly SparqlCompletion[] = []
  private range = { from: 0, to: 0 }
  private active = 0
  private latest = 0

  /**
   * @param paint the visible text of the field, which gives the position of the cursor
   * @param vocabulary the names of the selected datasets
   */
  constructor(
    field: HTMLTextAreaElement,
    paint: HTMLElement,
    label: string,
    vocabulary: () => Promise<QueryVocabulary>,
  ) {
    this.field = field
    this.paint = paint
    this.vocabulary = vocabulary
    const attributes = { id: 'completions', class: 'completions', role: 'listbox', hidden: '' }
    this.list = make('ul', { ...attributes, 'aria-label': label })
    field.parentElement?.append(this.list)
    field.setAttribute('aria-autocomplete', 'list')
    field.setAttribute('aria-haspopup', 'listbox')
    field.setAttribute('aria-controls', this.list.id)
    field.addEventListener('input', () => {
      this.complete().catch(() => this.close())
    })
    field.addEventListener('blur', () => this.close())
    field.addEventListener('click', () => this.close())
    field.addEventListener('keydown', event => this.onKey(event))
    this.list.addEventListener('mousedown', event => {
      const item = (event.target as Element).closest('li')
      event.preventDefault()
      if (item !== null) this.take([...this.list.children].indexOf(item))
    })
  }

  private async complete(): Promise<void> {
    const { value, selectionStart, selectionEnd } = this.field
    this.latest++
    const { latest } = this
    const vocabulary = await this.vocabulary()
    // It was closed meanwhile, or another one was begun.
    if (latest !== this.latest || document.activeElement !== this.field) return
    if (this.field.value !== value || selectionStart !== selectionEnd) return
    const found = sparqlCompletions(value, selectionStart, vocabulary)
    if (found === null) return this.close()
    this.offers = found.offers
    this.range = found
    this.list.replaceChildren(
      ...found.offers.map(({ label, detail }, at) => {
        const title = detail === '' ? {} : { title: detail }
        return make('li', { id: `completion-${at}`, role: 'option', ...title }, label)
      }),
    )
    this.list.hidden = false
    this.place(found.from)
    this.choose(0)
  }

  private onKey(event: KeyboardEvent): void {
    if (this.list.hidden && event.key === 'Escape') this.close()
    if (this.list.hidden || event.ctrlKey || event.metaKey || event.altKey) return
    const { length } = this.offers
    switch (event.key) {
      case 'ArrowDown':
        this.choose((this.active + 1) % length)
        break
      case 'ArrowUp':
        this.choose((this.active + length - 1) % length)
        break
      case 'Enter':
      case 'Tab':
        this.take(this.active)
        break
      case 'Escape':
        this.close()
        break
      case 'ArrowLeft':
      case 'ArrowRight':
        this.close()
        return
      default:
        return
    }
    event.preventDefault()
  }

  private choose(at: number): void {
    this.active = at
    for (const [index, item] of [...this.list.children].entries())
      item.setAttribute('aria-selected', String(index === at))
    this.list.children[at]?.scrollIntoView({ block: 'nearest' })
    this.field.setAttribute('aria-activedescendant', `completion-${at}`)
  }

  private take(at: number): void {
    const option = this.offers[at]
    if (option === undefined) return
    const { from, to } = this.range
    const { label, declaration } = option
    const begin = declaration ?? ''
    this.field.setRangeText(label, from, to, 'end')
    if (begin !== '') {
      this.field.setRangeText(begin, 0, 0, 'preserve')
      const cursor = begin.length + from + label.length
      this.field.setSelectionRange(cursor, cursor)
    }
    this.field.dispatchEvent(new Event('input', { bubbles: true }))
    this.close()
    this.field.focus()
  }

  private close(): void {
    this.latest++
    this.offers = []
    this.list.hidden = true
    this.field.removeAttribute('aria-activedescendant')
  }

  /** Positions the list below the line of an offset in the text. */
  private place(offset: number): void {
    const walker = document.createTreeWalker(this.paint, NodeFilter.SHOW_TEXT)
    let rest = offset
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const { length } = node.textContent ?? ''
      if (rest > length) {
        rest -= length
        continue
      }
      const range = document.createRange()
      range.setStart(node, rest)
      const [own, outer] = [range.getBoundingClientRect(), this.paint.getBoundingClientRect()]
      this.list.style.insetBlockStart = `${own.bottom - outer.top + 2}px`
      this.list.style.left = `${Math.max(0, Math.min(own.left - outer.left, outer.width - 240))}px`
      return
    }
  }
}

/** Reads the names of a dataset from its description (VoID), once. */
export function vocabularySource(
  here: string,
  prefixes: Readonly<Record<string, string>>,
  chosen: () => readonly string[],
): () => Promise<QueryVocabulary> {
  const known = new Map<string, Promise<string>>()
  const descriptionOf = (id: string) =>
    memoised(known, id, async () => {
      const address = `${here}/api/void/${encodeURIComponent(id)}?format=ntriples`
      const text = await fetch(address)
        .then(answer => (answer.ok ? answer.text() : null))
        .catch(() => null)
      // What could not be read is requested again.
      if (text === null) known.delete(id)
      return text ?? ''
    })
  return async () => {
    const ids = chosen()
    const texts = await Promise.all(ids.map(descriptionOf))
    const named = (property: string) =>
      [
        ...new Set(
          texts.flatMap(text =>
            Array.from(text.matchAll(VOID_TERMS), ([, kind, iri = '']) => (kind === property ? iri : '')),
          ),
        ),
      ].filter(iri => iri !== '')
    return { prefixes: { ...COMMON, ...prefixes }, classes: named('class'), properties: named('property') }
  }
}

const VOID_TERMS = /<http:\/\/rdfs\.org\/ns\/void#(class|property)> <([^>]*)>/g

/** Prefixes that any query may need. */
const COMMON = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  geo: 'http://www.opengis.net/ont/geosparql#',
} as const
