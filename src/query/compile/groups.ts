import { exactJson } from '../../model/exact-json.ts'
import type { Field, FieldType } from '../../model/field.ts'
import type { Literal } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'
import type {
  Expression,
  OrderKey,
  Pattern,
  Projection,
  SelectQuery,
  Variable,
} from '../../sparql/algebra.ts'
import {
  apply,
  binary,
  bind,
  call,
  conditional,
  exists,
  inGraph,
  integer,
  literal,
  not,
  optional,
  subquery,
  triple,
  variable,
} from '../../sparql/build.ts'
import { type Aggregate, fieldsOf, type GroupQuery, type RowValue, type Scalar, scalarType } from '../plan.ts'
import { technicalName } from '../technical.ts'
import { Body } from './body.ts'
import { openScope } from './condition.ts'
import { estimate } from './estimate.ts'
import { NOTHING } from './functions.ts'
import { type CompiledKey, compileKey, findsRecords, keyNames } from './group-keys.ts'
import { addFilter, type Statement } from './records.ts'
import { compileScalar } from './scalar.ts'
import { type CompileTarget, constantTerm, doubleTerm, RECORD, type Scope } from './scope.ts'

/** Aggregates that SPARQL has none for: decoding computes them from the values of each group. */
export function isDecoded({ name }: Aggregate): boolean {
  return name === 'percentile' || name === 'envelope' || name === 'bbox'
}

/** The aggregates of a query, each once, in the order of their variables. */
export function aggregatesOf(plan: GroupQuery): readonly Aggregate[] {
  const found = new Map<string, Aggregate>()
  const visit = (value: RowValue): void => {
    if (value.type === 'aggregate') found.set(exactJson(value.aggregate), value.aggregate)
    if (value.type === 'arithmetic') {
      visit(value.left)
      visit(value.right)
    }
  }
  for (const { value } of [...plan.select, ...plan.orderBy]) visit(value)
  return [...found.values()]
}

/** The place of an aggregate among those of its query. */
export function placeOf(aggregate: Aggregate, aggregates: readonly Aggregate[]): number {
  const wanted = exactJson(aggregate)
  return aggregates.findIndex(known => exactJson(known) === wanted)
}

/** True for a value of a row that is, or is computed from, an aggregate that SPARQL has none for. */
export function isDecodedValue(value: RowValue): boolean {
  if (value.type === 'aggregate') return isDecoded(value.aggregate)
  return value.type === 'arithmetic' && (isDecodedValue(value.left) || isDecodedValue(value.right))
}

/** True where the order of rows depends on what only decoding can compute: then decoding sorts them. */
export function isDecodedOrder(plan: GroupQuery): boolean {
  return plan.orderBy.some(({ value }) => isDecodedValue(value))
}

/** What stands between the values of a group that decoding aggregates; none stands for an absent value. */
export const VALUE_SEPARATOR = '|'

/** The variable of an aggregate, and that of a computed value of the select clause. */
export const figureName = (index: number): string => `figure${index}`
export const computedName = (index: number): string => `computed${index}`

/** Rows beyond the page that are asked for as well: where they are not all there, the page tells the total. */
export const LOOK_AHEAD = 2000

const COUNT_ALL: Expression = { type: 'aggregate', name: 'COUNT', distinct: false, operand: null }

/** The rows of a grouped query: keys, and each aggregate that the store can compute. */
export function compileGroups(plan: GroupQuery, target: CompileTarget): Statement {
  const rows = new Rows(plan, openScope(target, plan.timezone))
  return {
    name: 'groups',
    reason: plan.keys.length === 0 ? 'one row for all records' : 'grouped and aggregated by the store',
    query: rows.query(),
  }
}

/**
 * The rows of a page in the order of its first key, a field of very many values with known quantiles: only the groups
 * before one of them are made. Null where that does not spare much; where fewer rows come than the page has, all must
 * be made.
 */
