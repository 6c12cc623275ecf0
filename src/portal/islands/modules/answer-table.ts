import { shownDigits } from '../../../model/number.ts'
import { readableName } from '../../../model/readable-name.ts'
import { termText } from '../../../rdf/ntriples.ts'
import { prefixedName } from '../../../rdf/prefixes.ts'
import type { Literal, Term } from '../../../rdf/term.ts'
import { cutText } from '../../parts/cut-text.ts'
import { make } from './elements.ts'
import type { MessageRow } from './query-messages.ts'

/** How terms are shown: prefixes, the language, and the address of the portal. */
export interface TermStyle {
  readonly prefixes: Readonly<Record<string, string>>
  readonly language: string
  /** The public address of the portal, and the one that the page was loaded from. */
  readonly base: string
  readonly here: string
}

/** Maximum rows on the page: more make it slow; downloads have all. */
export const MAX_SHOWN = 500
const MAX_LENGTH = 160

/** A table that grows while rows arrive. */
export class AnswerTable {
  readonly element: HTMLElement
  private readonly body = make('tbody')
  private readonly style: TermStyle
  private readonly heads: readonly HTMLTableCellElement[]
  private shown = 0

  constructor(variables: readonly string[], label: string, style: TermStyle) {
    this.style = style
    this.heads = variables.map(name => make('th', { scope: 'col' }, name))
    const head = make('thead', {}, make('tr', {}, ...this.heads))
    const table = make('table', { class: 'records' }, head, this.body)
    const attributes = { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }
    this.element = make('div', attributes, table)
  }

  add(rows: readonly MessageRow[]): void {
    const shown = rows.slice(0, MAX_SHOWN - this.shown)
    if (this.shown === 0)
      for (const [at, term] of (shown[0] ?? []).entries())
        this.heads[at]?.classList.toggle('number', isNumber(term))
    this.shown += shown.length
    for (const row of shown) {
      const line = this.body.insertRow()
      for (const term of row) {
        const cell = line.insertCell()
        if (isNumber(term)) cell.className = 'number'
        cell.append(termNode(term, this.style))
      }
    }
  }
}

/** A term for display: IRIs as links with short names, numbers and dates in the format of the language. */
function termNode(term: Term | null, style: TermStyle): Node {
  switch (term?.type) {
    case undefined:
      return text('–', 'none')
    case 'blank':
      return text(`_:${term.value}`, 'soft')
    case 'iri':
      return iriNode(term.value, style)
    case 'literal': {
      const { value, language } = term
      const written = localizedLiteral(term, style.language)
      const cut = cutText(written, MAX_LENGTH)
      const node = text(cut)
      if (cut !== value) node.title = value.slice(0, 1000)
      if (language === '') return node
      node.lang = language
      return make('span', {}, node, ' ', text(language, 'badge'))
    }
    case 'triple':
      return text(termText(term), 'soft')
  }
}

/** The readable prefixed name of an IRI; null if no prefix matches. */
export function shortName(iri: string, prefixes: TermStyle['prefixes']): string | null {
  const name = prefixedName(iri, prefixes)
  return name === null ? null : readableName(name)
}

/** The address that dereferences an IRI: for those of this portal on the host of the page; null if it is no web address. */
export function resourceAddress(
  iri: string,
  { base, here }: Pick<TermStyle, 'base' | 'here'>,
): string | null {
  if (!/^https?:/i.test(iri)) return null
  return iri.startsWith(`${base}/`) ? here + iri.slice(base.length) : iri
}

function iriNode(iri: string, style: TermStyle): Node {
  const { prefixes, base } = style
  const short = shortName(iri, prefixes)
  const address = resourceAddress(iri, style)
  if (address === null) return text(short ?? iri)
  const foreign = iri.startsWith(`${base}/`) ? {} : { rel: 'nofollow noopener' }
  return make('a', { href: address, ...foreign, title: iri, dir: 'ltr' }, short ?? cutText(iri, 60))
}

const XSD = 'http://www.w3.org/2001/XMLSchema#'
const NUMBERS = ['integer', 'decimal', 'double', 'float', 'int', 'long', 'nonNegativeInteger']

function isNumber(term: Term | null): term is Literal {
  return term?.type === 'literal' && NUMBERS.some(name => term.datatype === XSD + name)
}

/** A literal for display: numbers and dates in the format of the language. */
export function localizedLiteral(term: Literal, language: string): string {
  const { value, datatype } = term
  // As a text, so that no digit of a large number is lost.
  if (isNumber(term) && Number.isFinite(Number(value)))
    return new Intl.NumberFormat(language, shownDigits(Number(value), 6)).format(value as `${number}`)
  if (datatype === `${XSD}date` || datatype === `${XSD}dateTime`) {
    const moment = momentOf(term)
    // Formats count years before Christ without saying so.
    if (!(moment.getUTCFullYear() > 0)) return value
    const day = { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'UTC' } as const
    const time = { hour: '2-digit', minute: '2-digit' } as const
    return new Intl.DateTimeFormat(language, datatype === `${XSD}date` ? day : { ...day, ...time }).format(
      moment,
    )
  }
  return value
}

/** The moment of a date or time: invalid if it cannot be read. */
export function momentOf({ value, datatype }: Literal): Date {
  // Without a zone, browsers would read the time in that of the reader.
  const isLocal = datatype === `${XSD}dateTime` && !/(?:Z|[+-]\d\d:\d\d)$/.test(value)
  // They need six digits of a year before Christ, and read four as a year of today.
  return new Date(value.replace(/^-(?=\d{4}(?:-|$))/, '-00') + (isLocal ? 'Z' : ''))
}

function text(content: string, className = ''): HTMLElement {
  return make('span', className === '' ? {} : { class: className }, content)
}
