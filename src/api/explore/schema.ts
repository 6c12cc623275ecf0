import { Fault } from '../../errors.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { isTimeZone } from '../../model/time.ts'
import type { OdsqlClauses } from '../../records/ask.ts'

/** Languages that `lang` may name (query API, Explore v2.0, "Query parameters"). */
const LANGUAGES = ['en', 'fr', 'nl', 'pt', 'it', 'ar', 'de', 'es', 'ca', 'eu', 'sv']

/** Most records on a page and deepest record that a page may reach (query API, "Limits"). */
const MAX_LIMIT = 100
const MAX_WINDOW = 10_000

/** The parameters of a list of records or datasets, typed. */
export interface ListParameters extends OdsqlClauses {
  readonly timezone: string
}

/** Reads the parameters of a list. Throws InvalidRESTParameterError with what was found and what is expected. */
export function listParameters(query: QueryParameters): ListParameters {
  refuseUnserved(query, ['group_by', 'refine', 'exclude'])
  const limit = wholeNumber(query, 'limit', 10, -1, MAX_LIMIT)
  const offset = wholeNumber(query, 'offset', 0, 0, MAX_WINDOW)
  const length = limit === -1 ? MAX_LIMIT : limit
  if (offset + length > MAX_WINDOW)
    throw invalid('offset + limit', offset + length, `offset + limit <= ${MAX_WINDOW}`)
  return {
    ...lookupParameters(query),
    where: many(query, 'where'),
    orderBy: joined(query, 'order_by'),
    limit: length,
    offset,
  }
}

/** Reads the parameters of a single record or dataset. */
export function lookupParameters(query: QueryParameters): {
  readonly select: string | undefined
  readonly timezone: string
} {
  const lang = one(query, 'lang')
  if (lang !== undefined && !LANGUAGES.includes(lang))
    throw invalid('lang', lang, `one of ${LANGUAGES.join(', ')}`)
  const timezone = one(query, 'timezone') ?? 'UTC'
  if (!isTimeZone(timezone)) throw invalid('timezone', timezone, 'a time zone such as Europe/Paris')
  return { select: joined(query, 'select'), timezone }
}

function refuseUnserved(query: QueryParameters, names: readonly string[]): void {
  for (const name of names) {
    const found = query[name]
    if (found !== undefined && found !== '')
      throw invalid(name, String(found), 'no value: the parameter is not served yet')
  }
}

function wholeNumber(
  query: QueryParameters,
  name: string,
  usual: number,
  least: number,
  most: number,
): number {
  const text = one(query, name)
  if (text === undefined) return usual
  const expected = `${least} <= ${name} <= ${most}`
  if (!/^-?\d{1,15}$/.test(text)) throw invalid(name, text, expected)
  const value = Number(text)
  if (value < least || value > most) throw invalid(name, text, expected)
  return value
}

function one(query: QueryParameters, name: string): string | undefined {
  const value = query[name]
  if (Array.isArray(value)) throw invalid(name, value.join(', '), 'one value')
  return value === '' ? undefined : value
}

function many(query: QueryParameters, name: string): readonly string[] {
  const value = query[name]
  return value === undefined ? [] : Array.isArray(value) ? value : [value]
}

function joined(query: QueryParameters, name: string): string | undefined {
  const values = many(query, name).filter(value => value !== '')
  return values.length === 0 ? undefined : values.join(', ')
}

function invalid(parameter: string, found: string | number, expected: string): Fault {
  const text = String(found)
  return new Fault('InvalidRESTParameterError', {
    parameter,
    found: text.length > 100 ? `${text.slice(0, 100)}…` : text,
    expected,
  })
}
