import type { Field } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import type { Literal } from '../../rdf/term.ts'
import { INDEX } from '../../rdf/vocab.ts'
import type { ConstructQuery, Expression, OrderKey, Projection, SelectQuery } from '../../sparql/algebra.ts'
import { binary, call, filter, inGraph, iri, literal, triple, variable } from '../../sparql/build.ts'
import type { Question, RecordQuery, Scalar, Selection } from '../plan.ts'
import { technicalName } from '../technical.ts'
import { Body } from './body.ts'
import { compileCondition, noRecord, openScope } from './condition.ts'
import { drives, needsField, scans } from './drives.ts'
import { estimate, recordsWith } from './estimate.ts'
import { beginsAbsent, keyName, sortKeys, sortValue } from './order.ts'
import { compileScalar, isSingle } from './scalar.ts'
import { type CompileTarget, constantTerm, POSITION, positionTerm, RECORD, type Scope } from './scope.ts'
import { simplify } from './simplify.ts'

/** A statement and why it is the one: what `lodestone explain` tells. */
export interface Statement {
  readonly name: string
  readonly reason: string
  readonly query: SelectQuery
}

/** As many records are held as candidates: their page is found among them without a second scan. */
export const MOST_CANDIDATES = 5000

/** Largest part of all positions that a page is looked for among before all are. */
const WINDOW_PART = 0.125
const WINDOW_MOST = 4000

/** How the number of matching records is found. */
export type CountPlan =
  | { readonly type: 'known'; readonly count: number; readonly reason: string }
  | { readonly type: 'count'; readonly statement: Statement }

/** The number of records that a filter keeps: from the statistics where they have it. */
export function compileCount(question: Question, target: CompileTarget): CountPlan {
  const { filter } = question
  const { records } = target.statistics
  if (filter === null)
    return { type: 'known', count: records, reason: 'the statistics of the version have it' }
  if (filter.type === 'always')
    return { type: 'known', count: filter.value ? records : 0, reason: 'the filter is a constant' }
  const absent = filter.type === 'not' && filter.operand.type === 'present'
  const present = absent ? filter.operand : filter
  if (present.type === 'present' && technicalName(present.field) === undefined) {
    const statistics = lookup(target.statistics.fields, present.field.name)
    const count = absent ? statistics?.nulls : statistics?.present
    if (count !== undefined) return { type: 'known', count, reason: 'the statistics of the version have it' }
  }
  const same = filter.type === 'compare' && filter.operator === '=' ? recordsWith(filter, target) : null
  if (same !== null) return { type: 'known', count: same, reason: 'the statistics of the version have it' }
  const body = filtered(question, target)
  const reason = `${describeDrive(question)}, counted`
  const query: SelectQuery = {
    type: 'select',
    projection: [{ variable: COUNT, expression: COUNT_ALL }],
    where: body.patterns(),
  }
  return { type: 'count', statement: { name: 'count', reason, query } }
}

/** The first records that satisfy a filter, in no order, one more than are kept as candidates. */
export function compileCandidates(question: Question, target: CompileTarget): Statement {
  return {
    name: 'candidates',
    reason: `${describeDrive(question)}, until there are more than ${MOST_CANDIDATES}`,
    query: {
      type: 'select',
      projection: [{ variable: RECORD }],
      where: filtered(question, target).patterns(),
      limit: MOST_CANDIDATES + 1,
    },
  }
}

/** How the records of a filter are best found, as far as statistics tell. */
export type Way = 'look-up' | 'few' | 'many'

/** Look-ups are counted at once; of few records all are put in order; of many only the page should be. */
export function wayTo(question: Question, target: CompileTarget): Way {
  const { filter } = question
  if (filter === null) return 'many'
  const scope = openScope(target, question.timezone)
  if (drives(filter) && !scans(filter)) return 'look-up'
  return estimate(filter, scope) <= MOST_CANDIDATES ? 'few' : 'many'
}

/** The first records of a filter and an order, one more than are kept as candidates. */
export function compileFirst(plan: RecordQuery, target: CompileTarget): Statement {
  const body = filtered(plan, target)
  return {
    name: 'page',
    reason: `${describeDrive(plan)}, probably few: all of them, ${describeOrder(plan)}`,
    query: { ...page(plan, body, sortKeys(plan, body)), limit: MOST_CANDIDATES + 1, offset: 0 },
  }
}

