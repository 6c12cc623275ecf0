import type { Term } from '../../rdf/term.ts'
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
  optional,
  subquery,
  triple,
  variable,
} from '../../sparql/build.ts'
import { type Aggregate, fieldsOf, type GroupQuery, type RowValue, type Scalar, scalarType } from '../plan.ts'
import { Body } from './body.ts'
import { type CompiledKey, compileKey, findsRecords, keyNames } from './group-keys.ts'
import { addFilter, type Statement } from './records.ts'
import { compileScalar, NOTHING } from './scalar.ts'
import { type CompileTarget, constantTerm, doubleTerm, RECORD, Scope } from './scope.ts'

/** Aggregates that SPARQL has none for: decoding computes them from the values of each group and how often each is. */
export function isDecoded({ name }: Aggregate): boolean {
  return name === 'percentile' || name === 'envelope' || name === 'bbox'
}

/** The aggregates of a query, each once, in the order of their variables. */
export function aggregatesOf(plan: GroupQuery): readonly Aggregate[] {
  const found = new Map<string, Aggregate>()
  const visit = (value: RowValue): void => {
    if (value.type === 'aggregate') found.set(JSON.stringify(value.aggregate), value.aggregate)
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
  const wanted = JSON.stringify(aggregate)
  return aggregates.findIndex(known => JSON.stringify(known) === wanted)
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

/** The variable of an aggregate, and that of a computed value of the select clause. */
export const figureName = (index: number): string => `figure${index}`
export const computedName = (index: number): string => `computed${index}`

/** Rows beyond the page that are asked for as well: where they are not all there, the page tells the total. */
export const LOOK_AHEAD = 2000

const COUNT_ALL: Expression = { type: 'aggregate', name: 'COUNT', distinct: false, operand: null }

/** The rows of a grouped query: keys, and each aggregate that the store can compute. */
export function compileGroups(plan: GroupQuery, target: CompileTarget): Statement {
  const rows = new Rows(plan, new Scope(target, plan.timezone))
  return {
    name: 'groups',
    reason: plan.keys.length === 0 ? 'one row for all records' : 'grouped and aggregated by the store',
    query: rows.query(),
  }
}

/** The number of rows of a grouped query. */
export function compileGroupCount(plan: GroupQuery, target: CompileTarget): Statement {
  const body = groupedBody(plan, new Scope(target, plan.timezone))
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
 * The values of one aggregate that decoding computes, by group, and how often each occurs.
 *
 * @param rows the rows of the page, whose groups are the only ones wanted; null for all groups
 */
export function compileValues(
  plan: GroupQuery,
  of: Scalar,
  rows: readonly Readonly<Record<string, Term>>[] | null,
  target: CompileTarget,
): Statement {
  const body = groupedBody(plan, new Scope(target, plan.timezone))
  const named = namedGroups(plan, rows)
  // A record without the key must not take one of those that are named.
  const keyed = named === null ? plan : { ...plan, nullGroups: false }
  const keys = plan.keys.map((key, index) => compileKey(key, index, body, keyed))
  const [first] = keys[0]?.variables ?? []
  if (named !== null && first !== undefined) restrict(plan, first, named, body)
  const value = body.hold(compileScalar(of, body, 'required'), 'value')
  body.test(call('BOUND', value))
  return {
    name: 'values',
    reason: 'values of each group, for an aggregate that SPARQL does not have',
    query: {
      type: 'select',
      projection: [
        ...keyProjections(keys),
        { variable: variable('value'), expression: value },
        { variable: variable('times'), expression: COUNT_ALL },
      ],
      where: body.patterns(),
      groupBy: [...groupedBy(keys), { variable: value }],
    },
  }
}

/** Rows up to which the values of other groups are left out by naming the groups. */
const MOST_NAMED = 1000

/** The values of a single key on the rows of the page, where all of them have one; null to leave out no group. */
function namedGroups(
  { keys }: GroupQuery,
  rows: readonly Readonly<Record<string, Term>>[] | null,
): readonly Term[] | null {
  const [only, ...others] = keys
  if (rows === null || rows.length > MOST_NAMED || only === undefined || others.length > 0) return null
  const [name, second] = keyNames(only, 0)
  if (name === undefined || second !== undefined) return null
  const terms = rows.map(row => row[name])
  return terms.every(term => term !== undefined) ? terms : null
}

function restrict(plan: GroupQuery, value: Variable, terms: readonly Term[], body: Body): void {
  const grouping = plan.keys[0]?.grouping
  const isField = grouping?.type === 'value' && grouping.value.type === 'field'
  if (isField) body.find({ type: 'values', variable: value, terms })
  else body.test({ type: 'oneOf', operand: value, items: terms })
}

/** A body in which ?record is each record that the filter keeps, where no key finds it. */
function groupedBody(plan: GroupQuery, scope: Scope): Body {
  const body = new Body(scope)
  const keyed = plan.keys.some(key => findsRecords(key, plan, scope))
  if (!addFilter(plan, body) && !keyed) body.position()
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

/** Builds the statement of the rows; it lives for one query. */
class Rows {
  private readonly plan: GroupQuery
  private readonly scope: Scope
  private readonly aggregates: readonly Aggregate[]
  /** True where the rows of the store are completed by a query around them. */
  private readonly wrapped: boolean

  constructor(plan: GroupQuery, scope: Scope) {
    this.plan = plan
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
    const body = groupedBody(this.plan, this.scope)
    const keys = this.keys(body)
    const figures = this.aggregates.flatMap((aggregate, index): Projection[] =>
      isDecoded(aggregate) || isCountOfMany(aggregate)
        ? []
        : [{ variable: variable(figure(index)), expression: aggregateOf(aggregate, body) }],
    )
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

  /** The rows with the steps that no record is in, and with counts of distinct values that are made apart. */
  private completed(): SelectQuery {
    const raw = (index: number) => `raw${index}`
    const inner = this.grouped(raw)
    const keys = this.plan.keys.flatMap(keyNames).map(variable)
    const counts = this.countsOfMany(raw)
    const joins = counts.length > 0 ? keys.map(joinKey) : []
    const figures = this.aggregates.flatMap((aggregate, index): Projection[] => {
      if (isDecoded(aggregate)) return []
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
      const body = groupedBody(this.plan, this.scope)
      const keys = this.keys(body)
      const value = body.hold(compileScalar(aggregate.of, body, 'required'), 'value')
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
function aggregateOf({ name, of, distinct }: Aggregate, body: Body): Expression {
  if (of === null) return COUNT_ALL
  const many = fieldsOf(of).find(({ multivalued }) => multivalued)
  if (many !== undefined && name === 'count') return aggregated('SUM', presence(many, body))
  const value = body.let(compileScalar(of, body, 'optional'), 'value')
  switch (name) {
    case 'count':
      return aggregated('COUNT', value, distinct)
    case 'min':
      return orNothing(aggregated('MIN', orNeutral('min', of, value, body)), value)
    case 'max':
      return orNothing(aggregated('MAX', orNeutral('max', of, value, body)), value)
    case 'sum':
      return orNothing(total(of, value, body), value)
    case 'avg': {
      const sum = apply(XSD.double, total(of, value, body))
      return orNothing(binary('/', sum, aggregated('COUNT', value)), value)
    }
    default:
      throw new Error(`${name} is not an aggregate of the store`)
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
function orNothing(figure: Expression, value: Expression): Expression {
  return conditional(binary('=', aggregated('COUNT', value), integer(0)), NOTHING, figure)
}

function total(of: Scalar, value: Expression, body: Body): Expression {
  return aggregated('SUM', orNeutral('sum', of, summand(of, value, body), body))
}

/** What leaves a sum, a least and a greatest value as they are, by type. */
const NEUTRAL = {
  sum: { number: integer(0), date: integer(0), datetime: integer(0) },
  min: {
    number: literal('INF', XSD.double),
    date: literal('9999-12-31', XSD.date),
    datetime: literal('9999-12-31T23:59:59.999999Z', XSD.dateTime),
  },
  max: {
    number: literal('-INF', XSD.double),
    date: literal('-9999-01-01', XSD.date),
    datetime: literal('-9999-01-01T00:00:00Z', XSD.dateTime),
  },
} as const

/** A value, or where there is none what changes nothing: an aggregate over an error is one (SPARQL 1.1, 18.5.1). */
function orNeutral(name: keyof typeof NEUTRAL, of: Scalar, value: Expression, body: Body): Expression {
  const isSure = of.type === 'field' && body.scope.isComplete(of.field)
  if (isSure) return value
  const type = scalarType(of)
  return call('COALESCE', value, NEUTRAL[name][type === 'date' || type === 'datetime' ? type : 'number'])
}

/** Integers are summed as they are where their sum cannot overflow, which statistics tell. */
function summand(of: Scalar, value: Expression, body: Body): Expression {
  if (scalarType(of) !== 'int' || of.type !== 'field') return value
  const { min, max } = body.scope.statistics(of.field) ?? { min: null, max: null }
  const largest = Math.max(Math.abs(Number(min ?? 2 ** 53)), Math.abs(Number(max ?? 2 ** 53)))
  const fits = largest * body.scope.target.statistics.records < 2 ** 62
  return fits ? value : apply(XSD.double, value)
}
