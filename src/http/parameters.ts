import { Fault } from '../errors/errors.ts'
import { isLanguage, LANGUAGES, type Language } from '../model/language.ts'
import { lookup } from '../model/lookup.ts'
import { isTimeZone } from '../model/time.ts'
import { parseQueryValue, type QueryParameters } from './query-string.ts'

/** Most rows of a page, and the deepest row that one may reach (REST 3.2). */
export const PAGE = { limit: 100, window: 10_000 } as const
export const GROUPED_PAGE = { limit: 20_000, window: 20_000 } as const

/** Rows of a page where none are asked for, and what asks for all that there may be. */
export const DEFAULT_ROWS = 10
export const ALL_ROWS = -1

/** The clocks that show dates where none are named. */
export const DEFAULT_ZONE = 'UTC'

/** The clauses of a query as the address has them, with what literals and texts of dates mean. */
export interface QueryClauses {
  readonly select: string | undefined
  readonly where: readonly string[]
  /** Full-text queries as the export links of portals have them. */
  readonly qv1: readonly string[]
  readonly groupBy: string | undefined
  readonly orderBy: string | undefined
  readonly timezone: string
  readonly language: Language
}

/** Reads the clauses of a query. Throws InvalidRESTParameterError with what was found and what is expected. */
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

/** The names of the two parameters of a page; the first pair that is given counts. */
export const PAGING = [
  { limit: 'limit', offset: 'offset' },
  { limit: 'rows', offset: 'start' },
] as const

/**
 * Reads which page is asked for, in either spelling.
 *
 * @param standard rows of a page where none are asked for; null for all that there may be
 */
export function readPage(
  query: QueryParameters,
  grouped: boolean,
  standard: number | null = DEFAULT_ROWS,
): { readonly limit: number; readonly offset: number } {
  const max = grouped ? GROUPED_PAGE : PAGE
  const given = (name: string) => lookup(query, name) !== undefined && lookup(query, name) !== ''
  const names = PAGING.find(pair => given(pair.limit) || given(pair.offset)) ?? PAGING[0]
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

/** Reads a parameter that is true or false; anything else is refused. */
export function readFlag(query: QueryParameters, name: string): boolean {
  const text = one(query, name)
  if (text === undefined || /^(false|0|no)$/i.test(text)) return false
  if (/^(true|1|yes)$/i.test(text)) return true
  throw invalid(name, text, 'true or false')
}

/** Refuses parameters that the service does not serve, rather than answer something else than was asked. */
export function refuseParameters(query: QueryParameters, names: readonly string[], reason: string): void {
  for (const name of names) {
    const found = lookup(query, name)
    if (found !== undefined && found !== '') throw invalid(name, String(found), `no value: ${reason}`)
  }
}

/** Reads a whole number between two others. */
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
 * What a value means that was percent-encoded once too often. Only for parameters whose values are known words, in which
 * a percent sign cannot be meant.
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
  return new Fault('InvalidRESTParameterError', {
    parameter,
    found: text.length > 100 ? `${text.slice(0, 100)}…` : text,
    expected,
  })
}
