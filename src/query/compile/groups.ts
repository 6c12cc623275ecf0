import { CLOCK_UNITS } from '../../model/clock-intervals.ts'
import { exactJson } from '../../model/exact-json.ts'
import { type Field, isNumeric } from '../../model/field.ts'
import { LODESTONE, RDF, XSD } from '../../rdf/vocab.ts'
import type { AggregateCall, AlgebraExpression, OrderCondition, Variable } from '../../sparql/algebra.ts'
import {
  aggregate,
  apply,
  binary,
  COUNT_ALL,
  call,
  conditional,
  foldTerm,
  integer,
  iri,
  literal,
  not,
  type Projection,
  select,
  variable,
} from '../../sparql/build.ts'
import {
  type Aggregate,
  type Condition,
  fieldsOf,
  type Grouping,
  type GroupKey,
  type GroupQuery,
  planParts,
  type RowValue,
  type Scalar,
  scalarType,
} from '../plan.ts'
import type { PatternBuilder, ReadList } from './pattern-builder.ts'
import { filtered } from './records.ts'
import { arithmeticExpression, compileScalar, multiple, NOTHING } from './scalar.ts'
import {
  type CompileTarget,
  doubleTerm,
  predicateOf,
  RECORD,
  type Statement,
  targetConstant,
} from './target.ts'

/** The aggregates of a query, each once, in the order of their variables. */
export function aggregatesOf(plan: GroupQuery): readonly Aggregate[] {
  const found = new Map<string, Aggregate>()
  const collect = (value: RowValue): void => {
    if (value.type === 'aggregate') found.set(exactJson(value.aggregate), value.aggregate)
    if (value.type === 'arithmetic') {
      collect(value.left)
      collect(value.right)
    }
  }
  for (const { value } of [...plan.select, ...plan.orderBy]) collect(value)
  return [...found.values()]
}

/** The index of an aggregate among those of its query. */
export function keyPosition(aggregate: Aggregate, aggregates: readonly Aggregate[]): number {
  const required = exactJson(aggregate)
  return aggregates.findIndex(known => exactJson(known) === required)
}

/** The variable of an aggregate. */
export const aggregateVariable = (index: number): string => `aggregate${index}`

/** The rows of a grouped query: keys and aggregates, in the requested order and then by their keys. */
export function compileGroups(plan: GroupQuery, target: CompileTarget): Statement {
  const body = filtered(plan, target)
  const keys = plan.keys.map((key, index) => compileKey(key, index, body, plan))
  const aggregates = aggregatesOf(plan)
  body.lists = []
  const operands = aggregates.map(each => operandOf(each, body))
  const computed = operands.map((operand, index) => ({
    variable: variable(aggregateVariable(index)),
    aggregate: aggregateOf(operand, operands, target),
  }))
  const keyVariables = new Map(keys.flatMap(({ variables }) => variables).map(each => [each.name, each]))
  const projection = [
    ...keys.flatMap(({ variables, names }) =>
      variables.map((value, at): Projection => ({ variable: names[at] ?? value, expression: value })),
    ),
    ...keys.flatMap(({ more }) => more),
    ...computed,
  ]
  // A row without aggregates is still a row.
  if (projection.length === 0) projection.push({ variable: variable('records'), aggregate: COUNT_ALL })
  const { limit, offset } = plan
  const modifiers =
    keys.length === 0
      ? {}
      : { groupBy: [...keyVariables.values()], orderBy: orderOf(plan, aggregates), limit, offset }
  return { name: 'groups', query: select(projection, body.patterns(), modifiers) }
}

function orderOf(plan: GroupQuery, aggregates: readonly Aggregate[]): readonly OrderCondition[] {
  return [
    ...plan.orderBy.map(({ value, descending }) => ({
      expression: rowValue(value, plan, aggregates),
      descending,
    })),
    ...plan.keys.flatMap(keyNames).map(name => ({ expression: variable(name), descending: false })),
  ]
}