export function compileBoundedGroups(plan: GroupQuery, target: CompileTarget): Statement | null {
  const scope = openScope(target, plan.timezone)
  const [key] = plan.keys
  const [order, ...others] = plan.orderBy
  const isByKey = order === undefined || (order.value.type === 'key' && order.value.index === 0)
  if (!isByKey || others.length > 0 || plan.limit === null || key?.grouping.type !== 'value') return null
  if (key.grouping.value.type !== 'field' || key.grouping.value.field.multivalued) return null
  const { field } = key.grouping.value
  const { quantiles = [], distinct = 0 } = scope.statistics(field) ?? {}
  const isMost =
    plan.filter === null || estimate(plan.filter, scope) > target.statistics.records * MOST_RECORDS
  if (distinct !== null || quantiles.length < 3 || !isMost) return null
  const part = (4 * (plan.offset + plan.limit) + 50) / MANY_GROUPS
  const lots = Math.ceil(part * (quantiles.length - 1)) + 1
  const descending = order?.descending ?? false
  const bound = quantiles[descending ? quantiles.length - 1 - lots : lots]
  if (lots > quantiles.length / 2 || bound === undefined) return null
  const rows = new Rows(plan, scope, { value: constantTerm(field.type, bound), descending })
  return {
    name: 'groups',
    reason: `the page is among the groups not beyond ${String(bound).slice(0, 60)}`,
    query: { ...rows.query(), limit: plan.limit },
  }
}

/** Distinct values from which on statistics do not count them. */
const MANY_GROUPS = 10_000
/** The part of all records that a filter must keep for their quantiles to tell of its groups. */
const MOST_RECORDS = 0.25

/** The number of rows of a grouped query. */
export function compileGroupCount(plan: GroupQuery, target: CompileTarget): Statement {
  const body = groupedBody(plan, openScope(target, plan.timezone), false)
  const keys = plan.keys.map((key, index) => compileKey(key, index, body, plan))
  const rows: SelectQuery = {
    type: 'select',
    distinct: true,
    projection: groupedBy(keys),
    where: body.patterns(),
  }
  const query: SelectQuery = {
    type: 'select',
    projection: [{ variable: variable('count'), expression: COUNT_ALL }],
    where: [subquery(rows)],
  }
  return { name: 'count', reason: 'distinct keys', query }
}

/**
 * A body in which ?record is each record that the filter keeps.
 *
 * @param isFound something that is joined later finds the records
 */
function groupedBody(plan: GroupQuery, scope: Scope, isFound: boolean): Body {
  const body = new Body(scope)
  const keyed = plan.keys.some(key => findsRecords(key, plan, scope))
  if (!addFilter(plan, body) && !keyed && !isFound) body.position()
  return body
}

/** What rows are grouped by, each once though two keys may be the same. */
function groupedBy(keys: readonly CompiledKey[]): readonly Projection[] {
  const variables = new Map(keys.flatMap(key => key.variables).map(name => [name.name, name]))
  return [...variables.values()].map(name => ({ variable: name }))
}

function keyProjections(keys: readonly CompiledKey[]): readonly Projection[] {
  return keys.flatMap(({ variables, names }) =>
    variables.map((value, index): Projection => ({ variable: names[index] ?? value, expression: value })),
  )
}

interface Bound {
  readonly value: Expression
  readonly descending: boolean
}

/** Builds the statement of the rows; it lives for one query. */
class Rows {
  private readonly plan: GroupQuery
  private readonly scope: Scope
  private readonly aggregates: readonly Aggregate[]
  /** True where the rows of the store are completed by a query around them. */
  private readonly wrapped: boolean

  /** The value of the first key beyond which no groups are made; null to make all. */
  private readonly bound: Bound | null

  constructor(plan: GroupQuery, scope: Scope, bound: Bound | null = null) {
    this.plan = plan
    this.bound = bound
    this.scope = scope
    this.aggregates = aggregatesOf(plan)
    // Within one grouped SELECT no value may be computed from the names of others.
    const computes = plan.select.some(({ value }) => isComputed(value))
    this.wrapped = computes || this.hasEmptySteps() || this.aggregates.some(isCountOfMany)
  }

