import { many, one, readFacetValues } from '../http/parameters.ts'
import type { QueryParameters } from '../http/query-string.ts'
import { RESERVED_WORDS } from '../language/odsql/vocabulary.ts'
import type { LinkParameters } from '../site/page-context.ts'

/** A facet and one of its values. */
export interface Refinement {
  readonly facet: string
  readonly value: string
}

/** The records or datasets that a page shows: its whole state is in these parameters of its address. */
export interface PageSelection {
  /** Searched words: `q`. */
  readonly words: string
  /** A condition in ODSQL: `where`. */
  readonly where: string
  readonly refine: readonly Refinement[]
  readonly exclude: readonly Refinement[]
  /** In ODSQL: `order_by`; empty for the order of the source. */
  readonly orderBy: string
  /** 1, 2, 3 … */
  readonly page: number
  /** Additional parameters of the page, which its links and its filter keep, such as those of a chart. */
  readonly view?: Readonly<Record<string, string>>
}

export const NOTHING_SELECTED: PageSelection = {
  words: '',
  where: '',
  refine: [],
  exclude: [],
  orderBy: '',
  page: 1,
}

const MAX_WORDS_LENGTH = 500
const MAX_PAGES = 1_000_000

/** Reads the selection of an address. Faults: InvalidRESTParameterError. */
export function readSelection(query: QueryParameters): PageSelection {
  const page = Number(one(query, 'page') ?? '1')
  const named = (parameter: 'refine' | 'exclude') =>
    readFacetValues(query, parameter).map(({ facet, value }) => ({ facet: facet.name, value }))
  return {
    words: (one(query, 'q') ?? '').trim().slice(0, MAX_WORDS_LENGTH),
    where: joined(many(query, 'where')),
    refine: named('refine'),
    exclude: named('exclude'),
    orderBy: (one(query, 'order_by') ?? '').trim(),
    page: Number.isInteger(page) && page >= 1 && page <= MAX_PAGES ? page : 1,
  }
}

/** Several conditions as one, each in parentheses. */
function joined(given: readonly string[]): string {
  const texts = given.map(text => text.trim()).filter(text => text !== '')
  return texts.length > 1 ? texts.map(text => `(${text})`).join(' and ') : (texts[0] ?? '')
}

/** The parameters of a selection, in addresses of pages; the number of the first page is omitted. */
export function selectionParameters(selection: PageSelection): LinkParameters {
  const { words, where, refine, exclude, orderBy, page, view } = selection
  return {
    ...view,
    q: words,
    where,
    refine: refine.map(refinementText),
    exclude: exclude.map(refinementText),
    order_by: orderBy,
    page: page === 1 ? undefined : page,
  }
}

/** The same selection as the parameters of the Explore API, without the page. */
export function apiParameters({ words, where, refine, exclude, orderBy }: PageSelection) {
  return {
    where: conditions(words, where),
    refine: refine.map(refinementText),
    exclude: exclude.map(refinementText),
    order_by: orderBy,
  }
}

/** The conditions of a selection in ODSQL: its words as a text that is searched in all fields, and its condition. */
export function conditions(words: string, where: string): readonly string[] {
  return [...(words === '' ? [] : [odsqlText(words)]), ...(where === '' ? [] : [where])]
}

/** An ODSQL literal of a text. */
export function odsqlText(text: string): string {
  return `"${text.replace(/[\\"]/g, character => `\\${character}`)}"`
}

/** The name of a field in ODSQL: quoted where it is a word of the language or no plain word. */
export function fieldName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && !RESERVED_WORDS.has(name.toLowerCase()) ? name : `\`${name}\``
}

/** What an order is by, and its direction, as at its end. An expression that has the blanks before it would try each of many. */
export function orderParts(orderBy: string): { readonly by: string; readonly direction: 'asc' | 'desc' } {
  const [found] = /\s(?:asc|desc)$/i.exec(orderBy) ?? []
  if (found === undefined) return { by: orderBy, direction: 'asc' }
  return {
    by: orderBy.slice(0, -found.length).trimEnd(),
    direction: found.length === 5 ? 'desc' : 'asc',
  }
}

/** A refinement in the syntax of `refine` and `exclude`. */
export function refinementText({ facet, value }: Refinement): string {
  return `${/^[\w.]+$/.test(facet) ? facet : `\`${facet}\``}:${/^[\w.-]+(?: [\w.-]+)*$/.test(value) ? value : odsqlText(value)}`
}

/** The selection with a refinement, or without it if it was present. */
export function toggled(selection: PageSelection, refinement: Refinement): PageSelection {
  const isSame = ({ facet, value }: Refinement) => facet === refinement.facet && value === refinement.value
  const refine = selection.refine.some(isSame)
    ? selection.refine.filter(each => !isSame(each))
    : [...selection.refine, refinement]
  return { ...selection, refine, page: 1 }
}

/** True if everything is selected. */
export function isEverything({ words, where, refine, exclude }: PageSelection): boolean {
  return words === '' && where === '' && refine.length + exclude.length === 0
}
