import { Fault } from '../../errors/errors.ts'
import { ODATA_ERROR, ODATA_SEGMENT } from '../../language/odata/faults.ts'
import type { EdmValue, EntityColumn } from '../../model/edm.ts'
import type { ODataClauses } from '../../query/odata/resolve.ts'
import { entityContext, feedContext, nextLink, propertyContext } from './format/links.ts'
import { type ODataAnswer, rawText, setSheet } from './format/shape.ts'
import { asText, writeAnswer } from './format/write.ts'
import {
  checkExpand,
  countOption,
  type RawOptions,
  readODataClauses,
  readSelect,
  readWindow,
  type Window,
} from './options.ts'
import { type ODataExecution, queryEntities, queryEntity } from './query-entities.ts'
import type { ODataRequest } from './request.ts'
import type { Entity, PropertyResource, RecordResource } from './resource.ts'

/**
 * The body of an answer with records; null for a property that is null, which has no body (OData 4.0 Protocol 11.2.3).
 * Faults: those of the options, ODataSegment for an entity or a single value that does not exist, those of the store.
 */
export async function answerText(
  resource: RecordResource,
  request: ODataRequest,
  execution: ODataExecution,
): Promise<string | null> {
  switch (resource.type) {
    case 'feed':
    case 'feedReferences':
      return write(await feed(resource, request, execution), request, execution)
    case 'count': {
      const { of } = resource
      const clauses = parsed(execution, () =>
        readODataClauses(request.options, of.filters, { limit: 0, offset: 0 }),
      )
      return String((await queryEntities(of, clauses, execution)).total)
    }
    case 'entity':
      return write(await entity(resource.of, request, execution), request, execution)
    case 'reference': {
      const { of } = resource
      await oneOf(of, { ...NOTHING, select: [selected('recordid')] }, execution)
      const references = { type: 'one', set: of.model.set, id: of.id } as const
      return write({ type: 'references', references }, request, execution)
    }
    case 'property':
    case 'value':
    case 'valueCount':
      return property(resource, request, execution)
  }
}

function write(answer: ODataAnswer, request: ODataRequest, { executor }: ODataExecution): string {
  const payloadFormat = { ...request.format, omitNulls: request.preferences.omitNulls }
  return executor.watch.time('present', () => writeAnswer(answer, payloadFormat, request.place))
}

async function feed(
  { type, of }: Extract<RecordResource, { type: 'feed' | 'feedReferences' }>,
  { below, options, format, preferences, place }: ODataRequest,
  execution: ODataExecution,
): Promise<ODataAnswer> {
  const { model, entry, updated } = of
  const window = readWindow(options, preferences.pageSize)
  const clauses = parsed(execution, () => readODataClauses(options, of.filters, window))
  const isCounted = countOption(options, format.version)
  const { columns, selected, rows, total } = await queryEntities(of, clauses, execution)
  const count = isCounted ? total : null
  const next = isLast(window, rows.length, total)
    ? null
    : nextLink(place, below, window.passed + rows.length, entry.version)
  if (type === 'feedReferences') {
    const ids = rows.flatMap(({ id }) => id ?? [])
    return { type: 'references', references: { type: 'page', set: model.set, ids, count, next } }
  }
  const { title } = setSheet(model, entry.dataset.metas, updated)
  const context = feedContext(model.set, selected, format.version)
  return { type: 'feed', feed: { model, columns, context, updated, title, rows, count, next } }
}

/** True if a page of this number of rows is the last: all entities, or as many as `$top` requests, are passed. */
function isLast({ passed, offset, top }: Window, rows: number, total: number): boolean {
  return rows === 0 || offset + rows >= total || (top !== null && passed + rows >= top)
}

async function entity(
  of: Entity,
  { options, format }: ODataRequest,
  execution: ODataExecution,
): Promise<ODataAnswer> {
  const { model, updated } = of
  const clauses = parsed(execution, () => readODataClauses(options, [], ONE))
  const { columns, selected, row } = await oneOf(of, clauses, execution)
  const context = entityContext(model.set, selected, format.version)
  return { type: 'entity', entity: { model, columns, context, updated, row } }
}

/** The value of a property or of a part of it: the value itself, its raw text, or its number of values. */
async function property(
  { type, of, property: { name, type: edmType }, member }: PropertyResource,
  request: ODataRequest,
  execution: ODataExecution,
): Promise<string | null> {
  const { format, options, place } = request
  checkExpand(options)
  const parts = readParts(options, name, edmType === 'Ods.GeoPoint2D' && member === null)
  const found = await oneOf(of, { ...NOTHING, select: parts.map(part => selected(name, ...part)) }, execution)
  const index = found.columns.findIndex(column => column.name === name)
  const whole = found.columns[index]
  if (whole === undefined) throw new Fault(ODATA_SEGMENT, { segment: name })
  const part = { type: 'Edm.Double', collection: false, members: null, dynamic: false } as const
  const column: EntityColumn = member === null ? whole : { name: member, ...part }
  const value = partOf(found.row.values[index] ?? null, member)
  if (type === 'valueCount') return String(Array.isArray(value) ? value.length : 0)
  if (value === null) return null
  if (type === 'value') return rawText(asText(value), column, format.version) ?? ''
  const path = member === null ? [name] : [name, member]
  const { set } = of.model
  const context = propertyContext(set, of.id, path, column, format.version, place)
  return write({ type: 'property', property: { column, value, context } }, request, execution)
}

/** The parts of a complex property that `$select` requests: paths below it; an empty path selects all. */
function readParts(options: RawOptions, name: string, isComplex: boolean): readonly (readonly string[])[] {
  if (!options.system.has('select')) return [[]]
  if (!isComplex) throw new Fault(ODATA_ERROR, { reason: `$select: ${name} has no properties.` })
  return readSelect(options).map(({ path }) => (path[0] === '*' ? [] : path))
}

function partOf(value: EdmValue, member: 'latitude' | 'longitude' | null): EdmValue {
  if (member === null) return value
  return value !== null && typeof value === 'object' && 'latitude' in value ? value[member] : null
}

async function oneOf(of: Entity, clauses: ODataClauses, execution: ODataExecution) {
  const found = await queryEntity(of, of.id, clauses, execution)
  if (found === null) throw new Fault(ODATA_SEGMENT, { segment: of.segment })
  return found
}

const ONE = { limit: 1, offset: 0 }

const NOTHING: ODataClauses = {
  within: [],
  filter: null,
  search: null,
  orderBy: [],
  select: [],
  compute: [],
  apply: [],
  aliases: new Map(),
  top: 1,
  skip: 0,
}

function selected(...path: readonly string[]) {
  return { path, options: [], span: { from: 0, to: 0 } }
}

function parsed(execution: ODataExecution, read: () => ODataClauses): ODataClauses {
  return execution.executor.watch.time('parse', read)
}
