import { declareFault, Fault } from '../errors/errors.ts'
import { isLanguage, LANGUAGES, type Language } from '../model/language.ts'
import { lookup } from '../model/lookup.ts'
import { isTimeZone } from '../model/time.ts'
import { parseQueryValue, type QueryParameters } from './query-string.ts'

export const INVALID_REST_PARAMETER_ERROR = declareFault(
  'InvalidRESTParameterError',
  400,
  'Invalid value for {parameter} API parameter: {found} was found but {expected} is expected.',
)

/** Maximum rows of a page, and the deepest row that a page may reach (REST 3.2). */
export const PAGE = { limit: 100, window: 10_000 } as const
export const GROUPED_PAGE = { limit: 20_000, window: 20_000 } as const

/** Default rows of a page, and the value that requests all rows. */
export const DEFAULT_ROWS = 10
export const ALL_ROWS = -1

/** The default time zone of dates. */
export const DEFAULT_ZONE = 'UTC'

/** The clauses of a query from the address, and how literals and texts of dates are interpreted. */
export interface QueryClauses {
  readonly select: string | undefined
  readonly where: readonly string[]
  /** Full-text queries of the export links of portals. */
  readonly qv1: readonly string[]
  readonly groupBy: string | undefined
  readonly orderBy: string | undefined
  readonly timezone: string
  readonly language: Language
}

/** Reads the clauses of a query. Faults: InvalidRESTParameterError with the value found and the values expected. */
export function readClauses(query: QueryParameters): QueryClauses {
  return {
    ...readPresentation(query),
    select: joined(query, 'select'),
    where: many(query, 'where'),
    qv1: many(query, 'qv1'),
    groupBy: joined(query, 'group_by'),
    orderBy: joined(query, 'order_by'),
  }
}

/**
 * Reads the language and the time zone of a request. A language may be a tag with regions, in any case (`EN`, `en-US`;
 * RFC 5646), a time zone may be percent-encoded twice (`Europe%252FParis`).
 */
export function readPresentation(query: QueryParameters): {
  readonly timezone: string
  readonly language: Language
} {
  const tag = one(query, 'lang') ?? LANGUAGES[0]
  const language = tag.toLowerCase().split(/[-_]/, 1)[0] ?? ''
  if (!isLanguage(language)) throw invalid('lang', tag, `one of ${LANGUAGES.join(', ')}`)
  const timezone = one(query, 'timezone') ?? DEFAULT_ZONE
  const zone = isTimeZone(timezone) ? timezone : decodedAgain(timezone)
  if (!isTimeZone(zone)) throw invalid('timezone', timezone, 'a time zone such as Europe/Paris')
  return { timezone: zone, language }
}

/** Pairs of names of the paging parameters; of two names of one parameter, the first that is given counts. */
export const PAGING = [
  { limit: 'limit', offset: 'offset' },
  { limit: 'rows', offset: 'start' },
] as const

/**
 * Reads the requested page, in either spelling.
 *
 * @param standard default rows of a page; null for the maximum
 */
export function readPage(
  query: QueryParameters,
  grouped: boolean,
  standard: number | null = DEFAULT_ROWS,
): { readonly limit: number; readonly offset: number } {
  const max = grouped ? GROUPED_PAGE : PAGE
  const names = pagingNames(query)
  const limit = wholeNumber(query, names.limit, standard ?? ALL_ROWS, ALL_ROWS, max.limit)
  const offset = wholeNumber(query, names.offset, 0, 0, max.window)
  const length = limit === ALL_ROWS ? Math.max(0, Math.min(max.limit, max.window - offset)) : limit
  if (offset + length > max.window)
    throw invalid(
      `${names.offset} + ${names.limit}`,
      offset + length,
      `${names.offset} + ${names.limit} <= ${max.window}`,
    )
  return { limit: length, offset }
}

