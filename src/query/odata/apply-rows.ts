import type { AggregateItem, Expression, Transformation } from '../../language/odata/ast.ts'
import { field } from '../../model/field.ts'
import { MAX_ROW_VALUES, refuseLarge } from '../conditions.ts'
import type { Condition, GroupKey, RecordQuery, RowSelection, Scalar } from '../plan.ts'
import { computeNames } from './columns.ts'
import { conditionOf, typedExpressionOf } from './expression.ts'
import { logicTest } from './logic.ts'
import { amountOf, orderRows } from './order.ts'
import type { RowAggregate, RowExtent, RowStep } from './rows.ts'
import { type Scope, unknownProperty, unserved, withinScope, wrong } from './scope.ts'
import {
  describeExpression,
  describeType,
  isNumericKind,
  isValue,
  KIND_FIELDS,
  NULL_SCALAR,
  type PrimitiveKind,
  perRecord,
  primitiveKindOf,
  scalarOf,
  startOf,
  type TypedExpression,
} from './typed-expression.ts'

/** Rows: how the store groups records, and the steps that follow on the groups. */
export interface RowStage {
  readonly type: 'rows'
  /** Parts whose rows are concatenated; the steps and cells of the stage apply to all of them. */
  readonly parts: readonly RowPart[]
  readonly steps: readonly RowStep[]
  readonly cells: readonly RowCell[]
}

/** How the store groups records, and how the resulting rows become rows of the stage. */
export interface RowPart {
  readonly conditions: readonly Condition[]
  /** Cuts of the records, as in a stage of records. */
  readonly cuts: readonly RecordQuery[]
  readonly keys: readonly GroupKey[]
  readonly select: readonly RowSelection[]
  readonly steps: readonly RowStep[]
  /** The index of each cell of the stage, null for a property that its rows lack; null where the indexes are the same. */
  readonly cells: readonly (number | null)[] | null
}

/** Steps that process one row at a time, and so have the same effect within a group and after all groups. */
export function rowByRow(steps: readonly Transformation[], scope: Scope): readonly Transformation[] {
  for (const step of steps)
    if (step.type !== 'filter' && step.type !== 'compute' && step.type !== 'identity')
      throw unserved(scope, `${aggregateName(step)} within groups`, step.span)
  return steps
}

/** Transformations in a sequence. */
const MAX_STEPS = 50

/** Refuses very long sequences of transformations. */
export function refuseMany(steps: readonly Transformation[], scope: Scope): void {
  const beyond = steps[MAX_STEPS]
  if (beyond !== undefined) throw wrong(scope, `At most ${MAX_STEPS} transformations are served`, beyond.span)
}

/** What names mean in rows: each cell is a field that is named by its index. */
export function rowScope({ cells }: RowStage, scope: Scope): Scope {
  const names = cells.map(({ name, kind, epoch }, index): readonly [string, TypedExpression] => {
    const type = epoch ? 'double' : KIND_FIELDS[kind]
    return [name, perRecord(kind, { type: 'field', field: field(String(index), type) }, epoch)]
  })
  return { ...scope, names: new Map(names), rows: true }
}

/** Applies transformations to rows (Data Aggregation 4.0, section 3). */
export function applyRows(steps: readonly Transformation[], start: RowStage, scope: Scope): RowStage {
  refuseMany(steps, scope)
  return steps.reduce((stage, step) => applyToRows(step, stage, scope), start)
}

