import { invalid, many } from './parameters.ts'
import type { QueryParameters } from './query-string.ts'

/** A facet that a request names, and how it wants it: what is not said is as the field says. */
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
}

/** Most filters of one kind, so that one address cannot ask for everything. */
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
    const value = /^\s*:([\s\S]*)$/.exec(rest)?.[1]
    if (value === undefined || value.trim() === '') throw invalid(parameter, text, expected)
    return { facet, value: unquoted(value.trim()) }
  })
}

/** Reads `facet`: names, each plain, in back-quotes or with its options as `facet(name="…", sort=-count, limit=10)`. */
export function readFacets(query: QueryParameters): readonly FacetParameter[] {
  const texts = many(query, 'facet').filter(text => text.trim() !== '')
  if (texts.length > MAX_FILTERS) throw invalid('facet', `${texts.length} values`, `at most ${MAX_FILTERS}`)
  return texts.flatMap(text => readList(text.trim()))
}

function readList(text: string): readonly FacetParameter[] {
  const [facet, rest] = readName(text, 'facet')
  const more = rest.trim()
  if (more === '') return [facet]
  if (!more.startsWith(',') || more === ',') throw invalid('facet', text, 'the name of a facet')
  return [facet, ...readList(more.slice(1).trim())]
}

/** The facet at the beginning of a text, and what comes after it. */
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
