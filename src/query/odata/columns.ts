import type { ComputeItem, SelectItem } from '../../language/odata/ast.ts'
import { type EdmValue, type EntityColumn, type EntityModel, KEY } from '../../model/edm.ts'
import { refuseLarge } from '../conditions.ts'
import { technicalName } from '../find-field.ts'
import type { Scalar, SelectedColumn } from '../plan.ts'
import { edmValue } from './computed.ts'
import { typedExpressionOf } from './expression.ts'
import { type Elements, elementsOf } from './order.ts'
import type { RowStep } from './rows.ts'
import { type Scope, unknownProperty, unserved, wrong } from './scope.ts'
import {
  isValue,
  KIND_TYPES,
  type PrimitiveKind,
  scalarOf,
  startOf,
  type TypedExpression,
} from './typed-expression.ts'

/** Where the values of a column come from. */
export type ColumnSource =
  | { readonly type: 'id' }
  | { readonly type: 'timestamp' }
  /** The value of a record, by the index of its field in the dataset. */
  | { readonly type: 'field'; readonly index: number }
  /** The values of a multivalued field after some steps, or their number. */
  | {
      readonly type: 'elements' | 'elementCount'
      readonly index: number
      readonly steps: readonly RowStep[]
    }
  /** A value of the store, by its index in the selection of the plan. */
  | {
      readonly type: 'computed'
      readonly index: number
      readonly kind: PrimitiveKind
      readonly epoch: boolean
    }
  | { readonly type: 'constant'; readonly value: EdmValue }

/** A property of the entities of an answer. */
export type SourcedColumn = EntityColumn & { readonly source: ColumnSource }

/** Computed properties. */
const MAX_COMPUTED = 20

/** Adds computed properties to the known ones; each can be used by those after it. */
export function computeNames(
  items: readonly ComputeItem[],
  scope: Scope,
): ReadonlyMap<string, TypedExpression> {
  const names = new Map(scope.names)
  const beyond = items[MAX_COMPUTED]
  if (beyond !== undefined) throw wrong(scope, `At most ${MAX_COMPUTED} properties are computed`, beyond.span)
  for (const { expression, name, span } of items) {
    if (names.has(name)) throw wrong(scope, `There is a property ${name.slice(0, 60)} already`, span)
    const typed = typedExpressionOf(expression, { ...scope, names })
    if (typed.type !== 'null' && !isValue(typed))
      throw unserved(scope, `${startOf(expression, typed)} as a computed property`, span)
    if (typed.type === 'constant' && typed.kind === 'geography')
      throw unserved(scope, 'A geography as a computed property', span)
    names.set(name, typed)
  }
  return names
}

/** The columns of an answer, the values that the store computes for them, and the names in its context URL; null for all. */
export interface Columns {
  readonly columns: readonly SourcedColumn[]
  readonly select: readonly SelectedColumn[]
  readonly selected: readonly string[] | null
}

/**
 * Returns the properties of an answer (Protocol 11.2.5.1): the selected ones, or all including computed ones. The key is always
 * present, first.
 *
 * @param computed names of computed properties
 */
export function resolveColumns(
  items: readonly SelectItem[],
  computed: readonly string[],
  model: EntityModel,
  scope: Scope,
): Columns {
  const chosen = new Map<string, Members>()
  const parts = new Map<string, Elements>()
  const described: string[] = []
  const choose = (name: string, members: Members) => chosen.set(name, joined(chosen.get(name), members))
  const declared = model.properties.map(({ name }) => name)
  for (const item of items) {
    const found = selectionOf(item, scope)
    if (found === null) continue
    if (parts.has(found.name) || (found.elements !== null && chosen.has(found.name)))
      throw wrong(scope, `${found.name.slice(0, 60)} is selected twice`, item.span)
    if (found.elements !== null) parts.set(found.name, found.elements)
    if (found.name === '*') for (const name of [...declared, ...computed]) choose(name, null)
    else choose(found.name, found.members)
    const paths = found.members === null ? [found.name] : found.members.map(part => `${found.name}/${part}`)
    for (const path of paths) if (!described.includes(path)) described.push(path)
  }
  if (chosen.size === 0) for (const name of [...declared, ...computed]) choose(name, null)
  chosen.delete(KEY)
  const select: SelectedColumn[] = []
  const columns = [KEY, ...[...declared, ...computed].filter(name => chosen.has(name))].flatMap(name => {
    const column = columnOf(name, chosen.get(name) ?? null, model, scope, select)
    const elements = parts.get(name)
    return elements === undefined ? [column] : partsOf(column, elements)
  })
  const isAll = described.length === 0 || (described.length === 1 && described[0] === '*')
  return { columns, select, selected: isAll ? null : described }
}

type Members = readonly ('latitude' | 'longitude')[] | null

function joined(known: Members | undefined, members: Members): Members {
  if (known === undefined) return members
  return known === null || members === null ? null : [...new Set([...known, ...members])]
}

