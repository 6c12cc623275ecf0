import { exactJson } from '../../model/exact-json.ts'
import { LODESTONE, XSD } from '../../rdf/vocab.ts'
import type { AggregateCall, AlgebraExpression, OrderCondition } from '../../sparql/algebra.ts'
import {
  aggregate,
  apply,
  COUNT_ALL,
  literal,
  type Projection,
  select,
  variable,
} from '../../sparql/build.ts'
import { type Aggregate, fieldsOf, type GroupQuery, type RowValue } from '../plan.ts'
import { compileKey, keyNames } from './group-keys.ts'
import type { PatternBuilder } from './pattern-builder.ts'
import { filtered } from './records.ts'
import { arithmeticExpression, compileScalar } from './scalar.ts'
import { type CompileTarget, predicateOf, RECORD, type Statement, targetConstant } from './target.ts'

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
  const computed = aggregates.map((each, index) => ({
    variable: variable(aggregateVariable(index)),
    aggregate: aggregateOf(each, body),
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

/** An aggregate of the records of a group; those without a value do not count, and an aggregate over no values is null. */
function aggregateOf({ name, of, distinct, rank }: Aggregate, body: PatternBuilder): AggregateCall {
  if (of === null) return COUNT_ALL
  const many = fieldsOf(of).find(({ multivalued }) => multivalued)
  if (many !== undefined && name === 'count') {
    const predicate = predicateOf(many, body.context.target)
    return distinct
      ? aggregate(LODESTONE.countDistinct, RECORD, { parameters: [predicate] })
      : aggregate('COUNT', apply(LODESTONE.least, RECORD, predicate))
  }
  const operand = body.bind(compileScalar(of, body, 'optional'), 'value')
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

/** SPARQL's own aggregates are errors where one value is an error; these skip such values. */
const OWN = {
  sum: LODESTONE.sum,
  avg: LODESTONE.average,
  min: LODESTONE.minimum,
  max: LODESTONE.maximum,
} as const
