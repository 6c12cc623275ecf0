import { storedPosition } from '../../model/positions.ts'
import { XSD } from '../../rdf/vocab.ts'
import type { Expression, OrderKey } from '../../sparql/algebra.ts'
import { apply, binary, call, inGraph, not, optional, subquery, triple } from '../../sparql/build.ts'
import type { Ordering, RecordQuery, Scalar } from '../plan.ts'
import { technicalName } from '../technical.ts'
import type { Body } from './body.ts'
import { compileScalar } from './scalar.ts'
import { constantTerm, RECORD, type Scope } from './scope.ts'

/** True for an order by single values of the records themselves: equal ones are equal terms. */
export function isPlainOrder({ orderBy }: RecordQuery): boolean {
  return orderBy.every(({ value }) => value.type === 'field' && !value.field.multivalued)
}

/** The name of the variable of a key of an order. */
export function keyName(index: number): string {
  return `key_${index}`
}

/** The keys of an order as the store sorts by them; what they read is joined to the body. */
export function sortKeys(plan: RecordQuery, body: Body): readonly OrderKey[] {
  return plan.orderBy.flatMap(ordering => orderKeys(ordering, body))
}

/** True where records without a value may be the first of an order. */
export function beginsAbsent({ value, descending, absent }: Ordering, scope: Scope): boolean {
  if (absent !== 'lowest' || descending) return false
  return (
    value.type !== 'field' || (technicalName(value.field) === undefined && !scope.isComplete(value.field))
  )
}

/** For absent values last in both directions, a key that says "absent" goes before the value itself. */
function orderKeys({ value, descending, absent }: Ordering, body: Body): readonly OrderKey[] {
  if (value.type === 'random') return [{ expression: chance(value.seed, body), descending: false }]
  const key = sortValue(value, descending, body)
  const isSure = value.type === 'field' && !value.field.multivalued && isAlwaysThere(value, body)
  const last: OrderKey = { expression: not(call('BOUND', key)), descending: false }
  return isSure || absent === 'lowest'
    ? [{ expression: key, descending }]
    : [last, { expression: key, descending }]
}

function isAlwaysThere(value: Extract<Scalar, { type: 'field' }>, body: Body): boolean {
  return technicalName(value.field) !== undefined || body.scope.isComplete(value.field)
}

/** The value to sort by: of a field with many values the smallest, or the largest in a descending order. */
export function sortValue(value: Scalar, descending: boolean, body: Body): Expression {
  const { scope } = body
  if (value.type !== 'field' || !value.field.multivalued) {
    const compiled = compileScalar(value, body, 'optional')
    return compiled.type === 'variable' ? compiled : body.let(call('COALESCE', compiled), 'key')
  }
  const [key, element] = [scope.fresh('key'), scope.fresh('element')]
  const extreme: Expression = {
    type: 'aggregate',
    name: descending ? 'MAX' : 'MIN',
    distinct: false,
    operand: element,
  }
  const grouped = subquery({
    type: 'select',
    projection: [{ variable: RECORD }, { variable: key, expression: extreme }],
    where: [inGraph(scope.target.graphs.facts, triple(RECORD, scope.predicate(value.field), element))],
    groupBy: [{ variable: RECORD }],
  })
  body.join(optional(grouped))
  return key
}

const MODULUS = 2_147_483_647

/** A number that looks like chance, made from the position and the seed; all products stay whole in a double. */
function chance(seed: number, body: Body): Expression {
  const start = (((seed % MODULUS) + MODULUS) * 7919) % MODULUS
  const double = (value: number): Expression => constantTerm('double', value)
  const modulo = (value: Expression, by: number): Expression => {
    const number = body.let(value, 'number')
    const quotient = call('FLOOR', binary('/', number, double(by)))
    return body.let(binary('-', number, binary('*', quotient, double(by))), 'chance')
  }
  const position = binary('+', apply(XSD.double, body.position()), double(start - storedPosition(0)))
  const first = modulo(binary('*', position, double(48_271)), MODULUS)
  const factor = binary('+', modulo(first, 9973), double(1))
  return modulo(binary('*', first, factor), MODULUS)
}