/** What one item selects; null for an action or function, of which there are none. */
export function selectionOf(
  { path, options, span }: SelectItem,
  scope: Scope,
): { readonly name: string; readonly members: Members; readonly elements: Elements | null } | null {
  const [name = '', ...parts] = path
  const annotation = path.find(part => part.startsWith('@'))
  if (annotation !== undefined) throw unserved(scope, `The annotation ${annotation.slice(0, 60)}`, span)
  if (name !== '*' && name.includes('.')) {
    if (name === scope.request.entity && parts.length > 0)
      return selectionOf({ path: parts, options, span }, scope)
    // A property with a dot instead of a slash is no action.
    if (parts.length > 0 || scope.names.has(name.split('.')[0] ?? ''))
      throw unknownProperty(scope, path.join('/'), span)
    return null
  }
  const typed = name === '*' ? NOT_COMPLEX : scope.names.get(name)
  if (typed === undefined) throw unknownProperty(scope, name, span)
  const isPoint = typed.type === 'place' && typed.field.type === 'geo_point_2d'
  if (typed.type === 'collection' && options.length > 0 && parts.length === 0)
    return { name, members: null, elements: elementsOf(options, scope) }
  const nested = options.flatMap(option => {
    if (!isPoint || !/^\$?select$/i.test(option.name))
      throw unserved(
        scope,
        `The option ${option.name.slice(0, 40)} of a property that is selected`,
        option.span,
      )
    return option.text.split(',').map(part => part.trim())
  })
  const members = [...parts, ...nested]
  if (parts.length > 1 || (parts.length > 0 && options.length > 0))
    throw noMember(name, members.join('/'), scope, span)
  if (members.length === 0 || members.includes('*')) return { name, members: null, elements: null }
  return {
    name,
    elements: null,
    members: members.map(part => {
      if (isPoint && (part === 'latitude' || part === 'longitude')) return part
      throw noMember(name, part, scope, span)
    }),
  }
}

const NOT_COMPLEX: TypedExpression = { type: 'null' }

function noMember(name: string, part: string, scope: Scope, span: SelectItem['span']) {
  return wrong(scope, `${name.slice(0, 60)} has no ${part.slice(0, 60)}`, span)
}

function columnOf(
  name: string,
  members: Members,
  { properties }: EntityModel,
  scope: Scope,
  select: SelectedColumn[],
): SourcedColumn {
  const index = properties.findIndex(property => property.name === name)
  const property = properties[index]
  if (property !== undefined) {
    const { type, collection, field } = property
    const technical = technicalName(field)
    const source: ColumnSource =
      technical === 'recordid'
        ? { type: 'id' }
        : technical === 'record_timestamp'
          ? { type: 'timestamp' }
          : { type: 'field', index: index - TECHNICAL_PROPERTIES }
    return { name, type, collection, members, dynamic: false, source }
  }
  const typed = scope.names.get(name) ?? { type: 'null' }
  const kind = typed.type === 'test' ? 'boolean' : isValue(typed) ? typed.kind : 'string'
  const source = computedSource(name, typed, kind, properties, select)
  return { name, type: KIND_TYPES[kind], collection: false, members: null, dynamic: true, source }
}

/** The column of a collection as requested, preceded by that of its count. */
function partsOf(column: SourcedColumn, { filter, page, counted }: Elements): readonly SourcedColumn[] {
  if (column.source.type !== 'field') return [column]
  const { index } = column.source
  const part: SourcedColumn = { ...column, source: { type: 'elements', index, steps: [...filter, ...page] } }
  const count: SourcedColumn = {
    ...column,
    type: 'Edm.Int64',
    collection: false,
    annotation: 'count',
    source: { type: 'elementCount', index, steps: filter },
  }
  return counted ? [count, part] : [part]
}

/** `recordid` and `record_timestamp` come before the fields of the dataset. */
const TECHNICAL_PROPERTIES = 2

function computedSource(
  key: string,
  typed: TypedExpression,
  kind: PrimitiveKind,
  properties: EntityModel['properties'],
  select: SelectedColumn[],
): ColumnSource {
  if (!isValue(typed)) return { type: 'constant', value: null }
  if (typed.type === 'constant') return { type: 'constant', value: edmValue(kind, false, typed.value) }
  const value: Scalar = scalarOf(typed)
  refuseLarge(value)
  if (value.type === 'field') {
    const technical = technicalName(value.field)
    if (technical === 'recordid') return { type: 'id' }
    if (technical === 'record_timestamp') return { type: 'timestamp' }
    const index = properties.findIndex(({ field }) => field === value.field)
    if (index >= TECHNICAL_PROPERTIES) return { type: 'field', index: index - TECHNICAL_PROPERTIES }
  }
  select.push({ key, value })
  return {
    type: 'computed',
    index: select.length - 1,
    kind,
    epoch: typed.type === 'value' && typed.epoch,
  }
}
