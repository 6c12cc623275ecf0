import type {
  ComputeItem,
  Expression,
  OrderItem,
  SearchExpression,
  SelectItem,
  Transformation,
} from '../../language/odata/ast.ts'
import type { EntityModel } from '../../model/edm.ts'
import { canonicalMoment } from '../../model/time.ts'
import { conjunctionOrNull, refuseExcessOfOData } from '../conditions.ts'
import type { GroupQuery, RecordQuery } from '../plan.ts'
import { applyAll, type RecordStage, settled } from './apply.ts'
import { computeRows, type RowPart, type RowStage, rowScope } from './apply-rows.ts'
import { computeNames, resolveColumns, type SourcedColumn, selectionOf } from './columns.ts'
import { conditionOf } from './expression.ts'
import { orderings, orderRows, searchCondition } from './order.ts'
import { MAX_GROUPS, type RowColumn, type RowStep, type RowsPart, type RowsPlan } from './rows.ts'
import { type Scope, type ScopeRequest, unserved } from './scope.ts'
import { KIND_TYPES, typedField } from './typed-expression.ts'

/** The parsed options of a request for the entities of a set. */
export interface ODataClauses {
  /** What `$filter(…)` segments of the path require: before all options (URL Conventions 4.01, 4.12). */
  readonly within: readonly Expression[]
  readonly filter: Expression | null
  readonly search: SearchExpression | null
  readonly orderBy: readonly OrderItem[]
  readonly select: readonly SelectItem[]
  readonly compute: readonly ComputeItem[]
  readonly apply: readonly Transformation[]
  /** Parameter aliases, with or without their @. */
  readonly aliases: ReadonlyMap<string, Expression>
  /** null for all. */
  readonly top: number | null
  readonly skip: number
}

/** The entities that the options apply to. */
export interface ODataContext {
  readonly model: EntityModel
  /** The value of `now()`: ISO 8601 in UTC. */
  readonly now: string
  readonly version: '2.0' | '3.0' | '4.0'
}

/** A query for entities, and the sources of the values of their properties. */
export interface EntitiesPlan {
  readonly type: 'entities'
  readonly query: RecordQuery
  /** Queries that restrict the records, each applied to the result of the one before; none for all records. */
  readonly cuts: readonly RecordQuery[]
  /** The key first. */
  readonly columns: readonly SourcedColumn[]
  /** The properties that the context URL of the answer names, in the order of the request; null for all. */
  readonly selected: readonly string[] | null
  /** The subset of the filtered records that `$apply` selects, before `$skip` and `$top`: a count covers exactly these. */
  readonly within: { readonly skip: number; readonly top: number | null }
}

export type ODataPlan = EntitiesPlan | RowsPlan

/**
 * Returns the plan of a request: a query for entities, or for groups with steps over their rows where `$apply` aggregates.
 * Faults: ODataError for what does not fit the types of the entities, with its position in the option; ODataUnsupported for what
 * is not supported.
 */
export function resolveOData(clauses: ODataClauses, context: ODataContext): ODataPlan {
  const { model } = context
  const request: ScopeRequest = {
    now: canonicalMoment(context.now) ?? context.now,
    version: context.version,
    set: model.set,
    entity: `${model.namespace}.${model.type}`,
    aliases: clauses.aliases,
    visits: 0,
    elements: 0,
  }
  const names = new Map(model.properties.map(({ name, field }) => [name, typedField(field)]))
  const scope: Scope = { request, option: '$apply', names, variables: new Map(), rows: false, depth: 0 }
  const start: RecordStage = {
    type: 'records',
    names,
    conditions: clauses.within.map(expression => conditionOf(expression, { ...scope, option: '$filter' })),
    orderBy: [],
    skip: 0,
    top: null,
    cuts: [],
  }
  const stage = applyAll(clauses.apply, start, scope)
  return stage.type === 'records'
    ? entitiesPlan(clauses, stage, model, scope)
    : rowsPlan(clauses, stage, model, scope)
}

