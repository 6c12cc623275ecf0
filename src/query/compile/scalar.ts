import { type FieldType, isNumeric } from '../../model/field.ts'
import { GEOF, UOM, XSD } from '../../rdf/vocab.ts'
import type { Expression } from '../../sparql/algebra.ts'
import { apply, binary, call, conditional, integer, iri } from '../../sparql/build.ts'
import { type DatePart, fieldsOf, type Scalar, scalarType } from '../plan.ts'
import { subtract, times } from './arithmetic.ts'
import type { Body, Need } from './body.ts'
import { clockOf } from './clock.ts'
import { dateFormat } from './date-format.ts'
import { constantTerm, doubleTerm, geometryTerm } from './scope.ts'

/** An error: what it stands in is null. A variable that nothing binds would do, but not beside aggregates. */
export const NOTHING: Expression = binary('/', integer(1), integer(0))

/** A value of a record as an expression; what it reads is joined to the body. */
export function compileScalar(scalar: Scalar, body: Body, need: Need): Expression {
  switch (scalar.type) {
    case 'field':
      return body.value(scalar.field, need)
    case 'constant':
      return constantTerm(scalar.of, scalar.value)
    case 'arithmetic': {
      const left = number(scalar.left, body, need)
      const right = number(scalar.right, body, need)
      return arithmetic(scalar.operator, left, right, body)
    }
    case 'length':
      return call('STRLEN', compileScalar(scalar.operand, body, need))
    case 'lower':
      return call('LCASE', compileScalar(scalar.operand, body, need))
    case 'datePart':
      return datePart(scalar.part, scalar.operand, body, need)
    case 'dateFormat':
      return dateFormat(scalar, body, compileScalar(scalar.operand, body, need))
    case 'ifNull':
      return call(
        'COALESCE',
        compileScalar(scalar.operand, body, 'optional'),
        sameType(scalar.other, scalarType(scalar.operand), body),
      )
    case 'distance':
      return apply(
        GEOF.distance,
        body.value(scalar.field, need),
        geometryTerm({ type: 'Point', coordinates: [scalar.point.lon, scalar.point.lat] }),
        iri(UOM.metre),
      )
    case 'json':
      return compileScalar(scalar.operand, body, need)
    default:
      return scalar satisfies never
  }
}

/** One number beside another: integers overflow where doubles do not, and divide into decimals of few digits. */
export function arithmetic(
  operator: '+' | '-' | '*' | '/',
  left: Expression,
  right: Expression,
  body: Body,
): Expression {
  if (operator !== '/') return binary(operator, left, right)
  if (right.type === 'literal') return Number(right.value) === 0 ? NOTHING : binary('/', left, right)
  const divisor = body.let(right, 'divisor')
  return conditional(binary('=', divisor, integer(0)), NOTHING, binary('/', left, divisor))
}

function number(scalar: Scalar, body: Body, need: Need): Expression {
  if (scalar.type === 'constant') return doubleTerm(Number(scalar.value))
  const value = compileScalar(scalar, body, need)
  return scalar.type === 'arithmetic' || scalarType(scalar) === 'double' ? value : apply(XSD.double, value)
}

/** A value in the type of another beside it: the store groups 8 and 8.0 apart. */
function sameType(scalar: Scalar, type: FieldType, body: Body): Expression {
  if (type !== 'double' || !isNumeric(scalarType(scalar))) return compileScalar(scalar, body, 'optional')
  return number(scalar, body, 'optional')
}

function datePart(part: DatePart, operand: Scalar, body: Body, need: Need): Expression {
  const value = body.let(compileScalar(operand, body, need), 'moment')
  const clock = clockOf(operand, value, body)
  switch (part) {
    case 'millisecond': {
      const fraction = subtract(clock.seconds(), clock.second())
      return binary('+', call('FLOOR', times(fraction, 1000)), binary('*', integer(0), call('DAY', value)))
    }
    default:
      return orNull(clock[part](), value)
  }
}

/** What is the same for every date is still null where there is none. */
function orNull(part: Expression, date: Expression): Expression {
  if (part.type !== 'literal') return part
  return binary('*', integer(0), call('DAY', date))
}

/** True where every field of a scalar has one value at most. */
export function isSingle(scalar: Scalar): boolean {
  return fieldsOf(scalar).every(({ multivalued }) => !multivalued)
}
