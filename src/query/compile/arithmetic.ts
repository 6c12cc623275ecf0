import { XSD } from '../../rdf/vocab.ts'
import type { Expression } from '../../sparql/algebra.ts'
import { apply, binary, call, integer } from '../../sparql/build.ts'

/** Whole-number arithmetic as SPARQL expressions, short to write. */
export const add = (a: Expression, b: Expression | number): Expression => binary('+', a, term(b))

export const subtract = (a: Expression | number, b: Expression | number): Expression =>
  binary('-', term(a), term(b))

export const times = (a: Expression, b: number): Expression => binary('*', a, integer(b))

export const equals = (a: Expression, b: number): Expression =>
  b < 0 ? binary('=', binary('+', a, integer(-b)), integer(0)) : binary('=', a, integer(b))

export const and = (a: Expression, b: Expression): Expression => binary('&&', a, b)

const term = (value: Expression | number): Expression => (typeof value === 'number' ? integer(value) : value)

/**
 * The whole quotient, also of a negative number, as a double: division of doubles is twice as fast as that of integers,
 * and the cast back to an integer is wrong for some of them in Oxigraph 0.5 (2505 becomes 2504).
 */
export function quotient(a: Expression, by: number): Expression {
  return call('FLOOR', binary('/', apply(XSD.double, a), integer(by)))
}

export function remainder(a: Expression, by: number): Expression {
  return subtract(a, times(quotient(a, by), by))
}

/** True for a leap year of the Gregorian calendar. */
export function isLeap(year: Expression): Expression {
  const divides = (by: number) => equals(remainder(year, by), 0)
  return and(divides(4), binary('||', binary('!=', remainder(year, 100), integer(0)), divides(400)))
}

/** Seconds without their fraction. */
export function wholeSeconds(seconds: Expression): Expression {
  return call('FLOOR', seconds)
}