  query(): SelectQuery {
    const rows = this.wrapped ? this.completed() : this.grouped(figureName)
    const computed = this.plan.select.flatMap(({ value }, index): Projection[] =>
      isComputed(value)
        ? [{ variable: variable(computedName(index)), expression: this.rowValue(value) }]
        : [],
    )
    return this.ordered({ ...rows, projection: [...rows.projection, ...computed] })
  }

  /** The rows as GROUP BY gives them. */
  private grouped(figure: (index: number) => string): SelectQuery {
    const only = this.onlyField()
    const isFound = only !== null || this.aggregates.some(({ of }) => isEverywhere(of, this.scope))
    const body = groupedBody(this.plan, this.scope, isFound)
    if (only !== null) body.value(only, 'required')
    const figures = this.aggregates.flatMap((aggregate, index): Projection[] =>
      isCountOfMany(aggregate)
        ? []
        : [
            {
              variable: variable(figure(index)),
              expression: aggregateOf(aggregate, body, this.plan.keys.length > 0),
            },
          ],
    )
    const keys = this.keys(body)
    const [first] = keys[0]?.variables ?? []
    if (this.bound !== null && first !== undefined) body.test(withinBound(first, this.bound))
    const projection = [...keyProjections(keys), ...keys.flatMap(({ more }) => more), ...figures]
    return {
      type: 'select',
      // A row of aggregates that are all made elsewhere is still a row.
      projection:
        projection.length > 0 ? projection : [{ variable: variable('records'), expression: COUNT_ALL }],
      where: body.patterns(),
      groupBy: groupedBy(keys),
    }
  }

  /** The field that all figures of one row are about: records without it change none of them. */
  private onlyField(): Field | null {
    const fields = this.aggregates.map(({ of }) => (of?.type === 'field' ? of.field : null))
    const [first = null] = fields
    const isOne = first !== null && fields.every(field => field?.name === first.name)
    const isPlain = isOne && !first.multivalued && technicalName(first) === undefined
    return isPlain && this.plan.keys.length === 0 ? first : null
  }

  /** The rows with the steps that no record is in, and with counts of distinct values that are made apart. */
  private completed(): SelectQuery {
    const raw = (index: number) => `raw${index}`
    const inner = this.grouped(raw)
    const keys = this.plan.keys.flatMap(keyNames).map(variable)
    const counts = this.countsOfMany(raw)
    const joins = counts.length > 0 ? keys.map(joinKey) : []
    const figures = this.aggregates.flatMap((aggregate, index): Projection[] => {
      const value = variable(raw(index))
      const expression = aggregate.name === 'count' ? call('COALESCE', value, integer(0)) : value
      return [{ variable: variable(figureName(index)), expression }]
    })
    const more = inner.projection.filter(({ variable: { name } }) => /^(lon|lat)\d/.test(name))
    return {
      type: 'select',
      projection: [...keys, ...more.map(({ variable: name }) => name)]
        .map((name): Projection => ({ variable: name }))
        .concat(figures),
      where: [...this.emptySteps(inner), ...joins, ...counts],
    }
  }

  /** A static range alone tells its empty steps too (facts on "What grouped results look like"). */
  private hasEmptySteps(): boolean {
    const [only, ...others] = this.plan.keys
    return only?.grouping.type === 'steps' && others.length === 0
  }

  private emptySteps(rows: SelectQuery): readonly Pattern[] {
    const grouping = this.plan.keys[0]?.grouping
    if (!this.hasEmptySteps() || grouping?.type !== 'steps') return [subquery(rows)]
    const terms = Array.from({ length: grouping.edges.length - 1 }, (_, index) => integer(index))
    return [{ type: 'values', variable: variable('key0'), terms }, optional(subquery(rows))]
  }