/** The page among candidates. */
export function compileCandidatePage(
  plan: RecordQuery,
  candidates: readonly string[],
  target: CompileTarget,
): Statement {
  const body = new Body(openScope(target, plan.timezone))
  body.find({ type: 'values', variable: RECORD, terms: candidates.map(iri) })
  return {
    name: 'page',
    reason: `${candidates.length} candidates, ${describeOrder(plan)}`,
    query: page(plan, body, sortKeys(plan, body)),
  }
}

/**
 * The page of a filter that keeps many records and of an order that is the source's: it is looked for among the first
 * positions only, as many as hold it if matches are spread evenly. Null where that is most of them. Where fewer
 * records come than the page has, the guess was wrong and all must be searched.
 */
export function compileWindowPage(plan: RecordQuery, total: number, target: CompileTarget): Statement | null {
  const { records } = target.statistics
  if (plan.orderBy.length > 0 || plan.limit === null || plan.filter === null || total === 0) return null
  const length = Math.ceil(((plan.offset + plan.limit) * records * 1.5) / total) + 200
  if (length > Math.min(records * WINDOW_PART, WINDOW_MOST)) return null
  const reason = `${total} of ${records} records match: the page is among the first ${length}`
  return { ...compileWindow(plan, { first: 0, length }, target), reason }
}

/** The first records that satisfy a filter among some positions in a row, in the order of the source. */
export function compileWindow(
  plan: RecordQuery,
  positions: { readonly first: number; readonly length: number },
  target: CompileTarget,
): Statement {
  const { first, length } = positions
  const body = new Body(openScope(target, plan.timezone))
  const terms = Array.from({ length }, (_, index) => positionTerm(first + index))
  body.find({ type: 'values', variable: POSITION, terms })
  body.position()
  if (plan.filter !== null) compileCondition(plan.filter, body, 'test')
  const reason = `many records probably match: those of the positions ${first} to ${first + length - 1}`
  return { name: 'page', reason, query: page(plan, body, []) }
}

/** How many records a filter probably keeps. */
export function estimatedCount({ filter, timezone }: Question, target: CompileTarget): number {
  return filter === null ? target.statistics.records : estimate(filter, openScope(target, timezone))
}

/** The page of a filter and an order, over all records that match. */
export function compileSortedPage(plan: RecordQuery, target: CompileTarget): Statement {
  const body = filtered(plan, target)
  return {
    name: 'page',
    reason: `${describeDrive(plan)}, ${describeOrder(plan)}`,
    query: page(plan, body, sortKeys(plan, body)),
  }
}

/**
 * The first records of a filter and a plain order with the keys of the order, equal ones in any order: their positions,
 * a join for each record that matches, are not asked for.
 */
export function compileKeyedPage(plan: RecordQuery, target: CompileTarget): Statement {
  const body = filtered(plan, target)
  const keys = plan.orderBy.map(ordering =>
    ordering.value.type === 'random' ? POSITION : sortValue(ordering.value, ordering.descending, body),
  )
  return {
    name: 'page',
    reason: `${describeDrive(plan)}, ${describeOrder(plan)}, equal ones in any order`,
    query: {
      type: 'select',
      projection: [
        { variable: RECORD },
        ...keys.map((expression, index) => ({ variable: variable(keyName(index)), expression })),
      ],
      where: body.patterns(),
      orderBy: sortKeys(plan, body),
      ...(plan.limit === null ? {} : { limit: plan.limit }),
    },
  }
}

/**
 * The page of an order whose first key is a field with known quantiles: only records beyond one of them are sorted,
 * which holds the page if the filter is independent of the key. Null where that does not spare much. Where fewer
 * records come than the page has, the guess was wrong.
 */