/** The names by which a request gives limit and offset; one that it does not give has the spelling of the other. */
export function pagingNames(query: QueryParameters): { readonly limit: string; readonly offset: string } {
  const given = (name: string) => lookup(query, name) !== undefined && lookup(query, name) !== ''
  const pair = PAGING.find(({ limit, offset }) => given(limit) || given(offset)) ?? PAGING[0]
  return {
    limit: PAGING.find(({ limit }) => given(limit))?.limit ?? pair.limit,
    offset: PAGING.find(({ offset }) => given(offset))?.offset ?? pair.offset,
  }
}

/** Reads a parameter that is true or false; anything else is refused. */
export function readFlag(query: QueryParameters, name: string): boolean {
  const text = one(query, name)
  if (text === undefined || /^(false|0|no)$/i.test(text)) return false
  if (/^(true|1|yes)$/i.test(text)) return true
  throw invalid(name, text, 'true or false')
}

/** Refuses parameters that the service does not support, rather than ignore them. */
export function refuseParameters(query: QueryParameters, names: readonly string[], reason: string): void {
  for (const name of names) {
    const found = lookup(query, name)
    if (found !== undefined && found !== '') throw invalid(name, String(found), `no value: ${reason}`)
  }
}

/** Reads an integer within a range. */
export function wholeNumber(
  query: QueryParameters,
  name: string,
  standard: number,
  least: number,
  max: number,
): number {
  const text = one(query, name)
  if (text === undefined) return standard
  const expected = `${least} <= ${name} <= ${max}`
  if (!/^-?\d{1,15}$/.test(text)) throw invalid(name, text, expected)
  const value = Number(text)
  if (value < least || value > max) throw invalid(name, text, expected)
  return value
}

/**
 * Decodes a value that was percent-encoded twice. Only for parameters whose values are known words, which contain no percent
 * sign.
 */
export function decodedAgain(text: string): string {
  return parseQueryValue(text) ?? text
}

export function one(query: QueryParameters, name: string): string | undefined {
  const value = lookup(query, name)
  if (Array.isArray(value)) throw invalid(name, value.join(', '), 'one value')
  return value === '' ? undefined : value
}

export function many(query: QueryParameters, name: string): readonly string[] {
  const value = lookup(query, name)
  return value === undefined ? [] : Array.isArray(value) ? value : [value]
}

function joined(query: QueryParameters, name: string): string | undefined {
  const values = many(query, name).filter(value => value !== '')
  return values.length === 0 ? undefined : values.join(', ')
}

export function invalid(parameter: string, found: string | number, expected: string): Fault {
  const text = String(found)
  return new Fault(INVALID_REST_PARAMETER_ERROR, {
    parameter,
    found: text.length > 100 ? `${text.slice(0, 100)}…` : text,
    expected,
  })
}

/** A requested facet with its options: those left out default to the settings of the field. */
export interface FacetParameter {
  readonly name: string
  readonly disjunctive?: boolean
  readonly hierarchical?: boolean
  readonly separator?: string
  readonly sort?: string
  readonly limit?: number
}

/** A facet and one of its values, as `refine` and `exclude` name them. */
export interface FacetValueParameter {
  readonly facet: FacetParameter
  readonly value: string
  /** With the blanks and quotation marks that it was written with, which may belong to the value. */
  readonly verbatim: string
}

/** Maximum number of filters of one kind. */
const MAX_FILTERS = 100
const MAX_VALUES = 1000

/**
 * Reads `refine` or `exclude`: `name:value`, the name plain, in back-quotes or as `facet(…)`, the value plain or in quotes
 * (REST 3.3).
 */
export function readFacetValues(
  query: QueryParameters,
  parameter: 'refine' | 'exclude',
): readonly FacetValueParameter[] {
  const texts = many(query, parameter).filter(text => text.trim() !== '')
  if (texts.length > MAX_FILTERS) throw invalid(parameter, `${texts.length} values`, `at most ${MAX_FILTERS}`)
  return texts.map(text => {
    const expected = 'a facet and a value, as in country:"France",'
    const [facet, rest] = readName(text, parameter)
    const verbatim = /^\s*:([\s\S]*)$/.exec(rest)?.[1]
    if (verbatim === undefined || verbatim === '') throw invalid(parameter, text, expected)
    return { facet, value: unquoted(verbatim.trim()), verbatim }
  })
}

