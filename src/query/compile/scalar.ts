import { type FieldType, isNumeric } from '../../model/field.ts'
import { GEOF, LODESTONE, UOM, XSD } from '../../rdf/vocab.ts'
import { type AlgebraExpression, operandsOf } from '../../sparql/algebra.ts'
import {
  aggregate,
  apply,
  binary,
  call,
  conditional,
  integer,
  iri,
  literal,
  select,
} from '../../sparql/build.ts'
import { type Condition, type FunctionName, type Scalar, scalarType } from '../plan.ts'
import { type Need, PatternBuilder } from './pattern-builder.ts'
import { doubleTerm, pointTerm, predicateOf, RECORD, targetConstant } from './target.ts'

/** A value of a record as an expression; the fields that it reads are added to the patterns. */
export function compileScalar(scalar: Scalar, body: PatternBuilder, need: Need): AlgebraExpression {
  const { context } = body
  switch (scalar.type) {
    case 'field':
      return body.value(scalar.field, need)
    case 'constant':
      return targetConstant(scalar.of, scalar.value)
    case 'arithmetic': {
      const operand = scalar.of === 'int' ? compileScalar : number
      return arithmeticExpression(
        scalar.operator,
        operand(scalar.left, body, need),
        operand(scalar.right, body, need),
      )
    }
    case 'datePart': {
      const operand = compileScalar(scalar.operand, body, need)
      return apply(LODESTONE.datePart, operand, literal(scalar.part), literal(context.timezone))
    }
    case 'dateFormat': {
      const operand = compileScalar(scalar.operand, body, need)
      const pattern = literal(JSON.stringify(scalar.parts))
      return apply(
        LODESTONE.dateFormat,
        operand,
        pattern,
        literal(scalar.language),
        literal(context.timezone),
      )
    }
    case 'ifNull':
      return call(
        'COALESCE',
        compileScalar(scalar.operand, body, 'optional'),
        sameType(scalar.other, scalarType(scalar.operand), body),
      )
    case 'distance':
      return apply(GEOF.distance, body.value(scalar.field, need), pointTerm(scalar.point), iri(UOM.metre))
    case 'json':
      return compileScalar(scalar.operand, body, need)
    case 'function': {
      const args = scalar.arguments.map(argument => compileScalar(argument, body, need))
      return compileFunction(scalar, args, context.timezone)
    }
    case 'coordinate':
      return apply(
        scalar.axis === 'lon' ? LODESTONE.longitude : LODESTONE.latitude,
        body.value(scalar.field, need),
      )
    case 'valueCount':
      return valueCount(scalar, body)
    case 'element':
      return context.element(scalar.number)
    case 'truth': {
      const no = conditional(test(scalar.fails, body), literal('false', XSD.boolean), NOTHING)
      return conditional(test(scalar.holds, body), literal('true', XSD.boolean), no)
    }
    case 'choice':
      return scalar.branches.reduceRight<AlgebraExpression>(
        (other, { when, value }) =>
          conditional(test(when, body), compileScalar(value, body, 'optional'), other),
        NOTHING,
      )
  }
}

function test(condition: Condition, body: PatternBuilder): AlgebraExpression {
  return body.context.test(condition, body, 'guarded')
}

/** The number of values of a field in a record, or of those that satisfy a condition; 0 for none. */
function valueCount(
  { field, where }: Extract<Scalar, { readonly type: 'valueCount' }>,
  body: PatternBuilder,
): AlgebraExpression {
  const { context } = body
  if (where === undefined) return apply(LODESTONE.count, RECORD, predicateOf(field, context.target))
  const inner = new PatternBuilder(context)
  const [count, element] = [context.fresh('count'), inner.value(field, 'required')]
  context.bindElement(where.number, element)
  inner.test(context.test(where.condition, inner, 'open'))
  const projection = [RECORD, { variable: count, aggregate: aggregate('COUNT', element) }]
  body.option(select(projection, inner.group(), { groupBy: [RECORD] }).input)
  return call('COALESCE', count, integer(0))
}

/** An arithmetic operation on two numbers; null for a divisor of 0. */
export function arithmeticExpression(
  operator: '+' | '-' | '*' | '/',
  left: AlgebraExpression,
  right: AlgebraExpression,
): AlgebraExpression {
  if (operator !== '/') return binary(operator, left, right)
  if (right.type === 'literal') return Number(right.value) === 0 ? NOTHING : binary('/', left, right)
  // A condition repeats the divisor: one within another would double with each level.
  if (isConditional(right)) return apply(LODESTONE.ratio, left, right)
  return conditional(binary('=', right, integer(0)), NOTHING, binary('/', left, right))
}

function isConditional(expression: AlgebraExpression): boolean {
  if (expression.type === 'builtin' && expression.name === 'IF') return true
  return (
    (expression.type === 'function' && expression.iri === LODESTONE.ratio) ||
    operandsOf(expression).some(isConditional)
  )
}

