import { XSD } from '../../rdf/vocab.ts'
import type { Expression } from '../../sparql/algebra.ts'
import { apply, binary, call, conditional, integer, iri, literal } from '../../sparql/build.ts'
import { type Scalar, scalarType } from '../plan.ts'
import { add, subtract, times } from './arithmetic.ts'
import type { Body } from './body.ts'
import { dayNumber } from './calendar.ts'
import { type Clock, clockOf } from './clock.ts'
import { doubleTerm } from './scope.ts'

type Call = Extract<Scalar, { readonly type: 'function' }>

/** What a value is where it is none: what it stands in is null. A variable that nothing binds would do, but not beside aggregates. */
export const NOTHING: Expression = binary('/', integer(1), integer(0))

/** A function of values (see FunctionName); its arguments are compiled, and each has a value or is an error. */
export function compileFunction(scalar: Call, args: readonly Expression[], body: Body): Expression {
  const [first = NOTHING, second = NOTHING, third] = args
  const [operand] = scalar.arguments
  switch (scalar.name) {
    case 'concat':
      return call('CONCAT', ...args)
    case 'upper':
      return call('UCASE', first)
    case 'trim':
      return call('REPLACE', first, literal(String.raw`^\s+|\s+$`), literal(''))
    case 'replace':
      return call('REPLACE', first, second, undollared(third ?? NOTHING), literal('q'))
    case 'contains':
      return call('CONTAINS', first, second)
    case 'startsWith':
      return call('STRSTARTS', first, second)
    case 'endsWith':
      return call('STRENDS', first, second)
    case 'matches':
      return call('REGEX', first, second)
    case 'indexOf':
      return indexOf(body.let(first, 'text'), body.let(second, 'part'))
    case 'substring':
      return substring(body.let(first, 'text'), body.let(second, 'start'), third)
    case 'floor':
      return call('FLOOR', first)
    case 'ceiling':
      return call('CEIL', first)
    case 'round':
      return awayFromZero(body.let(first, 'number'))
    case 'truncate':
      return truncated(body.let(first, 'number'))
    case 'divide':
      return binary('/', double(first), double(second))
    case 'quotient':
    case 'modulo': {
      const divisor = body.let(double(second), 'divisor')
      const whole = () => truncated(body.let(binary('/', double(first), divisor), 'quotient'))
      const value =
        scalar.name === 'quotient'
          ? whole()
          : binary('-', double(first), binary('*', divisor, body.let(whole(), 'whole')))
      return conditional(binary('=', divisor, integer(0)), NOTHING, value)
    }
    case 'remainder': {
      const [dividend, divisor] = [body.let(double(first), 'dividend'), body.let(double(second), 'divisor')]
      const whole = body.let(truncated(body.let(binary('/', dividend, divisor), 'quotient')), 'whole')
      return binary('-', dividend, binary('*', divisor, whole))
    }
    case 'day':
      if (operand !== undefined && scalarType(operand) === 'date') return first
      return call('STRDT', call('STRBEFORE', call('STR', first), literal('T')), iri(XSD.date))
    case 'secondOfDay':
      return operand === undefined ? NOTHING : double(secondOfDay(clockOf(operand, first, body)))
    case 'fraction': {
      if (operand === undefined) return NOTHING
      const clock = clockOf(operand, first, body)
      return double(subtract(clock.seconds(), clock.second()))
    }
    case 'epoch': {
      if (operand === undefined) return NOTHING
      const moment = body.let(first, 'moment')
      const clock = clockOf(operand, moment, body)
      return add(times(double(dayNumber(clock, body)), 86_400), secondOfDay(clock))
    }
    case 'text':
      return call('STR', first)
    default:
      return cast(scalar.name, operand, body.let(first, 'value'))
  }
}

/** A value as one of another type: null where it cannot be one. */
function cast(
  to: 'int' | 'double' | 'boolean' | 'date' | 'datetime',
  operand: Scalar | undefined,
  value: Expression,
): Expression {
  const from = operand === undefined ? 'text' : scalarType(operand)
  if (from === to) return value
  switch (to) {
    case 'int':
      return from === 'text' ? apply(XSD.integer, value) : truncated(double(value))
    case 'double':
      return apply(XSD.double, value)
    case 'boolean': {
      const is = (text: string) => binary('=', call('STR', value), literal(text))
      return conditional(
        is('true'),
        literal('true', XSD.boolean),
        conditional(is('false'), literal('false', XSD.boolean), NOTHING),
      )
    }
    case 'date':
      if (from !== 'datetime') return apply(XSD.date, value)
      return call('STRDT', call('STRBEFORE', call('STR', value), literal('T')), iri(XSD.date))
    case 'datetime':
      if (from !== 'date') return apply(XSD.dateTime, value)
      return apply(XSD.dateTime, call('CONCAT', call('STR', value), literal('T00:00:00Z')))
    default:
      return to satisfies never
  }
}

/** The store reads groups in the new text also where the pattern has none. */
function undollared(text: Expression): Expression {
  if (text.type === 'literal') return literal(text.value.replaceAll('$', '$$$$'))
  return call('REPLACE', text, literal(String.raw`\$`), literal('$$$$'))
}

function indexOf(text: Expression, part: Expression): Expression {
  return conditional(
    call('CONTAINS', text, part),
    call('STRLEN', call('STRBEFORE', text, part)),
    literal('-1', XSD.integer),
  )
}

/** SPARQL counts characters from 1, gives nothing for a start before them, and knows no start from the end. */
function substring(text: Expression, start: Expression, length: Expression | undefined): Expression {
  const fromEnd = binary('+', call('STRLEN', text), start)
  const negative = conditional(binary('<', fromEnd, integer(0)), integer(0), fromEnd)
  const constant = start.type === 'literal' ? Number(start.value) : null
  const first = constant === null ? conditional(binary('<', start, integer(0)), negative, start) : start
  const from = add(apply(XSD.integer, constant !== null && constant < 0 ? negative : first), 1)
  return call('SUBSTR', text, from, ...(length === undefined ? [] : [apply(XSD.integer, length)]))
}

/** Stores differ in how they round the half of a negative number; that of a positive one they all round up. */
function awayFromZero(number: Expression): Expression {
  const negative = binary('-', integer(0), call('ROUND', binary('-', integer(0), number)))
  return conditional(binary('<', number, integer(0)), negative, call('ROUND', number))
}

function truncated(number: Expression): Expression {
  return conditional(binary('<', number, integer(0)), call('CEIL', number), call('FLOOR', number))
}

function secondOfDay(clock: Clock): Expression {
  return add(times(add(times(clock.hour(), 60), clock.minute()), 60), clock.seconds())
}

function double(value: Expression): Expression {
  return value.type === 'literal' ? doubleTerm(Number(value.value)) : apply(XSD.double, value)
}