function entitiesPlan(
  clauses: ODataClauses,
  applied: RecordStage,
  { properties, ...model }: EntityModel,
  outer: Scope,
): EntitiesPlan {
  const [item] = clauses.orderBy
  const late = clauses.filter?.span ?? clauses.search?.span ?? item?.span
  const stage = late === undefined ? applied : settled(applied, late, outer)
  const names = computeNames(clauses.compute, { ...outer, names: stage.names, option: '$compute' })
  const scope = { ...outer, names }
  const filter = conjunctionOrNull([
    ...stage.conditions,
    clauses.search === null ? null : searchCondition(clauses.search, { ...scope, option: '$search' }),
    clauses.filter === null ? null : conditionOf(clauses.filter, { ...scope, option: '$filter' }),
  ])
  refuseExcessOfOData(filter)
  const orderBy = [...orderings(clauses.orderBy, { ...scope, option: '$orderby' }), ...stage.orderBy]
  const declared = new Set(properties.map(({ name }) => name))
  const { columns, select, selected } = resolveColumns(
    clauses.select,
    [...names.keys()].filter(name => !declared.has(name)),
    { ...model, properties },
    { ...scope, option: '$select' },
  )
  const { skip, top } = stage
  const rest = top === null ? null : Math.max(0, top - clauses.skip)
  const limit = rest === null || clauses.top === null ? (rest ?? clauses.top) : Math.min(rest, clauses.top)
  const query: RecordQuery = {
    type: 'records',
    filter,
    timezone: 'UTC',
    select,
    orderBy,
    limit,
    offset: skip + clauses.skip,
  }
  return { type: 'entities', query, cuts: stage.cuts, columns, selected, within: { skip, top } }
}

function rowsPlan(clauses: ODataClauses, stage: RowStage, model: EntityModel, outer: Scope): RowsPlan {
  const option = (name: string, rows: RowStage): Scope => ({ ...rowScope(rows, outer), option: name })
  if (clauses.search !== null)
    throw unserved({ ...outer, option: '$search' }, 'A search after an aggregation', clauses.search.span)
  const applied =
    clauses.compute.length === 0 ? stage : computeRows(clauses.compute, stage, option('$compute', stage))
  const steps: readonly RowStep[] = [
    ...applied.steps,
    ...(clauses.filter === null
      ? []
      : [{ type: 'filter', condition: conditionOf(clauses.filter, option('$filter', applied)) } as const]),
    ...(clauses.orderBy.length === 0 ? [] : [orderRows(clauses.orderBy, option('$orderby', applied))]),
  ]
  const columns = rowColumns(applied, clauses.select, model, option('$select', applied))
  const partial = new Set(applied.cells.flatMap(cell => (cell.partial === true ? [cell.name] : [])))
  const selected = columns
    .flatMap(({ name, members }) => members?.map(part => `${name}/${part}`) ?? [name])
    .filter(name => !partial.has(name))
  return {
    type: 'rows',
    parts: stage.parts.map(partPlan),
    steps,
    window: { skip: clauses.skip, top: clauses.top },
    columns,
    selected,
  }
}

function partPlan({ conditions, cuts, keys, select, steps, cells }: RowPart): RowsPart {
  const filter = conjunctionOrNull(conditions)
  refuseExcessOfOData(filter)
  const query: GroupQuery = {
    type: 'groups',
    filter,
    timezone: 'UTC',
    keys,
    select,
    orderBy: [],
    limit: MAX_GROUPS + 1,
    offset: 0,
    nullGroups: true,
  }
  return { query, cuts, steps, cells }
}

/** The properties of rows: all, or the selected ones; the coordinates of one point are one property. */
function rowColumns(
  { cells }: RowStage,
  select: readonly SelectItem[],
  { properties }: EntityModel,
  scope: Scope,
): readonly RowColumn[] {
  const declared = new Map<string, string>(properties.map(({ name, type }) => [name, type]))
  const owners = new Map(scope.names)
  for (const { name } of cells) if (name.includes('/')) owners.set(ownerOf(name), { type: 'record' })
  const required = select.flatMap(item => {
    const path = item.path.join('/')
    if (scope.names.has(path) && item.options.length === 0) return [path]
    const found = selectionOf(item, { ...scope, names: owners })
    return found === null ? [] : [found.name]
  })
  const isChosen = (name: string) =>
    required.length === 0 ||
    required.includes('*') ||
    required.includes(name) ||
    required.includes(ownerOf(name))
  const columns = new Map<string, RowColumn>()
  cells.forEach(({ name, kind, epoch }, index) => {
    if (!isChosen(name)) return
    const cell = { index, kind, epoch }
    const [owner = '', part] = name.split('/')
    const known = columns.get(owner)
    if (part !== 'latitude' && part !== 'longitude')
      columns.set(name, {
        name,
        type: KIND_TYPES[kind],
        collection: false,
        members: null,
        dynamic: declared.get(name) !== KIND_TYPES[kind],
        cells: [cell],
      })
    else
      columns.set(owner, {
        name: owner,
        type: 'Ods.GeoPoint2D',
        collection: false,
        members: [...(known?.members ?? []), part],
        dynamic: false,
        cells: [...(known?.cells ?? []), cell],
      })
  })
  return [...columns.values()]
}

function ownerOf(path: string): string {
  return path.split('/')[0] ?? path
}
