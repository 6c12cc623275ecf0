import type { AggregateItem, Expression, Span, Transformation } from '../../language/odata/ast.ts'
import { conjunctionOrNull } from '../conditions.ts'
import type { Aggregate, Condition, Ordering, RecordQuery, Scalar } from '../plan.ts'
import {
  aggregateColumns,
  aggregateName,
  aggregateNumber,
  applyRows,
  checked,
  joinedRows,
  type RowCell,
  type RowStage,
  refuseMany,
  rowByRow,
  rowScope,
} from './apply-rows.ts'
import { computeNames } from './columns.ts'
import { conditionOf, typedExpressionOf } from './expression.ts'
import { amountOf, orderings, searchCondition } from './order.ts'
import type { RowAggregate } from './rows.ts'
import { type Scope, unserved, withinScope, wrong } from './scope.ts'
import {
  describeType,
  scalarOf,
  type TypedExpression,
  type TypedTest,
  type TypedValue,
} from './typed-expression.ts'

/** The records before any grouping. */
export interface RecordStage {
  readonly type: 'records'
  readonly names: ReadonlyMap<string, TypedExpression>
  readonly conditions: readonly Condition[]
  readonly orderBy: readonly Ordering[]
  readonly skip: number
  /** null for all. */
  readonly top: number | null
  /** Queries that restrict the records, each applied to the result of the one before; none for all records. */
  readonly cuts: readonly RecordQuery[]
}

export type ApplyStage = RecordStage | RowStage

/** What names mean in a stage. */
export function scopeOf(stage: ApplyStage, scope: Scope): Scope {
  return stage.type === 'records' ? { ...scope, names: stage.names } : rowScope(stage, scope)
}

/** Applies the transformations of `$apply` to records (Data Aggregation 4.0, section 3). */
export function applyAll(steps: readonly Transformation[], start: RecordStage, scope: Scope): ApplyStage {
  refuseMany(steps, scope)
  return steps.reduce<ApplyStage>(
    (stage, step) =>
      stage.type === 'records' ? applyToRecords(step, stage, scope) : applyRows([step], stage, scope),
    start,
  )
}

/** Records of a subset that is transformed further, and the number of such subsets. */
const MAX_CUT = 1000
const MAX_CUTS = 4

/** Records without `skip` and `top`; those of a cut are queried first. */
export function settled(stage: RecordStage, span: Span, scope: Scope): RecordStage {
  const { skip, top, orderBy, cuts } = stage
  if (skip === 0 && top === null) return stage
  if (top === null || top > MAX_CUT)
    throw unserved(scope, `A transformation of some of the records but more than ${MAX_CUT}`, span)
  if (cuts.length === MAX_CUTS)
    throw unserved(scope, `More than ${MAX_CUTS} transformations of some of the records`, span)
  const cut: RecordQuery = {
    type: 'records',
    filter: conjunctionOrNull(stage.conditions),
    timezone: 'UTC',
    select: [],
    orderBy,
    limit: top,
    offset: skip,
  }
  return { ...stage, conditions: [], skip: 0, top: null, cuts: [...cuts, cut] }
}

function applyToRecords(step: Transformation, before: RecordStage, outer: Scope): ApplyStage {
  const scope = scopeOf(before, outer)
  const changes = !['identity', 'top', 'skip', 'compute', 'concat', 'other'].includes(step.type)
  const stage = changes ? settled(before, step.span, scope) : before
  switch (step.type) {
    case 'identity':
      return stage
    case 'filter':
      return { ...stage, conditions: [...stage.conditions, conditionOf(step.expression, scope)] }
    case 'search':
      return { ...stage, conditions: [...stage.conditions, searchCondition(step.expression, scope)] }
    case 'compute':
      return { ...stage, names: computeNames(step.items, scope) }
    case 'orderby':
      return { ...stage, orderBy: [...orderings(step.items, scope), ...stage.orderBy] }
    case 'top':
    case 'skip':
      return { ...stage, ...narrowed(stage, step) }
    case 'topcount':
    case 'bottomcount': {
      const value = aggregateNumber(step.by, scope)
      const key: Ordering = { value, descending: step.type === 'topcount', absent: 'lowest' }
      return { ...stage, orderBy: [key, ...stage.orderBy], top: amountOf(step.amount, 'count', scope) }
    }
    case 'aggregate':
      return groups([], step.items, stage, scope)
    case 'groupby':
      return groupBy(step, stage, scope)
    case 'concat': {
      const inner = withinScope(outer, { type: 'null', span: step.span })
      const stages = step.sequences.map(sequence => {
        const applied = applyAll(sequence, stage, inner)
        if (applied.type === 'rows') return applied
        throw unserved(scope, 'concat of records that are not grouped', step.span)
      })
      return joinedRows(stages, step, scope)
    }
    default:
      throw unserved(scope, `${aggregateName(step)} of records that are not grouped`, step.span)
  }
}

