import type { Expression } from '../../language/odata/ast.ts'
import { lookup } from '../../model/lookup.ts'
import { type DatePartName, type FunctionName, numberScalar, type Scalar } from '../plan.ts'
import type { Side } from './comparison.ts'
import { computed } from './computed.ts'
import { explicitClasses, patternFlaw } from './pattern.ts'
import { type Scope, unserved, wrong } from './scope.ts'
import {
  constantOf,
  DAY,
  describeExpression,
  describeType,
  isValue,
  NULL,
  NUMBER,
  type PrimitiveKind,
  primitiveKindOf,
  scalarOf,
  startOf,
  TEXT_KIND,
  type TypedExpression,
  WHOLE,
} from './typed-expression.ts'

export type FunctionCall = Extract<Expression, { type: 'call' }>

/** The types of the arguments of a function, and how many of them are optional. */
interface Signature {
  readonly takes: readonly (readonly PrimitiveKind[])[]
  readonly optional?: number
  readonly only3?: true
}

const TWO_TEXTS: Signature = { takes: [TEXT_KIND, TEXT_KIND] }
const CLOCK: readonly PrimitiveKind[] = ['moment', 'time']

/** The canonical functions of values (URL Conventions 5.1.1.4 to 5.1.1.9; also those of 3.0 that are not in 4.0). */
const SIGNATURES: Readonly<Record<string, Signature>> = {
  concat: TWO_TEXTS,
  contains: TWO_TEXTS,
  endswith: TWO_TEXTS,
  startswith: TWO_TEXTS,
  indexof: TWO_TEXTS,
  length: { takes: [TEXT_KIND] },
  substring: { takes: [TEXT_KIND, WHOLE, WHOLE], optional: 1 },
  tolower: { takes: [TEXT_KIND] },
  toupper: { takes: [TEXT_KIND] },
  trim: { takes: [TEXT_KIND] },
  matchespattern: TWO_TEXTS,
  substringof: { takes: [TEXT_KIND, TEXT_KIND], only3: true },
  replace: { takes: [TEXT_KIND, TEXT_KIND, TEXT_KIND], only3: true },
  year: { takes: [DAY] },
  month: { takes: [DAY] },
  day: { takes: [DAY] },
  hour: { takes: [CLOCK] },
  minute: { takes: [CLOCK] },
  second: { takes: [CLOCK] },
  fractionalseconds: { takes: [CLOCK] },
  date: { takes: [DAY] },
  time: { takes: [['moment']] },
  totaloffsetminutes: { takes: [['moment']] },
  totalseconds: { takes: [['duration']] },
  now: { takes: [] },
  mindatetime: { takes: [] },
  maxdatetime: { takes: [] },
  ceiling: { takes: [NUMBER] },
  floor: { takes: [NUMBER] },
  round: { takes: [NUMBER] },
}

/** Returns the value of a canonical function of values; null where an argument is null. Any other function is refused. */
export function applyFunction(call: FunctionCall, sides: readonly Side[], scope: Scope): TypedExpression {
  const name = call.name.toLowerCase()
  const signature = signatureOf(call, scope)
  checkArguments(call, signature, sides, scope)
  const operands = sides.map(({ typed }) => typed)
  if (operands.some(({ type }) => type === 'null')) return NULL
  refuseShifted(call, operands, scope)
  const scalars = operands.map(typed => (isValue(typed) ? scalarOf(typed) : numberScalar(0)))
  const [first = numberScalar(0), second = numberScalar(0), third] = scalars
  const [operand = NULL] = operands
  const make = (kind: PrimitiveKind, scalar: Scalar) => computed(kind, scalar, operands)
  const plain = (plan: FunctionName, kind: 'string' | 'boolean' | 'int') =>
    make(kind, { type: 'function', name: plan, arguments: scalars, of: kind === 'string' ? 'text' : kind })
  switch (name) {
    case 'concat':
    case 'contains':
      return plain(name, name === 'concat' ? 'string' : 'boolean')
    case 'endswith':
      return plain('endsWith', 'boolean')
    case 'startswith':
      return plain('startsWith', 'boolean')
    case 'substringof':
      return make('boolean', {
        type: 'function',
        name: 'contains',
        arguments: [second, first],
        of: 'boolean',
      })
    case 'indexof':
      return plain('indexOf', 'int')
    case 'length':
      return plain('length', 'int')
    case 'tolower':
      return plain('lower', 'string')
    case 'toupper':
      return plain('upper', 'string')
    case 'trim':
      return plain('trim', 'string')
    case 'substring':
      if (third?.type === 'constant' && Number(third.value) < 0)
        throw wrong(scope, 'A length is not negative', call.arguments[2]?.span ?? call.span)
      return plain('substring', 'string')
    case 'replace':
      if (second.type === 'constant' && second.value === '')
        throw wrong(scope, 'replace needs a text to look for', call.arguments[1]?.span ?? call.span)
      return plain('replace', 'string')
    case 'matchespattern':
      return matches(call, operand, first, second, scope)
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
    case 'minute':
    case 'second':
      if (primitiveKindOf(operand) === 'time') return make('int', clockPart(name, first))
      return make('int', datePart(name, first))
    case 'fractionalseconds': {
      if (primitiveKindOf(operand) !== 'time') return make('decimal', unary('fraction', first, 'double'))
      const whole = unary('floor', first, 'double')
      return make('decimal', { type: 'arithmetic', operator: '-', left: first, right: whole })
    }
    case 'date':
      return make('date', unary('day', first, 'date'))
    case 'time':
      return make('time', unary('secondOfDay', first, 'double'))
    case 'totaloffsetminutes':
      if (operand.type === 'constant') return constantOf('int', operand.offset ?? 0)
      return make('int', {
        type: 'arithmetic',
        operator: '*',
        left: datePart('day', first),
        right: numberScalar(0),
      })
    case 'totalseconds':
      return make('decimal', first)
    case 'now':
      return constantOf('moment', scope.request.now)
    case 'mindatetime':
      return constantOf('moment', '0001-01-01T00:00:00Z')
    case 'maxdatetime':
      return constantOf('moment', '9999-12-31T23:59:59.999999Z')
    case 'ceiling':
    case 'floor':
    case 'round': {
      const kind = primitiveKindOf(operand) ?? 'double'
      return kind === 'int' ? operand : make(kind, unary(name, first, 'double'))
    }
    default:
      throw unserved(scope, startOf(call), call.span)
  }
}