export function compileBoundedPage(
  plan: RecordQuery,
  total: number,
  target: CompileTarget,
): Statement | null {
  const [first] = plan.orderBy
  if (first?.value.type !== 'field' || plan.limit === null || total === 0) return null
  const { field } = first.value
  const scope = openScope(target, plan.timezone)
  if (beginsAbsent(first, scope)) return null
  const quantiles = scope.statistics(field)?.quantiles ?? []
  const lots = Math.ceil(((4 * (plan.offset + plan.limit) + 50) / total) * (quantiles.length - 1)) + 1
  if (field.multivalued || quantiles.length < 3 || lots > quantiles.length / 2) return null
  const bound = quantiles[first.descending ? quantiles.length - 1 - lots : lots]
  if (bound === undefined) return null
  return pageBeyond(plan, constantTerm(field.type, bound), target, scope)
}

/**
 * The value that the last record of a page has for the first key of the order: records beyond it cannot be on the page,
 * and values alone are sorted in half the time of records. Null where the order has no such key.
 */
export function compileKeyBound(plan: RecordQuery, total: number, target: CompileTarget): Statement | null {
  const [first] = plan.orderBy
  if (first === undefined || first.value.type === 'random' || plan.limit === null) return null
  const last = plan.offset + plan.limit
  if (!isSingle(first.value) || total < BOUND_FROM || last > total / 4) return null
  const body = filtered(plan, target)
  if (beginsAbsent(first, body.scope)) return null
  if (plan.filter === null && !needsField(first.value)) body.position()
  const key = body.hold(compileScalar(first.value, body, 'required'), 'key')
  if (first.value.type !== 'field') body.test(call('BOUND', key))
  return {
    name: 'bound',
    reason: `the ${last}th value of the first key of the order`,
    query: {
      type: 'select',
      projection: [{ variable: BOUND, expression: key }],
      where: body.patterns(),
      orderBy: [{ expression: key, descending: first.descending }],
      limit: 1,
      offset: last - 1,
    },
  }
}

/** Records from which on sorting twice is quicker: values first, then few records. */
const BOUND_FROM = 20_000
const BOUND = variable('bound')

/** The page of records whose first key is not beyond a bound. */
export function compileBeyond(plan: RecordQuery, bound: Literal, target: CompileTarget): Statement {
  return pageBeyond(plan, bound, target, openScope(target, plan.timezone))
}

function pageBeyond(plan: RecordQuery, bound: Literal, target: CompileTarget, scope: Scope): Statement {
  const [first] = plan.orderBy
  const body = filtered(plan, target, scope)
  if (first !== undefined && first.value.type !== 'random') {
    const key = body.hold(compileScalar(first.value, body, 'required'), 'key')
    body.test(binary(first.descending ? '>=' : '<=', key, bound))
  }
  return {
    name: 'page',
    reason: `${describeDrive(plan)}, only those not beyond ${bound.value.slice(0, 60)}, ${describeOrder(plan)}`,
    query: page(plan, body, sortKeys(plan, body)),
  }
}

/** The positions of all records of a query in its order, or in none where it asks for the order of the source. */
export function compileOrder(plan: RecordQuery, target: CompileTarget): Statement {
  const body = filtered(plan, target)
  const position = body.position()
  const keys = sortKeys(plan, body)
  const orderBy = keys.length === 0 ? [] : [...keys, { expression: position, descending: false }]
  return {
    name: 'order',
    reason: `${describeDrive(plan)}, ${describeOrder(plan)}: the positions of all, kept for the pages to come`,
    query: { type: 'select', projection: [{ variable: POSITION }], where: body.patterns(), orderBy },
  }
}

/** Records by their positions, with their contents: nothing is searched and nothing sorted. */
export function compilePositions(
  select: readonly Selection[],
  positions: readonly number[],
  question: Pick<Question, 'timezone'>,
  target: CompileTarget,
): Statement {
  const body = new Body(openScope(target, question.timezone))
  body.find({ type: 'values', variable: POSITION, terms: positions.map(positionTerm) })
  body.position()
  const projection = contents(select, body)
  return {
    name: 'records',
    reason: `contents of ${positions.length} positions`,
    query: { type: 'select', projection: [...projection, { variable: POSITION }], where: body.patterns() },
  }
}