function applyToRows(step: Transformation, stage: RowStage, outer: Scope): RowStage {
  const scope = rowScope(stage, withinScope(outer, { type: 'null', span: step.span }))
  const then = (next: RowStep, cells = stage.cells): RowStage => ({
    ...stage,
    steps: [...stage.steps, next],
    cells,
  })
  switch (step.type) {
    case 'identity':
      return stage
    case 'filter':
      return then({ type: 'filter', condition: conditionOf(step.expression, scope) })
    case 'compute':
      return computeRows(step.items, stage, scope)
    case 'orderby':
      return then(orderRows(step.items, scope))
    case 'top':
      return then({ type: 'window', skip: 0, top: step.count })
    case 'skip':
      return then({ type: 'window', skip: step.count, top: null })
    case 'topcount':
    case 'toppercent':
    case 'topsum':
    case 'bottomcount':
    case 'bottompercent':
    case 'bottomsum': {
      const descending = step.type.startsWith('top')
      const extent = step.type.slice(descending ? 3 : 6) as RowExtent
      const amount = amountOf(step.amount, extent, scope)
      return then({ type: 'extreme', extent, amount, by: aggregateNumber(step.by, scope), descending })
    }
    case 'aggregate':
      return groupRows([], step.items, stage, scope)
    case 'groupby': {
      const [first, ...rest] = step.then
      if (step.rollup) throw unserved(scope, 'rollup', step.span)
      if (first !== undefined && first.type !== 'aggregate')
        throw unserved(scope, `${aggregateName(first)} within groups of groups`, first.span)
      const places = step.keys.map(path => placeOf(path.join('/'), stage, scope, step.span))
      return rowByRow(rest, scope).reduce(
        (rows, next) => applyToRows(next, rows, outer),
        groupRows(places, first?.items ?? [], stage, scope),
      )
    }
    case 'concat':
      return concat(step, stage, { ...outer, depth: scope.depth })
    default:
      throw unserved(scope, `${aggregateName(step)} after an aggregation`, step.span)
  }
}

/** Adds computed cells to rows. */
export function computeRows(
  items: Extract<Transformation, { type: 'compute' }>['items'],
  stage: RowStage,
  scope: Scope,
): RowStage {
  const names = computeNames(items, scope)
  const added = items.map(({ name }) => {
    const typed = names.get(name)
    const value: Scalar = typed !== undefined && isValue(typed) ? checked(scalarOf(typed)) : NULL_SCALAR
    const isBoolean = typed === undefined || logicTest(typed) !== null
    const kind = isBoolean ? 'boolean' : (primitiveKindOf(typed) ?? 'string')
    return { name, kind, value, epoch: typed?.type === 'value' && typed.epoch }
  })
  return {
    ...stage,
    steps: [...stage.steps, { type: 'compute', values: added.map(({ value }) => value) }],
    cells: [...stage.cells, ...added.map(({ name, kind, epoch }) => ({ name, kind, epoch }))],
  }
}

function placeOf(name: string, stage: RowStage, scope: Scope, span: Transformation['span']): number {
  const place = stage.cells.findIndex(cell => cell.name === name)
  if (place < 0) throw unknownProperty(scope, name, span)
  return place
}

function groupRows(
  keys: readonly number[],
  items: readonly AggregateItem[],
  stage: RowStage,
  scope: Scope,
): RowStage {
  const groupCells = keys.flatMap(index => stage.cells[index] ?? [])
  const columns = aggregateColumns(items, groupCells, scope)
  return {
    ...stage,
    steps: [
      ...stage.steps,
      { type: 'group', keys, aggregates: columns.map(({ method, of, type }) => ({ method, of, type })) },
    ],
    cells: [...groupCells, ...columns].map(({ name, kind, epoch }) => ({ name, kind, epoch })),
  }
}

/** Rows of several sequences over the same rows; they have the properties of all of them. */
function concat(step: Concat, stage: RowStage, scope: Scope): RowStage {
  const stages = step.sequences.map(sequence => applyRows(sequence, { ...stage, steps: [] }, scope))
  const { cells, places } = sideBySide(stages, step, scope)
  const sequences = stages.map(({ steps }, index) => ({ steps, cells: places[index] ?? [] }))
  return { ...stage, steps: [...stage.steps, { type: 'concat', sequences }], cells }
}

type Concat = Extract<Transformation, { type: 'concat' }>

/** Groupings that are executed one after another. */
const MAX_PARTS = 5

/** Concatenates the rows of several groupings of the same records. */
export function joinedRows(stages: readonly RowStage[], step: Concat, scope: Scope): RowStage {
  if (stages.length > MAX_PARTS)
    throw unserved(scope, `concat of more than ${MAX_PARTS} sequences`, step.span)
  const { cells, places } = sideBySide(stages, step, scope)
  const parts = stages.map(({ parts: [part, ...others], steps }, index): RowPart => {
    if (part === undefined || others.length > 0) throw unserved(scope, 'concat within concat', step.span)
    return { ...part, steps, cells: places[index] ?? [] }
  })
  return { type: 'rows', parts, steps: [], cells }
}