  /** Distinct values of a field with many: joined to the others they would count a record often. */
  private countsOfMany(raw: (index: number) => string): readonly Pattern[] {
    return this.aggregates.flatMap((aggregate, index): Pattern[] => {
      if (!isCountOfMany(aggregate) || aggregate.of === null) return []
      const body = groupedBody(this.plan, this.scope, true)
      const value = body.hold(compileScalar(aggregate.of, body, 'required'), 'value')
      const keys = this.keys(body)
      const count = aggregated('COUNT', value, true)
      const projection = keys.flatMap(({ variables, names }) =>
        variables.map(
          (key, at): Projection => ({
            variable: variable(`${names[at]?.name ?? ''}j`),
            expression: present(key),
          }),
        ),
      )
      const query: SelectQuery = {
        type: 'select',
        projection: [...projection, { variable: variable(raw(index)), expression: count }],
        where: body.patterns(),
        groupBy: groupedBy(keys),
      }
      return [optional(subquery(query))]
    })
  }

  private keys(body: Body): readonly CompiledKey[] {
    return this.plan.keys.map((key, index) => compileKey(key, index, body, this.plan))
  }

  /** A value of a row from the variables of its keys and figures. */
  private rowValue(value: RowValue): Expression {
    switch (value.type) {
      case 'key': {
        const key = this.plan.keys[value.index]
        return variable((key === undefined ? undefined : keyNames(key, value.index)[0]) ?? 'nothing')
      }
      case 'constant':
        return constantTerm(value.of, value.value)
      case 'aggregate':
        return variable(figureName(placeOf(value.aggregate, this.aggregates)))
      case 'arithmetic': {
        const [left, right] = [number(this.rowValue(value.left)), number(this.rowValue(value.right))]
        if (value.operator !== '/') return binary(value.operator, left, right)
        return conditional(binary('=', right, integer(0)), NOTHING, binary('/', left, right))
      }
      default:
        return value satisfies never
    }
  }

  /** In the order asked for, then by the keys; what decoding has to compute first is put before that there. */
  private ordered(rows: SelectQuery): SelectQuery {
    const { plan } = this
    if (plan.keys.length === 0) return rows
    const rest = plan.keys
      .flatMap(keyNames)
      .map((name): OrderKey => ({ expression: variable(name), descending: false }))
    if (isDecodedOrder(plan)) return { ...rows, orderBy: rest }
    const asked = plan.orderBy.map(
      ({ value, descending }): OrderKey => ({ expression: this.rowValue(value), descending }),
    )
    return {
      ...rows,
      orderBy: [...asked, ...rest],
      ...(plan.limit === null ? {} : { limit: plan.limit + LOOK_AHEAD }),
      offset: plan.offset,
    }
  }
}

/** Absent values come first in an ascending order. */
function withinBound(key: Variable, { value, descending }: Bound): Expression {
  const isWithin = binary(descending ? '>=' : '<=', key, value)
  return descending ? isWithin : binary('||', not(call('BOUND', key)), isWithin)
}

/** True for a field that every record has once, so that its triples find them all. */
function isEverywhere(of: Scalar | null, scope: Scope): boolean {
  if (of?.type !== 'field' || of.field.multivalued) return false
  return technicalName(of.field) === undefined && scope.isComplete(of.field)
}

/** True for what the store computes from the keys and figures of a row. */
function isComputed(value: RowValue): boolean {
  return value.type === 'arithmetic' && !isDecodedValue(value)
}

/** A key under another name in which absence is a value, for an unbound key would join with any. */
function joinKey(key: Variable): Pattern {
  return bind(present(key), variable(`${key.name}j`))
}

function present(key: Expression): Expression {
  return call('COALESCE', key, literal('', 'urn:lodestone:absent'))
}

function number(expression: Expression): Expression {
  return expression.type === 'literal' ? doubleTerm(Number(expression.value)) : apply(XSD.double, expression)
}

function isCountOfMany({ name, of, distinct }: Aggregate): boolean {
  return name === 'count' && distinct && of !== null && fieldsOf(of).some(({ multivalued }) => multivalued)
}

function aggregated(
  name: 'COUNT' | 'SUM' | 'MIN' | 'MAX',
  operand: Expression | null,
  distinct = false,
): Expression {
  return { type: 'aggregate', name, distinct, operand }
}

