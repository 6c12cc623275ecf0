import { LODESTONE, XSD } from '../../rdf/vocab.ts'
import type { AlgebraExpression } from '../../sparql/algebra.ts'
import { apply, binary, call, conditional, integer, iri, literal } from '../../sparql/build.ts'
import { type Scalar, scalarType } from '../plan.ts'
import { doubleTerm } from './target.ts'

type Call = Extract<Scalar, { readonly type: 'function' }>

/** Represents a missing value: an expression that contains it is null. */
export const NOTHING: AlgebraExpression = binary('/', integer(1), integer(0))

/** A function of values (see FunctionName); each of its arguments has a value or is an error. */
export function compileFunction(
  scalar: Call,
  args: readonly AlgebraExpression[],
  timezone: string,
): AlgebraExpression {
  const [first = NOTHING, second = NOTHING, third] = args
  const [operand] = scalar.arguments
  switch (scalar.name) {
    case 'concat':
      return call('CONCAT', ...args)
    case 'upper':
      return call('UCASE', first)
    case 'trim':
      return apply(LODESTONE.trim, first)
    case 'replace':
      return apply(LODESTONE.replace, first, second, third ?? NOTHING)
    case 'contains':
      return call('CONTAINS', first, second)
    case 'startsWith':
      return call('STRSTARTS', first, second)
    case 'endsWith':
      return call('STRENDS', first, second)
    case 'matches':
      return call('REGEX', first, second)
    case 'indexOf':
      return apply(LODESTONE.indexOf, first, second)
    case 'substring':
      return apply(LODESTONE.substring, first, second, ...(third === undefined ? [] : [third]))
    case 'floor':
      return call('FLOOR', first)
    case 'ceiling':
      return call('CEIL', first)
    case 'round':
      return apply(LODESTONE.roundAway, first)
    case 'truncate':
      return apply(LODESTONE.truncate, first)
    case 'divide':
      return binary('/', double(first), double(second))
    case 'quotient':
      return apply(LODESTONE.quotient, first, second)
    case 'modulo':
      return apply(LODESTONE.modulo, first, second)
    case 'remainder':
      return apply(LODESTONE.remainder, first, second)
    case 'day':
      return operand !== undefined && scalarType(operand) === 'date' ? first : dayOf(first)
    case 'secondOfDay':
      return apply(LODESTONE.secondOfDay, first, literal(timezone))
    case 'fraction':
      return apply(LODESTONE.fraction, first)
    case 'epoch':
      return apply(LODESTONE.epoch, first)
    case 'text':
      return call('STR', first)
    default:
      return cast(scalar.name, operand, first)
  }
}

function dayOf(moment: AlgebraExpression): AlgebraExpression {
  return call('STRDT', call('STRBEFORE', call('STR', moment), literal('T')), iri(XSD.date))
}

/** Converts a value to another type: null where that is impossible. */
function cast(
  to: 'int' | 'double' | 'boolean' | 'date' | 'datetime',
  operand: Scalar | undefined,
  value: AlgebraExpression,
): AlgebraExpression {
  const from = operand === undefined ? 'text' : scalarType(operand)
  if (from === to) return value
  switch (to) {
    case 'int':
      return from === 'text' ? apply(XSD.integer, value) : apply(LODESTONE.truncate, double(value))
    case 'double':
      return apply(XSD.double, value)
    case 'boolean': {
      const is = (text: string) => binary('=', call('STR', value), literal(text))
      const no = conditional(is('false'), literal('false', XSD.boolean), NOTHING)
      return conditional(is('true'), literal('true', XSD.boolean), no)
    }
    case 'date':
      return from === 'datetime' ? dayOf(value) : apply(XSD.date, value)
    case 'datetime':
      if (from !== 'date') return apply(XSD.dateTime, value)
      return apply(XSD.dateTime, call('CONCAT', call('STR', value), literal('T00:00:00Z')))
  }
}

function double(value: AlgebraExpression): AlgebraExpression {
  return value.type === 'literal' ? doubleTerm(Number(value.value)) : apply(XSD.double, value)
}
