import { exactJson } from '../../model/exact-json.ts'
import { LODESTONE, XSD } from '../../rdf/vocab.ts'
import type { AstExpression, OrderKey, Projection, SelectQuery } from '../../sparql/ast.ts'
import { apply, literal, variable } from '../../sparql/build.ts'
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
export const aggregateVariable = (index: number): string => `figure${index}`

/** The rows of a grouped query: keys and aggregates, in the requested order and then by their keys. */
export function compileGroups(plan: GroupQuery, target: CompileTarget): Statement<SelectQuery> {
  const body = filtered(plan, target)
  const keys = plan.keys.map((key, index) => compileKey(key, index, body, plan))
  const aggregates = aggregatesOf(plan)
  const projections = aggregates.map(
    (aggregate, index): Projection => ({
      variable: variable(aggregateVariable(index)),
      expression: aggregateOf(aggregate, body),
    }),
  )
  const keyVariables = new Map(keys.flatMap(({ variables }) => variables).map(each => [each.name, each]))
  const projection = [
    ...keys.flatMap(({ variables, names }) =>
      variables.map((value, at): Projection => ({ variable: names[at] ?? value, expression: value })),
    ),
    ...keys.flatMap(({ more }) => more),
    ...projections,
  ]
  const query: SelectQuery = {
    type: 'select',
    // A row without aggregates is still a row.
    projection:
      projection.length > 0 ? projection : [{ variable: variable('records'), expression: COUNT_ALL }],
    where: body.patterns(),
    groupBy: [...keyVariables.values()].map(value => ({ variable: value })),
  }
  return { name: 'groups', query: ordered(query, plan, aggregates) }
}

const COUNT_ALL: AstExpression = { type: 'aggregate', name: 'COUNT', distinct: false, operand: null }

function ordered(query: SelectQuery, plan: GroupQuery, aggregates: readonly Aggregate[]): SelectQuery {
  if (plan.keys.length === 0) return query
  const byKeys = plan.keys
    .flatMap(keyNames)
    .map((name): OrderKey => ({ expression: variable(name), descending: false }))
  const requested = plan.orderBy.map(
    ({ value, descending }): OrderKey => ({ expression: rowValue(value, plan, aggregates), descending }),
  )
  const { limit, offset } = plan
  return { ...query, orderBy: [...requested, ...byKeys], ...(limit === null ? {} : { limit }), offset }
}

/** A value of a row from the variables of its keys and aggregates. */
function rowValue(value: RowValue, plan: GroupQuery, aggregates: readonly Aggregate[]): AstExpression {
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
      return arithmeticExpression(value.operator, left as AstExpression, right as AstExpression)
    }
    default:
      return value satisfies never
  }
}

function double(expression: AstExpression): AstExpression {
  return apply(XSD.double, expression)
}

/** An aggregate of the records of a group; those without a value do not count, and an aggregate over no values is null. */
function aggregateOf({ name, of, distinct, rank }: Aggregate, body: PatternBuilder): AstExpression {
  if (of === null) return COUNT_ALL
  const many = fieldsOf(of).find(({ multivalued }) => multivalued)
  if (many !== undefined && name === 'count') {
    const predicate = predicateOf(many, body.context.target)
    return distinct
      ? {
          type: 'aggregate',
          name: LODESTONE.countDistinct,
          distinct: false,
          operand: RECORD,
          parameters: [predicate],
        }
      : {
          type: 'aggregate',
          name: 'COUNT',
          distinct: false,
          operand: apply(LODESTONE.least, RECORD, predicate),
        }
  }
  const operand: AstExpression = body.bind(compileScalar(of, body, 'optional'), 'value')
  switch (name) {
    case 'count':
      return { type: 'aggregate', name: 'COUNT', distinct, operand }
    case 'sum':
    case 'avg':
    case 'min':
    case 'max':
      return { type: 'aggregate', name: OWN[name], distinct, operand }
    case 'percentile':
      return {
        type: 'aggregate',
        name: LODESTONE.percentile,
        distinct: false,
        operand,
        parameters: [literal(String(rank), XSD.double)],
      }
    case 'envelope':
      return { type: 'aggregate', name: LODESTONE.hull, distinct: false, operand }
    case 'bbox':
      return { type: 'aggregate', name: LODESTONE.boundingBox, distinct: false, operand }
    default:
      return name satisfies never
  }
}

/** SPARQL's own aggregates are errors where one value is an error; these skip such values. */
const OWN = {
  sum: LODESTONE.sum,
  avg: LODESTONE.average,
  min: LODESTONE.minimum,
  max: LODESTONE.maximum,
} as const