/** An aggregate as SPARQL computes it; what it reads is joined to the body without losing records. */
function aggregateOf({ name, of, distinct }: Aggregate, body: Body, isGrouped: boolean): Expression {
  if (of === null) return COUNT_ALL
  const many = fieldsOf(of).find(({ multivalued }) => multivalued)
  if (many !== undefined && name === 'count') return aggregated('SUM', presence(many, body))
  const value = body.let(compileScalar(of, body, 'optional'), 'value')
  // A group has a record, and so a value where all records have one.
  const isSure = isGrouped && isEverywhere(of, body.scope)
  const orNothing = (figure: Expression) => (isSure ? figure : unlessEmpty(figure, value))
  switch (name) {
    case 'count':
      return aggregated('COUNT', value, distinct)
    case 'min':
      return orNothing(aggregated('MIN', orNeutral('min', of, value, body)))
    case 'max':
      return orNothing(aggregated('MAX', orNeutral('max', of, value, body)))
    case 'sum':
      return orNothing(total(of, value, body))
    case 'avg': {
      const sum = apply(XSD.double, total(of, value, body))
      return orNothing(binary('/', sum, aggregated('COUNT', value)))
    }
    case 'percentile':
    case 'envelope':
    case 'bbox':
      return {
        type: 'concatenation',
        operand: call('COALESCE', call('STR', value), literal('')),
        separator: VALUE_SEPARATOR,
      }
    default:
      return name satisfies never
  }
}

/** 1 for a record that has a value of a field, 0 for one that has none. */
function presence(field: ReturnType<typeof fieldsOf>[number], body: Body): Expression {
  const { scope } = body
  const element = scope.fresh('element')
  const pattern = inGraph(scope.target.graphs.facts, triple(RECORD, scope.predicate(field), element))
  return body.let(conditional(exists(pattern), integer(1), integer(0)), 'present')
}

/** A figure over no values is null. */
function unlessEmpty(figure: Expression, value: Expression): Expression {
  return conditional(binary('=', aggregated('COUNT', value), integer(0)), NOTHING, figure)
}

function total(of: Scalar, value: Expression, body: Body): Expression {
  return aggregated('SUM', orNeutral('sum', of, summand(of, value, body), body))
}

/** What leaves a sum, a least and a greatest value as they are, by type. */
const NEUTRAL: Readonly<
  Record<'sum' | 'min' | 'max', Readonly<Partial<Record<FieldType | 'number', Literal>>>>
> = {
  sum: { number: integer(0), date: integer(0), datetime: integer(0) },
  min: {
    number: literal('INF', XSD.double),
    date: literal('9999-12-31', XSD.date),
    datetime: literal('9999-12-31T23:59:59.999999Z', XSD.dateTime),
    text: literal('\u{10ffff}'),
    boolean: literal('true', XSD.boolean),
  },
  max: {
    number: literal('-INF', XSD.double),
    date: literal('-9999-01-01', XSD.date),
    datetime: literal('-9999-01-01T00:00:00Z', XSD.dateTime),
    text: literal(''),
    boolean: literal('false', XSD.boolean),
  },
}

/** A value, or where there is none what changes nothing: an aggregate over an error is one (SPARQL 1.1, 18.5.1). */
function orNeutral(name: keyof typeof NEUTRAL, of: Scalar, value: Expression, body: Body): Expression {
  const isSure = of.type === 'field' && body.scope.isComplete(of.field)
  if (isSure) return value
  return call('COALESCE', value, NEUTRAL[name][scalarType(of)] ?? NEUTRAL[name].number ?? NOTHING)
}

/** Integers are summed as they are where their sum cannot overflow, which statistics tell. */
function summand(of: Scalar, value: Expression, body: Body): Expression {
  if (scalarType(of) !== 'int' || of.type !== 'field') return value
  const { min, max } = body.scope.statistics(of.field) ?? { min: null, max: null }
  const largest = Math.max(Math.abs(Number(min ?? 2 ** 53)), Math.abs(Number(max ?? 2 ** 53)))
  const fits = largest * body.scope.target.statistics.records < 2 ** 62
  return fits ? value : apply(XSD.double, value)
}
