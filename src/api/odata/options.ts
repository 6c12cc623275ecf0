import { Fault } from '../../errors/errors.ts'
import type { Expression, SelectItem } from '../../language/odata/ast.ts'
import { decodeLiterally, decodeOption, decodeSearch, percentDecoded } from '../../language/odata/decode.ts'
import { ODATA_ERROR, ODATA_SEGMENT, ODATA_UNSUPPORTED } from '../../language/odata/faults.ts'
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
import type { Version } from './format/shape.ts'

/** The system query options that the service knows, without their `$` (URL Conventions, section 5). */
const SYSTEM = [
  'filter',
  'search',
  'orderby',
  'select',
  'top',
  'skip',
  'count',
  'inlinecount',
  'skiptoken',
  'compute',
  'apply',
  'expand',
  'format',
  'schemaversion',
  'id',
  'levels',
  'index',
  'deltatoken',
] as const

export type SystemOption = (typeof SYSTEM)[number]

/** Names that are options only with their `$`: without it they may be custom options. */
const WITH_DOLLAR_ONLY: readonly SystemOption[] = ['id', 'levels', 'index', 'deltatoken', 'inlinecount']

/** Maximum number of options of one request, of any kind. */
const MAX_OPTIONS = 200

/** The options of a request, with their values still encoded. */
export interface RawOptions {
  readonly system: ReadonlyMap<SystemOption, string>
  /** Parameter aliases by their names with @. */
  readonly aliases: ReadonlyMap<string, string>
}

/**
 * Reads a query string: split at `&` before decoding, names with or without `$`, encoded or not, in any case (URL Conventions
 * 4.01, section 5). Custom options are ignored.
 *
 * Faults: ODataError for a repeated option, or an unknown one that begins with `$`; ODataUnsupported for those that only
 * services with changes or ordered collections have.
 *
 * @param query without its question mark
 */
export function readOptions(query: string): RawOptions {
  const system = new Map<SystemOption, string>()
  const aliases = new Map<string, string>()
  const parts = query === '' ? [] : query.split('&')
  if (parts.length > MAX_OPTIONS)
    throw new Fault(ODATA_ERROR, { reason: `At most ${MAX_OPTIONS} options are read.` })
  for (const part of parts) {
    const { name, value } = partOf(part)
    if (name.startsWith('@')) addOnce(aliases, aliasNamed(name), name, value)
    else {
      const option = systemOption(name)
      if (option !== null) addOnce(system, option, name, value)
    }
  }
  return { system, aliases }
}

/** The normalised name of an option, for callers that copy options: `$skiptoken` in any spelling is `skiptoken`. */
export function optionNamed(part: string): string {
  const { name } = partOf(part)
  return name.toLowerCase().replace(/^\$/, '')
}

function partOf(part: string): { readonly name: string; readonly value: string | null } {
  const at = part.indexOf('=')
  const name = percentDecoded(at < 0 ? part : part.slice(0, at), 'query')
  return { name: name.replaceAll('+', ' ').trim(), value: at < 0 ? null : part.slice(at + 1) }
}

function addOnce<Key>(options: Map<Key, string>, key: Key, name: string, value: string | null): void {
  const described = name.slice(0, 60)
  if (options.has(key))
    throw new Fault(ODATA_ERROR, { reason: `The option ${described} must not be there twice.` })
  if (value === null)
    throw new Fault(ODATA_ERROR, { reason: `The option ${described} has no value: expected ${described}=.` })
  options.set(key, value)
}

function aliasNamed(name: string): string {
  if (/^@[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]{0,127}$/u.test(name)) return name
  throw new Fault(ODATA_ERROR, { reason: `${name.slice(0, 60)} is no name of a parameter alias.` })
}

/** null for a custom option. */
function systemOption(name: string): SystemOption | null {
  const isMarked = name.startsWith('$')
  const plain = name.toLowerCase().slice(isMarked ? 1 : 0)
  const known = SYSTEM.find(option => option === plain)
  if (known === undefined || (!isMarked && WITH_DOLLAR_ONLY.includes(known))) {
    if (!isMarked) return null
    throw new Fault(ODATA_ERROR, { reason: `There is no option ${name.slice(0, 60)}.` })
  }
  if (known === 'levels')
    throw new Fault(ODATA_ERROR, { reason: '$levels belongs into $expand, and there is nothing to expand.' })
  if (known === 'index' || known === 'deltatoken')
    throw new Fault(ODATA_UNSUPPORTED, { reason: `The option $${known} is not supported.` })
  return known
}

/**
 * Refuses options that do not apply to the addressed resource (OData 4.0 Protocol 11.2): ODataUnsupported for those that
 * OData permits there, ODataError for others.
 */
export function refuseOthers(
  { system }: RawOptions,
  allowed: readonly SystemOption[],
  unserved: readonly SystemOption[],
  addressed: string,
): void {
  for (const name of system.keys()) {
    if (allowed.includes(name)) continue
    if (unserved.includes(name))
      throw new Fault(ODATA_UNSUPPORTED, { reason: `The option $${name} on ${addressed} is not supported.` })
    throw new Fault(ODATA_ERROR, { reason: `The option $${name} cannot be used on ${addressed}.` })
  }
}

/** A non-negative integer; null if the option is absent. */
export function numberOption({ system }: RawOptions, name: SystemOption): number | null {
  const raw = system.get(name)
  if (raw === undefined) return null
  const text = percentDecoded(raw, `$${name}`)
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(number)) return number
  throw expected(name, text, 'a whole number that is not negative')
}

/** Whether all matching entities are to be counted: `$count`, or `$inlinecount` of 3.0. */
export function countOption({ system }: RawOptions, version: Version): boolean {
  const count = wordOption(system, 'count', ['true', 'false'])
  const inline = wordOption(system, 'inlinecount', ['allpages', 'none'])
  if (inline !== null && version === '4.0')
    throw new Fault(ODATA_ERROR, { reason: '$inlinecount is an option of OData 3.0: use $count=true.' })
  return count === 'true' || inline === 'allpages'
}

/** Refuses any other version of the schema than the current one (OData 4.01 Protocol 11.2.12). */
export function checkSchemaVersion({ system }: RawOptions): void {
  const raw = system.get('schemaversion')
  if (raw === undefined) return
  const text = percentDecoded(raw, '$schemaversion')
  if (text === '*') return
  if (text === '') throw expected('schemaversion', text, '*')
  throw new Fault(ODATA_SEGMENT, { segment: `$schemaversion=${text.slice(0, 60)}` })
}

function wordOption<Word extends string>(
  system: RawOptions['system'],
  name: SystemOption,
  words: readonly Word[],
): Word | null {
  const raw = system.get(name)
  if (raw === undefined) return null
  const text = decodeOption(raw, `$${name}`).trim().toLowerCase()
  const word = words.find(known => known === text)
  if (word !== undefined) return word
  throw expected(name, text, words.join(' or '))
}

function expected(name: SystemOption, found: string, what: string): Fault {
  const shown = found === '' ? 'nothing' : found.slice(0, 60)
  return new Fault(ODATA_ERROR, { reason: `$${name}: ${shown} was found but ${what} is expected.` })
}

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
 * @param within the expressions of `$filter(…)` segments
 */
export function readODataClauses(
  options: RawOptions,
  within: readonly Expression[],
  { limit, offset }: Pick<Window, 'limit' | 'offset'>,
): ODataClauses {
  checkExpand(options)
  const search = options.system.get('search')
  return {
    within,
    filter: read(options, 'filter', parseFilter),
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
