import { Fault } from '../../errors/errors.ts'
import type { Expression, SelectItem } from '../../language/odata/ast.ts'
import { decodeLiterally, decodeOption, decodeSearch } from '../../language/odata/decode.ts'
import { ODATA_ERROR } from '../../language/odata/faults.ts'
import {
  parseApply,
  parseCompute,
  parseExpand,
  parseExpression,
  parseFilter,
  parseOrderBy,
  parseSearch,
  parseSelect,
} from '../../language/odata/parse.ts'
import type { ODataClauses } from '../../query/odata/resolve.ts'
import { numberOption, type RawOptions, type SystemOption } from './options.ts'

/** The range of the matching entities that one answer contains. */
export interface Window {
  /** Entities on earlier pages (`$skiptoken`), without those of `$skip`. */
  readonly passed: number
  /** Entities before the page. */
  readonly offset: number
  readonly limit: number
  /** `$top`; null for all. */
  readonly top: number | null
}

/** Larger than any number of records, and small enough to be added without loss. */
const FAR = 1e12

/** The page that `$top`, `$skip` and `$skiptoken` request; `$top` counts over all pages. */
export function readWindow(options: RawOptions, pageSize: number): Window {
  const top = numberOption(options, 'top')
  const skip = Math.min(numberOption(options, 'skip') ?? 0, FAR)
  const passed = Math.min(numberOption(options, 'skiptoken') ?? 0, FAR)
  const limit = top === null ? pageSize : Math.max(0, Math.min(pageSize, top - passed))
  return { passed, offset: skip + passed, limit, top }
}

/**
 * Parses the options of a request for entities. Faults: ODataError with the position in the text of the option.
 *
 * @param filters of `$filter(…)` segments, which are combined with that of the option by `and`
 */
export function readODataClauses(
  options: RawOptions,
  filters: readonly Expression[],
  { limit, offset }: Pick<Window, 'limit' | 'offset'>,
): ODataClauses {
  checkExpand(options)
  const own = read(options, 'filter', parseFilter)
  const search = options.system.get('search')
  return {
    filter: joined(own === null ? filters : [...filters, own]),
    search: search === undefined ? null : parseSearch(decodeSearch(search)),
    orderBy: read(options, 'orderby', parseOrderBy) ?? [],
    select: readSelect(options),
    compute: read(options, 'compute', parseCompute) ?? [],
    apply: read(options, 'apply', parseApply) ?? [],
    aliases: readAliases(options),
    top: limit,
    skip: offset,
  }
}

export function readSelect(options: RawOptions): readonly SelectItem[] {
  return read(options, 'select', parseSelect) ?? []
}

/** The values of parameter aliases by their names with @. */
export function readAliases({ aliases }: RawOptions): ReadonlyMap<string, Expression> {
  const found = new Map<string, Expression>()
  for (const [name, raw] of aliases) found.set(name, readText(raw, name, parseExpression))
  return found
}

/** Nothing can be expanded; only `*` is accepted, which may expand nothing (OData 4.0 Protocol 11.2.4.2). */
export function checkExpand(options: RawOptions): void {
  for (const { path } of read(options, 'expand', parseExpand) ?? [])
    if (path[0] !== '*')
      throw new Fault(ODATA_ERROR, {
        reason: `$expand: ${path.join('/').slice(0, 100)} is no navigation property.`,
      })
}

function read<Parsed>(
  { system }: RawOptions,
  name: SystemOption,
  parse: (text: string, option: string) => Parsed,
): Parsed | null {
  const raw = system.get(name)
  return raw === undefined ? null : readText(raw, `$${name}`, parse)
}

/** Reads a plus sign as a blank, or as itself if that does not parse (OData service 4.1). */
function readText<Parsed>(
  raw: string,
  option: string,
  parse: (text: string, option: string) => Parsed,
): Parsed {
  try {
    return parse(decodeOption(raw, option), option)
  } catch (error) {
    if (!raw.includes('+') || !(error instanceof Fault)) throw error
    try {
      return parse(decodeLiterally(raw, option), option)
    } catch {
      throw error
    }
  }
}

function joined(filters: readonly Expression[]): Expression | null {
  const [first, ...others] = filters
  if (first === undefined) return null
  return others.reduce(
    (left, right): Expression => ({ type: 'binary', operator: 'and', left, right, span: right.span }),
    first,
  )
}