/** The cells of all stages, each name once, and their indexes in each stage. */
function sideBySide(stages: readonly RowStage[], { span }: Concat, scope: Scope) {
  const known = new Map(stages.flatMap(applied => applied.cells.map(cell => [cell.name, cell] as const)))
  for (const applied of stages)
    for (const { name, kind, epoch } of applied.cells)
      if (kind !== known.get(name)?.kind || epoch !== known.get(name)?.epoch)
        throw wrong(scope, `${name.slice(0, 60)} has several types`, span)
  const isOfAll = (name: string) =>
    stages.every(({ cells }) => cells.some(cell => cell.name === name && cell.partial !== true))
  const cells = [...known.values()].map(cell => (isOfAll(cell.name) ? cell : { ...cell, partial: true }))
  const places = stages.map(applied =>
    cells.map(({ name }) => {
      const place = applied.cells.findIndex(cell => cell.name === name)
      return place < 0 ? null : place
    }),
  )
  return { cells, places }
}

/** A cell of the rows: its name, a path for a coordinate of a point. */
export interface RowCell {
  readonly name: string
  readonly kind: PrimitiveKind
  readonly epoch: boolean
  /** Rows of some sequences of a `concat` lack it. */
  readonly partial?: boolean
}

/** The result of an aggregation, and its operand (Data Aggregation 4.0, section 3.1.3). */
interface AggregateColumn extends RowAggregate {
  readonly kind: PrimitiveKind
  readonly epoch: boolean
}

/** Returns the aggregates that items request; each has a name that neither a key nor another has. */
export function aggregateColumns(
  items: readonly AggregateItem[],
  keys: readonly { readonly name: string }[],
  scope: Scope,
) {
  const beyond = items[MAX_ROW_VALUES]
  if (beyond !== undefined) throw wrong(scope, `At most ${MAX_ROW_VALUES} aggregates are served`, beyond.span)
  const taken = new Set(keys.map(({ name }) => name))
  return items.map(item => {
    const { name, span } = item
    if (taken.has(name)) throw wrong(scope, `There is a property ${name.slice(0, 60)} already`, span)
    taken.add(name)
    return { name, ...aggregateColumn(item, scope) }
  })
}

function aggregateColumn({ operand, method, span }: AggregateItem, scope: Scope): AggregateColumn {
  const counted = { kind: 'int', epoch: false } as const
  if (operand === null) return { method: 'count', of: null, type: 'int', ...counted }
  const known = method.toLowerCase()
  if (!['sum', 'min', 'max', 'average', 'countdistinct'].includes(known))
    throw unserved(scope, `The method ${method.slice(0, 60)}`, span)
  const typed = typedExpressionOf(operand, scope)
  if (!isValue(typed))
    throw unserved(
      scope,
      `Aggregation of ${describeExpression(operand)} of type ${describeType(typed)}`,
      operand.span,
    )
  const kind = typed.type === 'test' ? 'boolean' : typed.kind
  const epoch = typed.type === 'value' && typed.epoch
  const value = { of: checked(scalarOf(typed)), type: epoch ? 'double' : KIND_FIELDS[kind] }
  if (known === 'countdistinct') return { method: known, ...value, ...counted }
  const isSummed = known === 'sum' || known === 'average'
  if (isSummed ? !isNumericKind(kind) && kind !== 'duration' : UNORDERED.includes(kind))
    throw wrong(scope, `${startOf(operand, typed)} has no ${known}`, operand.span)
  const isWhole = known === 'average' && kind === 'int'
  return { method: known as RowAggregate['method'], ...value, kind: isWhole ? 'double' : kind, epoch }
}

const UNORDERED: readonly PrimitiveKind[] = ['boolean', 'guid', 'binary', 'geography']

/** A value that is not too large. */
export function checked(scalar: Scalar): Scalar {
  refuseLarge(scalar)
  return scalar
}

/** The value that the top and bottom transformations rank by. */
export function aggregateNumber(node: Expression, scope: Scope): Scalar {
  const typed = typedExpressionOf(node, scope)
  if (typed.type === 'value' && isNumericKind(typed.kind)) return checked(typed.scalar)
  throw wrong(scope, `${startOf(node, typed)} is no number`, node.span)
}

/** A transformation in plain words. */
export function aggregateName(step: Transformation): string {
  return `The transformation ${(step.type === 'other' ? step.name : step.type).slice(0, 60)}`
}
