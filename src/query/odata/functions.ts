import type { Expression } from '../../language/odata/ast.ts'
import { lookup } from '../../model/lookup.ts'
import { arithmeticScalar, type FunctionName, functionScalar, numberScalar, type Scalar } from '../plan.ts'
import type { Side } from './comparison.ts'
import { computed } from './computed.ts'
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
  /** The function of the plan that it is, and the kind of its values. */
  readonly is?: readonly [FunctionName, PrimitiveKind]
}

const TEXTS = [TEXT_KIND, TEXT_KIND]
const CLOCK: readonly PrimitiveKind[] = ['moment', 'time']

/** The canonical functions of values (URL Conventions 5.1.1.4 to 5.1.1.9; also those of 3.0 that are not in 4.0). */
const SIGNATURES: Readonly<Record<string, Signature>> = {
  concat: { takes: TEXTS, is: ['concat', 'string'] },
  contains: { takes: TEXTS, is: ['contains', 'boolean'] },
  endswith: { takes: TEXTS, is: ['endsWith', 'boolean'] },
  startswith: { takes: TEXTS, is: ['startsWith', 'boolean'] },
  indexof: { takes: TEXTS, is: ['indexOf', 'int'] },
  length: { takes: [TEXT_KIND], is: ['length', 'int'] },
  substring: { takes: [TEXT_KIND, WHOLE, WHOLE], optional: 1, is: ['substring', 'string'] },
  tolower: { takes: [TEXT_KIND], is: ['lower', 'string'] },
  toupper: { takes: [TEXT_KIND], is: ['upper', 'string'] },
  trim: { takes: [TEXT_KIND], is: ['trim', 'string'] },
  matchespattern: { takes: TEXTS },
  substringof: { takes: TEXTS, only3: true },
  replace: { takes: [...TEXTS, TEXT_KIND], only3: true, is: ['replace', 'string'] },
  year: { takes: [DAY] },
  month: { takes: [DAY] },
  day: { takes: [DAY] },
  hour: { takes: [CLOCK] },
  minute: { takes: [CLOCK] },
  second: { takes: [CLOCK] },
  fractionalseconds: { takes: [CLOCK] },
  date: { takes: [DAY], is: ['day', 'date'] },
  time: { takes: [['moment']], is: ['secondOfDay', 'time'] },
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
  switch (name) {
    case 'substringof':
      return make('boolean', functionScalar('contains', second, first))
    case 'substring':
      if (third?.type === 'constant' && Number(third.value) < 0)
        throw wrong(scope, 'A length is not negative', call.arguments[2]?.span ?? call.span)
      break
    case 'replace':
      if (second.type === 'constant' && second.value === '')
        throw wrong(scope, 'replace needs a text to look for', call.arguments[1]?.span ?? call.span)
      break
    case 'matchespattern':
      return matches(call, operand, first, second, scope)
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
    case 'minute':
    case 'second':
      if (primitiveKindOf(operand) === 'time') return make('int', clockPart(name, first))
      return make('int', { type: 'datePart', part: name, operand: first })
    case 'fractionalseconds': {
      if (primitiveKindOf(operand) !== 'time') return make('decimal', functionScalar('fraction', first))
      return make('decimal', arithmeticScalar('-', first, functionScalar('floor', first)))
    }
    case 'totaloffsetminutes':
      if (operand.type === 'constant') return constantOf('int', operand.offset ?? 0)
      return make(
        'int',
        arithmeticScalar('*', { type: 'datePart', part: 'day', operand: first }, numberScalar(0)),
      )
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
      return kind === 'int' ? operand : make(kind, functionScalar(name, first))
    }
    default:
  }
  if (signature.is === undefined) throw unserved(scope, startOf(call), call.span)
  const [plan, kind] = signature.is
  return make(kind, functionScalar(plan, ...scalars))
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
  return computed('boolean', functionScalar('matches', text, written), [operand])
}

/** A part of a time of day, which is seconds since midnight. */
function clockPart(part: 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', seconds: Scalar): Scalar {
  const whole = (units: Scalar) => functionScalar('floor', units)
  if (part === 'hour') return whole(arithmeticScalar('/', seconds, numberScalar(3600)))
  const units = part === 'minute' ? arithmeticScalar('/', seconds, numberScalar(60)) : seconds
  return functionScalar('modulo', whole(units), numberScalar(60))
}

/** Characters that a regular expression may have. */
const MAX_PATTERN = 200

/** Maximum of a count such as {2,5}: more repetitions would make the store's automaton too large. */
const MAX_REPEATS = 100

/** Why a regular expression is not supported. */
interface PatternFlaw {
  /** False for a text that is not a regular expression at all. */
  readonly isValid: boolean
  /** The unsupported construct or, for an invalid text, the error. */
  readonly reason: string
}

/**
 * Why a text is not a regular expression that both XPath and the store accept (URL Conventions 5.1.1.7.1); null where it is one.
 * References and look-around are not supported: the store matches in linear time.
 */
function patternFlaw(text: string): PatternFlaw | null {
  if (text.length > MAX_PATTERN) return unservedPattern(`more than ${MAX_PATTERN} characters`)
  if (!compiles(text)) return { isValid: false, reason: 'cannot be read' }
  if (/\\[1-9]/.test(text)) return unservedPattern('references to groups')
  if (/\(\?(?!:)/.test(text.replace(/\\./gs, ''))) return unservedPattern('groups with ? other than (?:…)')
  if (/\\[^nrtdDwWsSpP\\|.?*+(){}\-[\]^$/#&~"'`,:;<=>@!% ]/.test(text.replace(/\\\\/g, '')))
    return unservedPattern('an escape that not all engines have')
  for (const [, low = '0', high] of text.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    if (Number(low) > MAX_REPEATS || Number(high ?? 0) > MAX_REPEATS)
      return unservedPattern(`a count beyond ${MAX_REPEATS}`)
  if (/[[\]]&&|\[[^\]]*\[|--|~~/.test(text.replace(/\\./gs, '')))
    return unservedPattern('operations on classes')
  return null
}

const CLASSES: Readonly<Record<string, string>> = { d: '0-9', w: 'A-Za-z0-9_' }

/** Writes the digits and word characters of ECMAScript as classes: those of XPath have others beyond ASCII. */
function explicitClasses(text: string): string {
  let inClass = false
  return text.replace(/\\.|[[\]]/gs, found => {
    if (found.length === 1) {
      inClass = found === '['
      return found
    }
    const members = lookup(CLASSES, found[1]?.toLowerCase() ?? '')
    const isComplement = found === '\\D' || found === '\\W'
    if (members === undefined || (inClass && isComplement)) return found
    return inClass ? members : `[${isComplement ? '^' : ''}${members}]`
  })
}

function unservedPattern(reason: string): PatternFlaw {
  return { isValid: true, reason }
}

function compiles(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}