/** Reads `facet`: names, each plain, in back-quotes or with its options as `facet(name="…", sort=-count, limit=10)`. */
export function readFacets(query: QueryParameters): readonly FacetParameter[] {
  const texts = many(query, 'facet').filter(text => text.trim() !== '')
  const facets = texts.flatMap(text => readList(text.trim()))
  if (facets.length > MAX_FILTERS) throw invalid('facet', `${facets.length} values`, `at most ${MAX_FILTERS}`)
  return facets
}

function readList(text: string): readonly FacetParameter[] {
  const facets: FacetParameter[] = []
  for (let left = text; left !== ''; ) {
    const [facet, rest] = readName(left, 'facet')
    facets.push(facet)
    const more = rest.trim()
    if (more !== '' && (!more.startsWith(',') || more === ','))
      throw invalid('facet', left, 'the name of a facet')
    left = more.slice(1).trim()
  }
  return facets
}

/** The facet at the beginning of a text, and the rest of the text. */
function readName(text: string, parameter: string): readonly [FacetParameter, string] {
  const form = /^\s*facet\s*\(/i.exec(text)
  if (form !== null) return readForm(text, form[0].length, parameter)
  const quoted = /^\s*`([^`]+)`/.exec(text)
  if (quoted !== null) return [{ name: quoted[1] ?? '' }, text.slice(quoted[0].length)]
  const plain = /^\s*([^:,()`"'\s]+)/.exec(text)
  if (plain === null) throw invalid(parameter, text, 'the name of a facet')
  return [{ name: plain[1] ?? '' }, text.slice(plain[0].length)]
}

const ARGUMENT = /^\s*(?:(\w+)\s*=\s*)?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|[^\s,()]+)\s*([,)])/

function readForm(text: string, start: number, parameter: string): readonly [FacetParameter, string] {
  const found = new Map<string, string>()
  let at = start
  for (;;) {
    const match = ARGUMENT.exec(text.slice(at))
    if (match === null) throw invalid(parameter, text, 'facet(name="…", disjunctive=true, sort=-count …)')
    const [whole, name = 'name', value = '', end] = match
    found.set(name.toLowerCase(), unquoted(value))
    at += whole.length
    if (end === ')') break
  }
  const name = found.get('name')
  if (name === undefined || name === '') throw invalid(parameter, text, 'a name in facet(name="…")')
  const limit = found.get('limit')
  if (limit !== undefined && !(/^\d{1,6}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_VALUES))
    throw invalid(parameter, `limit=${limit}`, `1 <= limit <= ${MAX_VALUES}`)
  const flag = (key: string) => {
    const value = found.get(key)
    if (value === undefined) return undefined
    if (!/^(true|false)$/i.test(value)) throw invalid(parameter, `${key}=${value}`, 'true or false')
    return value.toLowerCase() === 'true'
  }
  const [disjunctive, hierarchical] = [flag('disjunctive'), flag('hierarchical')]
  const [separator, sort] = [found.get('separator'), found.get('sort')]
  const facet = {
    name,
    ...(disjunctive === undefined ? {} : { disjunctive }),
    ...(hierarchical === undefined ? {} : { hierarchical }),
    ...(separator === undefined || separator === '' ? {} : { separator }),
    ...(sort === undefined ? {} : { sort }),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
  }
  return [facet, text.slice(at)]
}

function unquoted(text: string): string {
  const first = text.charAt(0)
  if (text.length < 2 || !'"\'`'.includes(first) || !text.endsWith(first)) return text
  return text.slice(1, -1).replace(/\\([\s\S])/g, '$1')
}
