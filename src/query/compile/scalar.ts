import { exactJson } from '../../model/exact-json.ts'
import { type FieldType, isNumeric } from '../../model/field.ts'
import { GEOF, UOM, XSD } from '../../rdf/vocab.ts'
import type { Expression } from '../../sparql/algebra.ts'
import {
  apply,
  binary,
  call,
  conditional,
  fold,
  integer,
  iri,
  literal,
  not,
  optional,
  subquery,
} from '../../sparql/build.ts'
import {
  type Condition,
  type DatePart,
  fieldsOf,
  fieldsOfCondition,
  type Scalar,
  scalarType,
} from '../plan.ts'
import { subtract, times } from './arithmetic.ts'
import { Body, type Need } from './body.ts'
import { clockOf } from './clock.ts'
import { dateFormat } from './date-format.ts'
import { compileFunction, NOTHING } from './functions.ts'
import { position } from './position.ts'
import { constantTerm, doubleTerm, geometryTerm, RECORD } from './scope.ts'

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
    case 'function': {
      const args = scalar.arguments.map(argument => compileScalar(argument, body, need))
      return compileFunction(scalar, args, body)
    }
    case 'coordinate':
      return position(body.value(scalar.field, need), body)[scalar.axis]()
    case 'valueCount':
      return call('COALESCE', valueCount(scalar, body), integer(0))
    case 'element':
      return body.scope.element(scalar.number)
    case 'truth':
      return truth(scalar, body)
    case 'choice':
      return choice(scalar, body)
    default:
      return scalar satisfies never
  }
}

/** How many values of a field a record has that satisfy a condition, unbound for none. */
function valueCount(
  { field, where }: Extract<Scalar, { readonly type: 'valueCount' }>,
  body: Body,
): Expression {
  const { scope } = body
  return body.share(`count ${field.name} ${exactJson(where ?? null)}`, () => {
    const inner = new Body(scope)
    const [count, element] = [scope.fresh('count'), inner.value(field, 'required')]
    if (where !== undefined) {
      scope.setElement(where.number, element)
      inner.test(elementTest(where.condition, inner))
    }
    const expression: Expression = { type: 'aggregate', name: 'COUNT', distinct: false, operand: element }
    const counted = subquery({
      type: 'select',
      projection: [{ variable: RECORD }, { variable: count, expression }],
      where: inner.patterns(),
      groupBy: [{ variable: RECORD }],
    })
    body.option(optional(counted))
    return count
  })
}

/** What is asked of the value alone is tested where it stands; all else as any condition of the record. */
function elementTest(condition: Condition, body: Body): Expression {
  switch (condition.type) {
    case 'and':
    case 'or': {
      const operator = condition.type === 'and' ? '&&' : '||'
      const tests = condition.operands.map(operand => elementTest(operand, body))
      return fold(operator, tests) ?? literal(String(condition.type === 'and'), XSD.boolean)
    }
    case 'not':
      return not(elementTest(condition.operand, body))
    case 'relation': {
      const { left, operator, right } = condition
      if (fieldsOfCondition(condition).length > 0) return body.scope.test(condition, body.scope)
      const [first, second] = [left, right].map(side => compileScalar(side, body, 'optional'))
      const test = binary(operator, first ?? NOTHING, second ?? NOTHING)
      return call('COALESCE', test, literal('false', XSD.boolean))
    }
    default:
      return body.scope.test(condition, body.scope)
  }
}

function choice({ branches }: Extract<Scalar, { readonly type: 'choice' }>, body: Body): Expression {
  const { scope } = body
  return branches.reduceRight<Expression>(
    (other, { when, value }) =>
      conditional(scope.test(when, scope), compileScalar(value, body, 'optional'), other),
    NOTHING,
  )
}

function truth({ holds, fails }: Extract<Scalar, { readonly type: 'truth' }>, body: Body): Expression {
  const { scope } = body
  const no = conditional(scope.test(fails, scope), literal('false', XSD.boolean), NOTHING)
  return conditional(scope.test(holds, scope), literal('true', XSD.boolean), no)
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