function rowValue(value: RowValue, plan: GroupQuery, aggregates: readonly Aggregate[]): AlgebraExpression {
  switch (value.type) {
    case 'key': {
      const key = plan.keys[value.index]
      const [name] = key === undefined ? [] : keyNames(key, value.index)
      return variable(name ?? 'nothing')
    }
    case 'constant':
      return targetConstant(value.of, value.value)
    case 'aggregate':
      return variable(aggregateVariable(keyPosition(value.aggregate, aggregates)))
    case 'arithmetic': {
      const [left, right] = [value.left, value.right].map(side => double(rowValue(side, plan, aggregates)))
      return arithmeticExpression(value.operator, left as AlgebraExpression, right as AlgebraExpression)
    }
  }
}

function double(expression: AlgebraExpression): AlgebraExpression {
  return apply(XSD.double, expression)
}

/** What an aggregate reads: an expression, or null for records; and the lists of which it reads each value. */
interface Operand extends Aggregate {
  readonly value: AlgebraExpression | null
  readonly lists: readonly ReadList[]
}

function operandOf(each: Aggregate, body: PatternBuilder): Operand {
  const { of } = each
  if (of === null) return { ...each, value: null, lists: [] }
  if (each.name === 'count' && of.type === 'field' && of.field.multivalued)
    return { ...each, value: least(of.field, body.context.target), lists: [] }
  const compiled = compileScalar(of, body, 'optional')
  const value = body.bind(each.distinct ? withOneZero(of, compiled) : compiled, 'value')
  const names = fieldsOf(of).map(field => field.name)
  return { ...each, value, lists: body.lists?.filter(({ field }) => names.includes(field.name)) ?? [] }
}

/**
 * An aggregate of the records of a group; those without a value do not count, and an aggregate over no values is null. A record is
 * one solution for each combination of the values of the lists that are read, of which an aggregate takes one for each value of
 * its own lists, and a count one for each record.
 */
function aggregateOf(each: Operand, operands: readonly Operand[], target: CompileTarget): AggregateCall {
  const { name, of, rank, distinct, value, lists } = each
  if (distinct && of?.type === 'field' && of.field.multivalued)
    return aggregate(LODESTONE.countDistinct, RECORD, { parameters: [predicateOf(of.field, target)] })
  const own = name === 'count' && !distinct ? [] : lists
  const others = new Set(operands.flatMap(one => one.lists).filter(list => !own.includes(list)))
  const once = foldTerm(
    '&&',
    [...others].map(list => isFirst(list, target)),
  )
  if (value === null && once === null) return COUNT_ALL
  const all = value ?? integer(1)
  const operand = once === null ? all : conditional(once, all, NOTHING)
  switch (name) {
    case 'count':
      return aggregate('COUNT', operand, { distinct })
    case 'sum':
    case 'avg':
    case 'min':
    case 'max':
      return aggregate(OWN[name], operand, { distinct })
    case 'percentile':
      return aggregate(LODESTONE.percentile, operand, { parameters: [literal(String(rank), XSD.double)] })
    case 'envelope':
      return aggregate(LODESTONE.hull, operand)
    case 'bbox':
      return aggregate(LODESTONE.boundingBox, operand)
  }
}

/** True for one of the values of a list of a record, and for a record without any. */
function isFirst({ field, variable: each }: ReadList, target: CompileTarget): AlgebraExpression {
  return binary('||', not(call('BOUND', each)), binary('=', each, least(field, target)))
}

function least(field: Field, target: CompileTarget): AlgebraExpression {
  return apply(LODESTONE.least, RECORD, predicateOf(field, target))
}

/** SPARQL's own aggregates are errors where one value is an error; these skip such values. */
const OWN = {
  sum: LODESTONE.sum,
  avg: LODESTONE.average,
  min: LODESTONE.minimum,
  max: LODESTONE.maximum,
} as const

/** The variables of a key in the answer: one, or two for a cell, its row before its column. */
export function keyNames({ grouping }: GroupKey, index: number): readonly string[] {
  return grouping.type === 'cells' ? [`key${index}y`, `key${index}x`] : [`key${index}`]
}

/** The centre of a cell: mean longitude and latitude of its points. */
export const centroidName = (index: number, axis: 'lon' | 'lat'): string => `${axis}${index}`