function narrowed(
  { skip, top }: Pick<RecordStage, 'skip' | 'top'>,
  step: { readonly type: 'top' | 'skip'; readonly count: number },
) {
  if (step.type === 'top') return { skip, top: Math.min(top ?? step.count, step.count) }
  return { skip: skip + step.count, top: top === null ? null : Math.max(0, top - step.count) }
}

type GroupBy = Extract<Transformation, { type: 'groupby' }>

/** Nested groups are groups of both keys; the steps after the aggregation of each group can follow all groups. */
function groupBy(step: GroupBy, stage: RecordStage, scope: Scope): ApplyStage {
  const [keys, after] = [[...step.keys], [...step.then]]
  for (let first = after.shift(); ; first = after.shift()) {
    if (first?.type === 'groupby') {
      if (first.rollup) throw unserved(scope, 'rollup', first.span)
      keys.push(...first.keys)
      after.unshift(...first.then)
    } else if (first === undefined || first.type === 'aggregate') {
      const applied = groups(keysOf({ ...step, keys }, scope), first?.items ?? [], stage, scope)
      return applyRows(rowByRow(after, scope), applied, scope)
    } else throw unserved(scope, `${aggregateName(first)} within groups`, first.span)
  }
}

/** A key of groups: its path and its value. */
interface Key {
  readonly name: string
  readonly typed: TypedValue | TypedTest
}

/** Keys of one grouping. */
const MAX_KEYS = 16

function keysOf(step: GroupBy, scope: Scope): readonly Key[] {
  const { keys, rollup, span } = step
  if (rollup) throw unserved(scope, 'rollup', span)
  if (keys.length > MAX_KEYS) throw wrong(scope, `At most ${MAX_KEYS} properties are grouped by`, span)
  const byName = new Map(
    keys.map(path => {
      const typed = typedExpressionOf(pathNode(path, span), scope)
      if (typed.type !== 'value' && typed.type !== 'test')
        throw unserved(
          scope,
          `Grouping by ${path.join('/').slice(0, 60)} of type ${describeType(typed)}`,
          span,
        )
      return [path.join('/'), { name: path.join('/'), typed }]
    }),
  )
  return [...byName.values()]
}

function pathNode([first = '', ...rest]: readonly string[], span: Transformation['span']): Expression {
  return rest.reduce<Expression>((of, name) => ({ type: 'member', of, name, span }), {
    type: 'name',
    name: first,
    span,
  })
}

function groups(
  keys: readonly Key[],
  items: readonly AggregateItem[],
  stage: RecordStage,
  scope: Scope,
): RowStage {
  const columns = aggregateColumns(items, keys, scope)
  return {
    type: 'rows',
    parts: [
      {
        conditions: stage.conditions,
        cuts: stage.cuts,
        keys: keys.map(({ name, typed }) => ({
          key: name,
          grouping: { type: 'value', value: checked(scalarOf(typed)) },
        })),
        select: columns.map(({ name, method, of }) => ({
          key: name,
          value: { type: 'aggregate', aggregate: planAggregate(method, of) },
        })),
        steps: [],
        cells: null,
      },
    ],
    steps: [],
    cells: [...keys.map(keyCell), ...columns.map(({ name, kind, epoch }) => ({ name, kind, epoch }))],
  }
}

function keyCell({ name, typed }: Key): RowCell {
  return typed.type === 'test'
    ? { name, kind: 'boolean', epoch: false }
    : { name, kind: typed.kind, epoch: typed.epoch }
}

const PLAN_NAMES = { sum: 'sum', min: 'min', max: 'max', average: 'avg' } as const

function planAggregate(method: RowAggregate['method'], of: Scalar | null): Aggregate {
  if (method === 'count' || method === 'countdistinct')
    return { name: 'count', of, distinct: method === 'countdistinct', rank: 50 }
  return { name: PLAN_NAMES[method], of, distinct: false, rank: 50 }
}