/** The contents of records by their IRIs, in any order: the JSON of each and what is computed from it. */
export function compileFetch(
  records: readonly string[],
  select: readonly Selection[],
  question: Pick<Question, 'timezone'>,
  target: CompileTarget,
  withPositions = false,
): Statement {
  const body = new Body(openScope(target, question.timezone))
  body.find({ type: 'values', variable: RECORD, terms: records.map(iri) })
  const projection = [...contents(select, body), ...(withPositions ? [{ variable: body.position() }] : [])]
  return {
    name: 'records',
    reason: `contents of ${records.length} records`,
    query: { type: 'select', projection, where: body.patterns() },
  }
}

/** The name of the variable of a computed column. */
export function columnName(index: number): string {
  return `column${index}`
}

/** True for a value that the JSON of the record holds, so that it is not computed. */
export function isStored(scalar: Scalar): boolean {
  return scalar.type === 'field' && technicalName(scalar.field) === undefined
}

/** All facts of the records from one position on. */
export function compileTriples(first: number, length: number, target: CompileTarget): ConstructQuery {
  const statement = { subject: RECORD, predicate: variable('predicate'), object: variable('object') }
  const positions = Array.from({ length }, (_, index) => positionTerm(first + index))
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

/** All facts of records that are named. */
export function compileRecordTriples(records: readonly string[], target: CompileTarget): ConstructQuery {
  const statement = { subject: RECORD, predicate: variable('predicate'), object: variable('object') }
  return {
    type: 'construct',
    template: [statement],
    where: [
      { type: 'values', variable: RECORD, terms: records.map(iri) },
      inGraph(target.graphs.facts, triple(statement.subject, statement.predicate, statement.object)),
    ],
  }
}

/** One record whose value of a field has a part that a regular expression finds. */
export function compileTextWith(pattern: string, field: Field, target: CompileTarget): Statement {
  const scope = openScope(target, 'UTC')
  const value = variable('value')
  const found = inGraph(target.graphs.facts, triple(RECORD, scope.predicate(field), value))
  return {
    name: 'text',
    reason: `a value of ${field.name} that a format cannot hold`,
    query: {
      type: 'select',
      projection: [{ variable: RECORD }],
      where: [found, filter(call('REGEX', call('STR', value), literal(pattern)))],
      limit: 1,
    },
  }
}

const COUNT = variable('count')
const COUNT_ALL: Expression = { type: 'aggregate', name: 'COUNT', distinct: false, operand: null }

/** A body in which ?record is each record that the filter keeps. */
export function filtered(
  question: Question,
  target: CompileTarget,
  scope: Scope = openScope(target, question.timezone),
): Body {
  const body = new Body(scope)
  if (question.filter !== null && !addFilter(question, body)) body.position()
  return body
}

/** Adds the filter of a question to a body; false where nothing in it finds records. */
export function addFilter({ filter }: Question, body: Body): boolean {
  const condition = filter === null ? null : simplify(filter, body.scope)
  if (condition === null) return false
  const { among } = body.scope.target
  if ((condition.type === 'always' && !condition.value) || among?.length === 0) {
    body.find(noRecord(body.scope))
    return true
  }
  if (among !== undefined) {
    body.find({ type: 'values', variable: POSITION, terms: among.map(positionTerm) })
    body.position()
    compileCondition(condition, body, 'test')
    return true
  }
  compileCondition(condition, body, 'search')
  return drives(condition)
}

function contents(select: readonly Selection[], body: Body): readonly Projection[] {
  const json = body.json()
  const columns = select.flatMap(({ value }, index): Projection[] => {
    if (isStored(value)) return []
    const expression = compileScalar(value, body, 'optional')
    return [{ variable: variable(columnName(index)), expression }]
  })
  return [{ variable: RECORD }, { variable: json }, ...columns]
}

function page(plan: RecordQuery, body: Body, keys: readonly OrderKey[]): SelectQuery {
  const position = body.position()
  return {
    type: 'select',
    projection: [{ variable: RECORD }],
    where: body.patterns(),
    orderBy: [...keys, { expression: position, descending: false }],
    ...(plan.limit === null ? {} : { limit: plan.limit }),
    offset: plan.offset,
  }
}

function describeDrive({ filter }: Question): string {
  if (filter === null) return 'all records'
  return drives(filter) ? 'records found by the filter' : 'all records tested'
}

function describeOrder(plan: RecordQuery): string {
  return plan.orderBy.length === 0 ? 'in source order' : 'sorted'
}
