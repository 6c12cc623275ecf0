import { INDEX } from '../../rdf/vocab.ts'
import type {
  ConstructQuery,
  Expression,
  OrderKey,
  Pattern,
  Projection,
  SelectQuery,
} from '../../sparql/algebra.ts'
import { call, inGraph, integer, iri, not, optional, subquery, triple, variable } from '../../sparql/build.ts'
import type { Ordering, RecordQuery } from '../plan.ts'
import { type BoundFields, type CompiledCondition, compileCondition } from './condition.ts'
import { type CompileTarget, JSON_TEXT, POSITION, RECORD, Scope } from './scope.ts'

/** How the records of a page are found, and why. */
export type PagePlan =
  | {
      /** The positions of the page are known before anything is asked: one look-up each, no sort. */
      readonly type: 'positions'
      readonly query: SelectQuery
      readonly reason: string
    }
  | {
      /** The store filters and sorts; it gives the records of the page, whose contents are fetched after. */
      readonly type: 'search'
      readonly query: SelectQuery
      readonly reason: string
    }
  | { readonly type: 'empty'; readonly reason: string }

/** How the number of matching records is found. */
export type CountPlan =
  | { readonly type: 'known'; readonly count: number; readonly reason: string }
  | { readonly type: 'count'; readonly query: SelectQuery; readonly reason: string }

/** Compiles the page of a plan. A page without filter and order asks for its positions and never sorts. */
export function compilePage(plan: RecordQuery, target: CompileTarget): PagePlan {
  const { records } = target.statistics
  if (plan.limit === 0) return { type: 'empty', reason: 'no record is asked for' }
  if (plan.filter === null && plan.orderBy.length === 0) {
    const length = Math.min(plan.limit, records - plan.offset)
    if (length <= 0) return { type: 'empty', reason: 'the page begins after the last record' }
    const positions = Array.from({ length }, (_, index) => integer(plan.offset + index))
    return {
      type: 'positions',
      query: positionsQuery(positions, target),
      reason: 'no filter and no order: positions',
    }
  }
  if (plan.filter?.type === 'always' && !plan.filter.value)
    return { type: 'empty', reason: 'the filter never holds' }
  const scope = new Scope(target)
  const group: BoundFields = new Map()
  const condition = compileCondition(plan.filter, scope, group)
  const keys = plan.orderBy.map(ordering => orderKeys(ordering, scope, group))
  return {
    type: 'search',
    reason: `${describeDrive(condition)}, then ${plan.orderBy.length === 0 ? 'source order' : 'sort'}`,
    query: {
      type: 'select',
      projection: [{ variable: RECORD }],
      where: [
        ...condition.patterns,
        inGraph(target.graphs.index, triple(RECORD, iri(INDEX.position), POSITION)),
        ...keys.flatMap(key => key.patterns),
      ],
      orderBy: [...keys.flatMap(key => key.orderBy), { expression: POSITION, descending: false }],
      limit: plan.limit,
      offset: plan.offset,
    },
  }
}

/** Compiles the count of all records that a plan's filter keeps. */
export function compileCount(plan: RecordQuery, target: CompileTarget): CountPlan {
  if (plan.filter === null)
    return {
      type: 'known',
      count: target.statistics.records,
      reason: 'the statistics of the version have it',
    }
  if (plan.filter.type === 'always' && !plan.filter.value)
    return { type: 'known', count: 0, reason: 'the filter never holds' }
  if (plan.filter.type === 'present') {
    const count = target.statistics.fields[plan.filter.field.name]?.present
    if (count !== undefined) return { type: 'known', count, reason: 'the statistics of the version have it' }
  }
  const scope = new Scope(target)
  const condition = compileCondition(plan.filter, scope)
  const base = inGraph(target.graphs.index, triple(RECORD, iri(INDEX.position), POSITION))
  const count: Projection = { variable: COUNT, expression: COUNT_ALL }
  return {
    type: 'count',
    reason: describeDrive(condition),
    query: {
      type: 'select',
      projection: [count],
      where: condition.drives ? condition.patterns : [base, ...condition.patterns],
    },
  }
}

/** Fetches the contents of records by their IRIs, in any order. */
export function compileFetch(records: readonly string[], target: CompileTarget): SelectQuery {
  return {
    type: 'select',
    projection: [{ variable: RECORD }, { variable: JSON_TEXT }],
    where: [
      { type: 'values', variable: RECORD, terms: records.map(iri) },
      inGraph(target.graphs.index, triple(RECORD, iri(INDEX.json), JSON_TEXT)),
    ],
  }
}

/** All facts of the records from one position on. */
export function compileTriples(first: number, length: number, target: CompileTarget): ConstructQuery {
  const statement = { subject: RECORD, predicate: variable('predicate'), object: variable('object') }
  const positions = Array.from({ length }, (_, index) => integer(first + index))
  return {
    type: 'construct',
    template: [statement],
    where: [
      { type: 'values', variable: POSITION, terms: positions },
      inGraph(target.graphs.index, triple(RECORD, iri(INDEX.position), POSITION)),
      inGraph(target.graphs.facts, triple(statement.subject, statement.predicate, statement.object)),
    ],
  }
}

const COUNT = { type: 'variable', name: 'count' } as const
const COUNT_ALL: Expression = { type: 'aggregate', name: 'COUNT', distinct: false, operand: null }

function positionsQuery(
  positions: readonly ReturnType<typeof integer>[],
  target: CompileTarget,
): SelectQuery {
  return {
    type: 'select',
    projection: [{ variable: RECORD }, { variable: POSITION }, { variable: JSON_TEXT }],
    where: [
      { type: 'values', variable: POSITION, terms: positions },
      inGraph(
        target.graphs.index,
        triple(RECORD, iri(INDEX.position), POSITION),
        triple(RECORD, iri(INDEX.json), JSON_TEXT),
      ),
    ],
  }
}

/** Absent values last in both directions: a key that says "absent" goes before the value itself. */
function orderKeys(
  ordering: Ordering,
  scope: Scope,
  group: BoundFields,
): { patterns: readonly Pattern[]; orderBy: readonly OrderKey[] } {
  const { field, descending } = ordering
  const bound = group.get(field.name)
  if (bound !== undefined) return { patterns: [], orderBy: [{ expression: bound, descending }] }
  const key = scope.fresh('key')
  const value = inGraph(scope.target.graphs.facts, triple(RECORD, scope.predicate(field), key))
  if (field.multivalued) {
    const element = scope.fresh('element')
    const smallest: Expression = {
      type: 'aggregate',
      name: descending ? 'MAX' : 'MIN',
      distinct: false,
      operand: element,
    }
    const grouped = subquery({
      type: 'select',
      projection: [{ variable: RECORD }, { variable: key, expression: smallest }],
      where: [inGraph(scope.target.graphs.facts, triple(RECORD, scope.predicate(field), element))],
      groupBy: [{ variable: RECORD }],
    })
    return { patterns: [optional(grouped)], orderBy: [absentLast(key), { expression: key, descending }] }
  }
  if (scope.isComplete(field)) return { patterns: [value], orderBy: [{ expression: key, descending }] }
  return { patterns: [optional(value)], orderBy: [absentLast(key), { expression: key, descending }] }
}

function absentLast(key: Expression): OrderKey {
  return { expression: not(call('BOUND', key)), descending: false }
}

function describeDrive(condition: CompiledCondition): string {
  if (condition.patterns.length === 0) return 'all records'
  return condition.drives ? 'records found by the filter' : 'all records tested'
}