function signatureOf(call: FunctionCall, scope: Scope): Signature {
  const name = call.name.toLowerCase()
  const signature = lookup(SIGNATURES, name)
  if (signature === undefined) throw unserved(scope, startOf(call), call.span)
  if (signature.only3 === true && scope.request.version === '4.0')
    throw unserved(scope, `${startOf(call)} of OData 3.0`, call.span)
  // Dates are moments in 3.0, which has no type for them.
  if (signature.takes[0] === CLOCK && scope.request.version !== '4.0') return { takes: [[...CLOCK, 'date']] }
  return signature
}

function checkArguments(
  call: FunctionCall,
  { takes, optional = 0 }: Signature,
  sides: readonly Side[],
  scope: Scope,
) {
  const max = takes.length
  const least = max - optional
  if (sides.length < least || sides.length > max)
    throw wrong(
      scope,
      `${startOf(call)} takes ${least === max ? max : `${least} to ${max}`} arguments, not ${sides.length}`,
      call.span,
    )
  for (const [index, { typed, node }] of sides.entries()) {
    const kinds = takes[index] ?? []
    const kind = primitiveKindOf(typed)
    if (typed.type === 'null' || (kind !== null && kinds.includes(kind))) continue
    if ((typed.type === 'collection' || typed.type === 'list') && OF_LISTS.has(call.name.toLowerCase()))
      throw unserved(scope, `${startOf(call)} of collections`, node.span)
    throw wrong(
      scope,
      `${startOf(call)} takes ${kinds.map(required => describeType({ type: 'constant', kind: required, value: '' })).join(' or ')}, and ${describeExpression(node)} is of type ${describeType(typed)}`,
      node.span,
      typed.type === 'collection' ? 'use any or all' : undefined,
    )
  }
}

/** Functions that take ordered collections in addition to texts (URL Conventions 4.01, 5.1.1.5). */
const OF_LISTS: ReadonlySet<string> = new Set(
  'concat contains endswith indexof length startswith substring'.split(' '),
)

const OF_MOMENTS = ['year', 'month', 'day', 'hour', 'minute', 'second', 'fractionalseconds', 'date', 'time']

/** Parts of a moment are those in its own offset, but moments are stored in UTC: literals with other offsets are refused. */
function refuseShifted(call: FunctionCall, operands: readonly TypedExpression[], scope: Scope): void {
  const [operand] = operands
  if (operand === undefined || !OF_MOMENTS.includes(call.name.toLowerCase())) return
  if (operand.type === 'constant' && (operand.offset ?? 0) !== 0)
    throw wrong(scope, `${startOf(call)} takes moments in UTC`, call.span)
  if (operand.type === 'value' && operand.epoch)
    throw unserved(scope, `${startOf(call)} of a computed moment`, call.span)
}

function matches(
  call: FunctionCall,
  operand: TypedExpression,
  text: Scalar,
  pattern: Scalar,
  scope: Scope,
): TypedExpression {
  const span = call.arguments[1]?.span ?? call.span
  if (pattern.type !== 'constant') throw unserved(scope, 'A regular expression that is computed', span)
  if (scope.rows) throw unserved(scope, 'A regular expression after an aggregation', span)
  const flaw = patternFlaw(String(pattern.value))
  if (flaw?.isValid === false) throw wrong(scope, `The regular expression ${flaw.reason}`, span)
  if (flaw !== null) throw unserved(scope, `A regular expression with ${flaw.reason}`, span)
  const written = { ...pattern, value: explicitClasses(String(pattern.value)) }
  return computed(
    'boolean',
    { type: 'function', name: 'matches', arguments: [text, written], of: 'boolean' },
    [operand],
  )
}

function datePart(part: DatePartName, operand: Scalar): Scalar {
  return { type: 'datePart', part, operand }
}

/** A part of a time of day, which is seconds since midnight. */
function clockPart(part: 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', seconds: Scalar): Scalar {
  const whole = (divisor: number): Scalar =>
    unary(
      'floor',
      divisor === 1
        ? seconds
        : { type: 'arithmetic', operator: '/', left: seconds, right: numberScalar(divisor) },
      'double',
    )
  if (part === 'hour') return whole(3600)
  const units = whole(part === 'minute' ? 60 : 1)
  return { type: 'function', name: 'modulo', arguments: [units, numberScalar(60)], of: 'int' }
}

function unary(name: FunctionName, operand: Scalar, of: 'double' | 'date'): Scalar {
  return { type: 'function', name, arguments: [operand], of }
}
