import { LODESTONE, RDF, XSD } from '../../rdf/vocab.ts'
import type { AlgebraExpression, Variable } from '../../sparql/algebra.ts'
import {
  aggregate,
  apply,
  binary,
  call,
  integer,
  iri,
  literal,
  type Projection,
  variable,
} from '../../sparql/build.ts'
import { type Grouping, type GroupKey, type GroupQuery, scalarType } from '../plan.ts'
import type { PatternBuilder } from './pattern-builder.ts'
import { compileScalar } from './scalar.ts'
import { doubleTerm, targetConstant } from './target.ts'

/** The variables of a key in the answer: one, or two for a cell, its row before its column. */
export function keyNames({ grouping }: GroupKey, index: number): readonly string[] {
  return grouping.type === 'cells' ? [`key${index}y`, `key${index}x`] : [`key${index}`]
}

/** The centre of a cell: mean longitude and latitude of its points. */
export const centroidName = (index: number, axis: 'lon' | 'lat'): string => `${axis}${index}`

type Width = Extract<Grouping, { readonly type: 'width' }>

/** A key of the rows: the expressions that the patterns are grouped by, and their names in the answer. */
export interface CompiledKey {
  readonly variables: readonly Variable[]
  readonly names: readonly Variable[]
  /** Values that are computed in addition for the group: the centre of a cell. */
  readonly more: readonly Projection[]
}

/** Adds a key to the patterns. */
export function compileKey(
  key: GroupKey,
  index: number,
  body: PatternBuilder,
  plan: GroupQuery,
): CompiledKey {
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
      return one(compileScalar(value, body, isOptional ? 'optional' : 'required'))
    }
    case 'steps':
      return one(step(grouping, compileScalar(grouping.value, body, 'required')))
    case 'width': {
      const value = compileScalar(grouping.value, body, isOptional ? 'optional' : 'required')
      if (grouping.unit === null) return one(call('FLOOR', multiple(grouping, value)))
      const zone = literal(body.context.timezone)
      return one(apply(LODESTONE.interval, value, integer(grouping.width), literal(grouping.unit), zone))
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

/** A number in steps of a width: of integers and a whole width exactly. */
function multiple({ width, value: of }: Width, value: AlgebraExpression): AlgebraExpression {
  const isWhole = scalarType(of) === 'int' && Number.isInteger(width)
  if (isWhole) return binary('/', value, integer(width))
  return binary('/', apply(XSD.double, value), doubleTerm(width))
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