function number(scalar: Scalar, body: PatternBuilder, need: Need): AlgebraExpression {
  if (scalar.type === 'constant') return doubleTerm(Number(scalar.value))
  const value = compileScalar(scalar, body, need)
  return scalarType(scalar) === 'double' ? value : apply(XSD.double, value)
}

/** A value in the type of the other operand: 8 and 8.0 are two terms. */
function sameType(scalar: Scalar, type: FieldType, body: PatternBuilder): AlgebraExpression {
  if (type !== 'double' || !isNumeric(scalarType(scalar))) return compileScalar(scalar, body, 'optional')
  return number(scalar, body, 'optional')
}

/** More than the relative errors of a value, a width and their quotient as doubles, less than a difference in the fifteenth digit. */
const ERROR = 2 ** -50

/**
 * A number in steps of a width: of integers and a whole width exactly. A decimal fraction is no double, so that 0.3 is a little less
 * than three times 0.1: what is next to a multiple of it is the multiple.
 */
export function multiple(
  { width, value: of }: { readonly width: number; readonly value: Scalar },
  value: AlgebraExpression,
  body: PatternBuilder,
): AlgebraExpression {
  const isWhole = scalarType(of) === 'int' && Number.isInteger(width)
  if (isWhole) return binary('/', value, integer(width))
  const steps = binary('/', apply(XSD.double, value), doubleTerm(width))
  if (Number.isInteger(width * 2 ** 30)) return steps
  const inexact = body.bind(steps, 'steps')
  return binary('+', inexact, binary('*', call('ABS', inexact), doubleTerm(ERROR)))
}

type Call = Extract<Scalar, { readonly type: 'function' }>

/** Represents a missing value: an expression that contains it is null. */
export const NOTHING: AlgebraExpression = binary('/', integer(1), integer(0))

/** The functions that SPARQL has (SPARQL 1.1 Query, section 17.4). */
const BUILTINS = {
  concat: 'CONCAT',
  length: 'STRLEN',
  lower: 'LCASE',
  upper: 'UCASE',
  contains: 'CONTAINS',
  startsWith: 'STRSTARTS',
  endsWith: 'STRENDS',
  matches: 'REGEX',
  floor: 'FLOOR',
  ceiling: 'CEIL',
} as const satisfies Readonly<Partial<Record<FunctionName, string>>>

const isBuiltin = (name: FunctionName): name is keyof typeof BUILTINS => Object.hasOwn(BUILTINS, name)

/** A function of values (see FunctionName); each of its arguments has a value or is an error. */
function compileFunction(
  scalar: Call,
  args: readonly AlgebraExpression[],
  timezone: string,
): AlgebraExpression {
  const [first = NOTHING, second = NOTHING] = args
  const [operand] = scalar.arguments
  const { name } = scalar
  if (isBuiltin(name)) return call(BUILTINS[name], ...args)
  switch (name) {
    case 'trim':
    case 'replace':
    case 'indexOf':
    case 'substring':
    case 'quotient':
    case 'modulo':
    case 'remainder':
    case 'fraction':
    case 'epoch':
      return apply(LODESTONE[name], ...args)
    case 'round':
      return apply(LODESTONE.roundAway, first)
    case 'divide':
      return binary('/', double(first), double(second))
    case 'day':
      return operand !== undefined && scalarType(operand) === 'date' ? first : dayOf(first)
    case 'secondOfDay':
      return apply(LODESTONE.secondOfDay, first, literal(timezone))
    case 'text':
      return call('STR', first)
    default:
      return cast(name, operand, first)
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
      return from === 'datetime' ? dayOf(value) : written(DAY, value, XSD.date)
    case 'datetime':
      if (from === 'text') {
        const isLocal = call('REGEX', value, literal(String.raw`T[\d:.]+$`))
        return written(MOMENT, conditional(isLocal, call('CONCAT', value, literal('Z')), value), XSD.dateTime)
      }
      return apply(XSD.dateTime, call('CONCAT', call('STR', value), literal('T00:00:00Z')))
  }
}

/** The forms of days and moments in OData: XML Schema has days with a zone too. A moment without one, as 3.0 has it, is in UTC. */
const DAY = String.raw`^\d{4}-\d\d-\d\d$`
const MOMENT = String.raw`^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$`

/** The value that a text of a form writes; null for others. */
function written(form: string, text: AlgebraExpression, type: string): AlgebraExpression {
  return conditional(call('REGEX', text, literal(form)), apply(type, text), NOTHING)
}

function double(value: AlgebraExpression): AlgebraExpression {
  return value.type === 'literal' ? doubleTerm(Number(value.value)) : apply(XSD.double, value)
}
