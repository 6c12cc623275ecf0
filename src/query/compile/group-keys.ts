import type { FieldType } from '../../model/field.ts'
import { XSD } from '../../rdf/vocab.ts'
import type { Expression, Projection, Variable } from '../../sparql/algebra.ts'
import { apply, binary, call, conditional, integer, variable } from '../../sparql/build.ts'
import {
  type Constant,
  type Grouping,
  type GroupKey,
  type GroupQuery,
  type IntervalUnit,
  scalarType,
} from '../plan.ts'
import { add, quotient, subtract, times } from './arithmetic.ts'
import type { Body } from './body.ts'
import { dayNumber } from './calendar.ts'
import { type Clock, clockOf } from './clock.ts'
import { requiredFields } from './drives.ts'
import { NOTHING } from './functions.ts'
import { position } from './position.ts'
import { compileScalar } from './scalar.ts'
import { constantTerm, doubleTerm, type Scope } from './scope.ts'

/** The variables under which the answer gives a key: one, or two for a cell, its row before its column. */
export function keyNames({ grouping }: GroupKey, index: number): readonly string[] {
  return grouping.type === 'cells' ? [`key${index}y`, `key${index}x`] : [`key${index}`]
}

/** The middle of a cell: mean longitude and latitude of its points. */
export const middleName = (index: number, axis: 'lon' | 'lat'): string => `${axis}${index}`

/** True where every record that counts has the key, so that its values find the records. */
export function findsRecords({ grouping }: GroupKey, plan: GroupQuery, scope: Scope): boolean {
  const fields = grouping.type === 'cells' ? [grouping.field] : requiredFields(grouping.value)
  const known = fields.filter(field => scope.statistics(field) !== undefined)
  return known.length > 0 && (!allowsNull(grouping, plan) || known.every(field => scope.isComplete(field)))
}

/** Static ranges leave out what lies in none of them, and so what has no value; cells what has no position. */
function allowsNull(grouping: Grouping, plan: GroupQuery): boolean {
  return plan.nullGroups && grouping.type !== 'steps' && grouping.type !== 'cells'
}

/** A key of the rows: what the patterns are grouped by, and the names that the answer gives it. */
export interface CompiledKey {
  readonly variables: readonly Variable[]
  readonly names: readonly Variable[]
  /** What is told of the group beside: the middle of a cell. */
  readonly more: readonly Projection[]
}

/** Computes a key in a body. */
export function compileKey(key: GroupKey, index: number, body: Body, plan: GroupQuery): CompiledKey {
  const { grouping } = key
  const names = keyNames(key, index).map(variable)
  const need = allowsNull(grouping, plan) ? 'optional' : 'required'
  const one = (expression: Expression, sure: boolean): CompiledKey => {
    const value = body.hold(expression, 'group')
    if (need === 'required' && !sure) body.test(call('BOUND', value))
    return { variables: [value], names, more: [] }
  }
  switch (grouping.type) {
    case 'value':
      return one(compileScalar(grouping.value, body, need), grouping.value.type === 'field')
    case 'steps': {
      const value = body.let(compileScalar(grouping.value, body, 'required'), 'value')
      const isOpen = grouping.edges[0] === null && grouping.edges.at(-1) === null
      const sure = isOpen && grouping.value.type === 'field'
      return one(step(grouping.edges, scalarType(grouping.value), value), sure)
    }
    case 'width':
      return one(lot(grouping, compileScalar(grouping.value, body, need), body), false)
    case 'cells': {
      const place = position(body.value(grouping.field, 'required'), body)
      const [lon, lat] = [place.lon(), place.lat()]
      const cell = (axis: Expression) =>
        body.hold(call('FLOOR', binary('/', axis, doubleTerm(grouping.degrees))), 'cell')
      const mean = (operand: Expression): Expression => ({
        type: 'aggregate',
        name: 'AVG',
        distinct: false,
        operand,
      })
      return {
        variables: [cell(lat), cell(lon)],
        names,
        more: [
          { variable: variable(middleName(index, 'lon')), expression: mean(lon) },
          { variable: variable(middleName(index, 'lat')), expression: mean(lat) },
        ],
      }
    }
    default:
      return grouping satisfies never
  }
}

/** Which of some half-open steps a value lies in, by its place; nothing for a value in none. */
function step(edges: readonly (Constant | null)[], type: FieldType, value: Expression): Expression {
  const choose = (low: number, high: number): Expression => {
    if (low > high) return NOTHING
    if (low === high) return integer(low)
    const middle = Math.floor((low + high + 1) / 2)
    return conditional(
      binary('<', value, edgeTerm(edges[middle], type)),
      choose(low, middle - 1),
      choose(middle, high),
    )
  }
  const inside = choose(0, edges.length - 2)
  const [first, last] = [edges[0], edges.at(-1)]
  const above =
    last === null || last === undefined
      ? inside
      : conditional(binary('<', value, edgeTerm(last, type)), inside, NOTHING)
  return first === null || first === undefined
    ? above
    : conditional(binary('>=', value, edgeTerm(first, type)), above, NOTHING)
}

function edgeTerm(edge: Constant | null | undefined, type: FieldType): Expression {
  if (edge === null || edge === undefined) throw new Error('an open end has no term')
  return typeof edge === 'number' ? doubleTerm(edge) : constantTerm(type, edge)
}

/** Number of the step of one width that a value lies in. */
function lot(grouping: Extract<Grouping, { type: 'width' }>, value: Expression, body: Body): Expression {
  const { unit, width } = grouping
  if (unit === null) return call('FLOOR', binary('/', apply(XSD.double, value), doubleTerm(width)))
  const count = elapsed(unit, clockOf(grouping.value, value, body), body)
  return width === 1 ? count : quotient(count, width)
}

/** Units from the epoch of the calendar, or from year 0 for months and longer, to the time of a clock. */
function elapsed(unit: IntervalUnit, clock: Clock, body: Body): Expression {
  const days = () => dayNumber(clock, body)
  const within = (outer: Expression, units: number, inner: Expression): Expression =>
    add(times(outer, units), inner)
  const hours = () => within(days(), 24, clock.hour())
  const minutes = () => within(hours(), 60, clock.minute())
  switch (unit) {
    case 'year':
      return clock.year()
    case 'quarter':
      return within(clock.year(), 4, quotient(subtract(clock.month(), 1), 3))
    case 'month':
      return within(clock.year(), 12, subtract(clock.month(), 1))
    case 'week':
      return quotient(add(days(), 3), 7)
    case 'day':
      return days()
    case 'hour':
      return hours()
    case 'minute':
      return minutes()
    case 'second':
      return within(minutes(), 60, clock.second())
    case 'millisecond':
      return within(minutes(), 60_000, call('FLOOR', times(clock.seconds(), 1000)))
    default:
      return unit satisfies never
  }
}