/** A key of the rows: the expressions that the patterns are grouped by, and their names in the answer. */
interface CompiledKey {
  readonly variables: readonly Variable[]
  readonly names: readonly Variable[]
  /** Values that are computed in addition for the group: the centre of a cell. */
  readonly more: readonly Projection[]
}

/** Adds a key to the patterns. */
function compileKey(key: GroupKey, index: number, body: PatternBuilder, plan: GroupQuery): CompiledKey {
  const { grouping } = key
  const names = keyNames(key, index).map(variable)
  const isOptional = allowsNull(grouping, plan)
  const one = (expression: AlgebraExpression): CompiledKey => {
    const value = body.bind(expression, 'group')
    const isSure = grouping.type === 'value' && grouping.value.type === 'field'
    if (!isOptional && !isSure) body.test(call('BOUND', value))
    return { variables: [value], names, more: [] }
  }
  switch (grouping.type) {
    case 'value': {
      const { value } = grouping
      if (value.type === 'field' && value.field.multivalued && isOptional)
        return one(body.eachValue(value.field))
      return one(withOneZero(value, compileScalar(value, body, isOptional ? 'optional' : 'required')))
    }
    case 'steps':
      return one(step(grouping, compileScalar(grouping.value, body, 'required')))
    case 'width': {
      const value = compileScalar(grouping.value, body, isOptional ? 'optional' : 'required')
      if (grouping.unit === null)
        return one(withOneZero(grouping.value, call('FLOOR', multiple(grouping, value, body))))
      const zone = literal(body.context.timezone)
      const interval = grouping.unit in CLOCK_UNITS ? LODESTONE.intervalStart : LODESTONE.interval
      return one(apply(interval, value, integer(grouping.width), literal(grouping.unit), zone))
    }
    case 'cells': {
      const point = body.value(grouping.field, 'required')
      const [lon, lat] = [apply(LODESTONE.longitude, point), apply(LODESTONE.latitude, point)]
      const cell = (axis: AlgebraExpression) =>
        body.bind(call('FLOOR', binary('/', axis, doubleTerm(grouping.degrees))), 'cell')
      return {
        variables: [cell(lat), cell(lon)],
        names,
        more: [
          { variable: variable(centroidName(index, 'lon')), aggregate: aggregate('AVG', lon) },
          { variable: variable(centroidName(index, 'lat')), aggregate: aggregate('AVG', lat) },
        ],
      }
    }
  }
}

/** A number whose zero has no sign: groups and distinct values tell -0 from 0. No stored number is -0, computed ones can be. */
function withOneZero(scalar: Scalar, value: AlgebraExpression): AlgebraExpression {
  const isComputed = scalar.type === 'arithmetic' || scalar.type === 'function' || scalar.type === 'choice'
  const isSigned = isComputed && isNumeric(scalarType(scalar)) && hasDoubles(scalar)
  return isSigned ? binary('+', value, integer(0)) : value
}

/** True for a number that is a double, or computed from one by a cast; other integers have no -0. */
function hasDoubles(node: Scalar | Condition): boolean {
  const isCast = node.type === 'function' && node.name === 'int'
  const isDouble = node.type === 'arithmetic' ? node.of !== 'int' : 'of' in node && node.of === 'double'
  return isCast || isDouble || planParts(node).some(hasDoubles)
}

/** Static ranges exclude values outside all of them, and so missing values; cells exclude records without a position. */
function allowsNull(grouping: Grouping, plan: GroupQuery): boolean {
  return plan.nullGroups && grouping.type !== 'steps' && grouping.type !== 'cells'
}

/** The index, from 0, of the half-open step that contains a value; unbound for a value in none. */
function step(
  { edges, value: of }: Extract<Grouping, { type: 'steps' }>,
  value: AlgebraExpression,
): AlgebraExpression {
  const type = scalarType(of)
  const terms = edges.map(edge => {
    if (edge === null) return iri(RDF.nil)
    return typeof edge === 'number' ? doubleTerm(edge) : targetConstant(type, edge)
  })
  return apply(LODESTONE.step, value, ...terms)
}
