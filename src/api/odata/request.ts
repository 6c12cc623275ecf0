import { Fault } from '../../errors/errors.ts'
import { percentDecoded } from '../../language/odata/decode.ts'
import { ODATA_ERROR } from '../../language/odata/faults.ts'
import { parsePath } from '../../language/odata/path.ts'
import type { ServicePlace, Version } from './format/shape.ts'
import { type DocumentKind, formatAnyway, negotiateFormat, type ODataFormat } from './negotiate.ts'
import {
  checkSchemaVersion,
  type RawOptions,
  readAliases,
  readOptions,
  refuseOthers,
  type SystemOption,
} from './options.ts'
import { type Preferences, type RequestHeaders, readPreferences, readVersions } from './protocol-version.ts'
import { isOwnType, type Resource, resourceAt, unknownSegment } from './resource.ts'
import type { ServedSet, ServedSets } from './sets.ts'

/** A request before its query is parsed: the addressed resource and the format of the answer. */
export interface ODataRequest {
  /** Verbatim path and query, below the root of the service. */
  readonly below: string
  readonly place: ServicePlace
  readonly options: RawOptions
  readonly resource: Exclude<Resource, { type: 'named' }>
  readonly format: ODataFormat
  readonly preferences: Preferences
}

/** The context in which a request is parsed. */
export interface RequestContext {
  readonly place: ServicePlace
  readonly sets: ServedSets
  /** Resolves a name that is not the id of a set. Faults: those of a dataset with this id that is hidden or not published yet. */
  readonly missing: (name: string) => ServedSet | undefined
}

/** Splits a request below the root of the service into path and query. */
export function split(below: string): { readonly path: string; readonly query: string } {
  const text = below.split('#')[0] ?? ''
  const at = text.indexOf('?')
  return at < 0 ? { path: text, query: '' } : { path: text.slice(0, at), query: text.slice(at + 1) }
}

/**
 * Parses a request. Faults: ODataError for syntax errors and for what is not allowed in its place, ODataSegment for unknown
 * segments, ODataUnsupported, NotAcceptable and UnsupportedMediaType.
 */
export function readRequest(below: string, headers: RequestHeaders, context: RequestContext): ODataRequest {
  const { path, query } = split(below)
  const options = readOptions(query)
  const wish = readVersions(headers)
  const found = resourceOf(path, options, context, wish ?? '4.0')
  const resource = found.type === 'named' ? namedEntity(found, options, context) : found
  const named = options.system.get('format')
  const kind = kindOf(resource)
  const format =
    kind === 'fixed'
      ? fixedFormat(headers, named, resource)
      : negotiateFormat(wish, headers.accept, named, kind)
  refuseOthers(options, [...ALLOWED[found.type], 'schemaversion'], unservedOptions(found), NAMES[found.type])
  checkSchemaVersion(options)
  const { place } = context
  return { below, place, options, resource, format, preferences: readPreferences(headers) }
}

function resourceOf(
  path: string,
  options: RawOptions,
  { sets, missing }: RequestContext,
  version: Version,
): Resource {
  return resourceAt(parsePath(path), {
    set: name => {
      const known = sets.byName.get(name)
      return known?.entry.dataset.id === name ? known : (missing(name) ?? known)
    },
    alias: name => {
      const value = readAliases(options).get(name)
      return value?.type === 'literal' && typeof value.value === 'string' ? value.value : undefined
    },
    version,
  })
}

/** The entity that `$id` identifies, by its address or the part below the root (OData 4.0 Protocol 11.2.8). */
function namedEntity(
  { cast }: Extract<Resource, { type: 'named' }>,
  options: RawOptions,
  context: RequestContext,
): Extract<Resource, { type: 'entity' | 'reference' }> {
  const raw = options.system.get('id')
  if (raw === undefined) throw new Fault(ODATA_ERROR, { reason: '$entity needs the option $id.' })
  const id = percentDecoded(raw, '$id')
  const { root } = context.place
  const start = [root, new URL(root).pathname].find(known => id.startsWith(`${known}/`)) ?? ''
  const resource = resourceOf(id.slice(start.length), options, context, '4.0')
  if (resource.type === 'entity' && cast !== null && !isOwnType(cast, resource.of)) throw unknownSegment(cast)
  if (resource.type === 'entity') return resource
  throw new Fault(ODATA_ERROR, { reason: `$id: ${id.slice(0, 100)} is no address of an entity.` })
}

/** The format of raw text, and of documents whose address determines it, regardless of the Accept header. */
function fixedFormat(
  headers: RequestHeaders,
  named: string | undefined,
  resource: ODataRequest['resource'],
): ODataFormat {
  const contentType =
    resource.type === 'vocabulary' ? `application/${resource.format}` : 'text/plain;charset=utf-8'
  return { ...formatAnyway(headers, named), contentType }
}

function kindOf({ type }: ODataRequest['resource']): DocumentKind | 'fixed' {
  switch (type) {
    case 'service':
    case 'metadata':
    case 'entity':
    case 'property':
      return type
    case 'reference':
      return 'property'
    case 'feed':
    case 'feedReferences':
      return 'feed'
    case 'vocabulary':
    case 'count':
    case 'value':
    case 'valueCount':
      return 'fixed'
  }
}

const PAGING: readonly SystemOption[] = [
  'filter',
  'search',
  'orderby',
  'top',
  'skip',
  'count',
  'inlinecount',
  'skiptoken',
]

/** The options that a resource accepts in addition to `$schemaversion`. */
const ALLOWED: Readonly<Record<Resource['type'], readonly SystemOption[]>> = {
  service: ['format'],
  metadata: ['format'],
  vocabulary: [],
  named: ['id', 'select', 'compute', 'expand', 'format'],
  feed: [...PAGING, 'select', 'compute', 'apply', 'expand', 'format'],
  count: ['filter', 'search', 'compute', 'apply'],
  feedReferences: [...PAGING, 'compute', 'format'],
  entity: ['select', 'compute', 'expand', 'format'],
  reference: ['format'],
  property: ['select', 'expand', 'format'],
  value: ['format'],
  valueCount: [],
}

/** Options that OData defines for a resource and this service does not support: those of directly addressed collections. */
function unservedOptions(resource: Resource): readonly SystemOption[] {
  if (resource.type !== 'property' && resource.type !== 'valueCount') return []
  if (!resource.property.collection) return resource.type === 'property' ? ['compute'] : []
  return resource.type === 'property' ? PAGING : ['filter', 'search']
}

const NAMES: Readonly<Record<Resource['type'], string>> = {
  service: 'the service document',
  metadata: 'the metadata document',
  vocabulary: 'a vocabulary',
  named: 'one entity',
  feed: 'an entity set',
  count: 'a count',
  feedReferences: 'references',
  entity: 'one entity',
  reference: 'a reference',
  property: 'a property',
  value: 'a value',
  valueCount: 'a count',
}
