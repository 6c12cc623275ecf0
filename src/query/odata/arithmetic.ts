import type { ArithmeticOperator, Span } from '../../language/odata/ast.ts'
import { refuseLarge } from '../conditions.ts'
import {
  arithmeticScalar,
  type Branch,
  type Condition,
  functionScalar,
  NEVER,
  numberScalar,
  type Scalar,
} from '../plan.ts'
import { epochOf } from './apply-evaluate.ts'
import type { Side } from './comparison.ts'
import { computed, epochScalar } from './computed.ts'
import { firstThat, logicTest, negative } from './logic.ts'
import { type Scope, unserved, wrong } from './scope.ts'
import {
  constantOf,
  describeType,
  isNumericKind,
  KIND_FIELDS,
  NULL,
  NULL_SCALAR,
  type PrimitiveKind,
  perRecord,
  scalarOf,
  startOf,
  type TypedConstant,
  type TypedExpression,
  type TypedValue,
} from './typed-expression.ts'

type Operand = TypedConstant | TypedValue

const SIGNS = { add: '+', sub: '-', mul: '*' } as const

/** Returns the value of an arithmetic operation (URL Conventions 5.1.1.2); with null it is null. */
export function calculate(
  left: Side,
  operator: ArithmeticOperator,
  right: Side,
  span: Span,
  scope: Scope,
): TypedExpression {
  const a = operandOf(left, operator, scope)
  const b = operandOf(right, operator, scope)
  if (a === null || b === null) return NULL
  if (isNumericKind(a.kind) && isNumericKind(b.kind)) return numbers(a, operator, b, right, scope)
  const value = temporal(a, operator, b)
  if (value !== null) return value
  throw wrong(
    scope,
    `${operator} does not take ${describeType(a)} and ${describeType(b)}`,
    span,
    a.kind === 'string' || b.kind === 'string' ? 'texts are joined by concat' : undefined,
  )
}

/** The negation of a number or duration. */
export function typedNegation({ typed, node }: Side, scope: Scope): TypedExpression {
  const operand = operandOf({ typed, node }, '-', scope)
  if (operand === null) return NULL
  if (!isNumericKind(operand.kind) && operand.kind !== 'duration')
    throw wrong(scope, `- does not take ${describeType(operand)}`, node.span)
  if (operand.type === 'constant') {
    const { kind, value, below } = operand
    const negated = constantOf(kind, typeof value === 'bigint' ? -value : -Number(value))
    return below === undefined ? negated : { ...negated, below: -below - 1n }
  }
  return computed(operand.kind, negative(operand.scalar), [operand])
}

/** A primitive operand; null for null. */
function operandOf({ typed, node }: Side, operator: string, scope: Scope): Operand | null {
  if (typed.type === 'null') return null
  if (typed.type === 'constant' || typed.type === 'value') return typed
  const reason = `${startOf(node, typed)} cannot be computed with by ${operator}`
  throw wrong(scope, reason, node.span)
}

function numbers(
  a: Operand,
  operator: ArithmeticOperator,
  b: Operand,
  right: Side,
  scope: Scope,
): TypedExpression {
  const kind = promotedKind(a.kind, b.kind)
  const isZero = b.type === 'constant' && b.value === 0
  const divides = operator === 'div' || operator === 'divby' || operator === 'mod'
  if (divides && isZero && kind !== 'double') throw wrong(scope, 'A division by 0', right.node.span)
  const [x, y] = [scalarOf(a), scalarOf(b)]
  const type = kind === 'int' || kind === 'double' ? { of: kind } : {}
  const remainder = functionScalar('remainder', x, y)
  switch (operator) {
    case 'add':
    case 'sub':
    case 'mul':
      return computed(kind, { ...arithmeticScalar(SIGNS[operator], x, y), ...type }, [a, b])
    case 'div':
      if (kind === 'int') return computed(kind, functionScalar('quotient', x, y), [a, b])
      return computed(kind, kind === 'double' ? ratio(x, y) : arithmeticScalar('/', x, y), [a, b])
    case 'divby':
      if (kind === 'double') return computed(kind, ratio(x, y), [a, b])
      return computed('decimal', arithmeticScalar('/', x, y), [a, b])
    case 'mod':
      if (kind === 'int') return computed(kind, functionScalar('modulo', x, y), [a, b])
      return computed(kind, kind === 'double' ? remainder : unlessZero(y, remainder), [a, b])
  }
}

/** Durations with moments, dates, numbers and one another; null for combinations without meaning. */
function temporal(a: Operand, operator: ArithmeticOperator, b: Operand): TypedExpression | null {
  const sign = operator === 'add' ? '+' : operator === 'sub' ? '-' : null
  const [x, y] = [scalarOf(a), scalarOf(b)]
  if (sign !== null) {
    if (a.kind === 'duration' && b.kind === 'duration')
      return computed('duration', arithmeticScalar(sign, x, y), [a, b])
    if (isDay(a.kind) && b.kind === 'duration') return moved(a, arithmeticScalar(sign, seconds(a), y), [a, b])
    if (isDay(a.kind) && isDay(b.kind) && sign === '-')
      return computed('duration', arithmeticScalar(sign, seconds(a), seconds(b)), [a, b])
    return null
  }
  const isScaled = a.kind === 'duration' && isNumericKind(b.kind)
  if (operator === 'mul' && (isScaled || (isNumericKind(a.kind) && b.kind === 'duration')))
    return computed('duration', arithmeticScalar('*', x, y), [a, b])
  if (operator === 'div' && isScaled) return computed('duration', arithmeticScalar('/', x, y), [a, b])
  return null
}

/** A date that was moved by a part of a day is still a date: its hours are dropped. */
function moved(a: Operand, epoch: Scalar, operands: readonly TypedExpression[]): TypedExpression {
  if (a.kind === 'moment') return computed('moment', epoch, operands, true)
  const days = arithmeticScalar('/', epoch, numberScalar(86_400))
  return computed(
    'date',
    arithmeticScalar('*', functionScalar('floor', days), numberScalar(86_400)),
    operands,
    true,
  )
}

function seconds(operand: Operand): Scalar {
  return operand.type === 'value' ? epochScalar(operand) : numberScalar(epochOf(String(operand.value)))
}

function isDay(kind: PrimitiveKind): boolean {
  return kind === 'date' || kind === 'moment'
}

/** A division that returns infinity for a divisor of 0. */
function ratio(left: Scalar, right: Scalar): Scalar {
  if (right.type === 'constant' && right.value !== 0)
    return { ...arithmeticScalar('/', left, right), of: 'double' }
  return functionScalar('divide', left, right)
}

/** A value that is null where a divisor is 0: decimals have neither infinity nor NaN. */
function unlessZero(divisor: Scalar, value: Scalar): Scalar {
  if (divisor.type === 'constant') return value
  refuseLarge(divisor)
  const when: Condition = { type: 'relation', left: divisor, operator: '!=', right: numberScalar(0) }
  return { type: 'choice', branches: [{ when, value }], of: 'double' }
}

/** The result type of two numbers (URL Conventions 5.1.1.11, numeric promotion). */
function promotedKind(a: PrimitiveKind, b: PrimitiveKind): PrimitiveKind {
  if (a === 'double' || b === 'double') return 'double'
  return a === 'decimal' || b === 'decimal' ? 'decimal' : 'int'
}

/** A branch of `case`: its condition and its value. */
interface Case {
  readonly when: Condition
  readonly side: Side
}

/** Returns the value of `case` (URL Conventions 4.01, 5.1.1.10.4): the first branch whose condition is true, else null. */
export function choiceOf(all: readonly Case[], span: Span, scope: Scope): TypedExpression {
  const cases = reachable(all)
  const [first] = cases
  if (first === undefined) return NULL
  if (first.when.type === 'always') return first.side.typed
  if (cases.every(({ side }) => side.typed.type === 'null')) return NULL
  // Before each condition is repeated with those of all branches before it.
  refuseLarge({
    type: 'choice',
    branches: cases.map(({ when }) => ({ when, value: NULL_SCALAR })),
    of: 'int',
  })
  const tests = cases.flatMap(({ when, side }) => {
    const test = logicTest(side.typed)
    return test === null ? [] : [{ when, test }]
  })
  if (tests.length === cases.length) {
    const holds = firstThat(tests, ({ test }) => test.holds)
    const fails = firstThat(tests, ({ test }) => test.fails)
    refuseLarge({ type: 'truth', holds, fails: NEVER })
    return { type: 'test', holds, fails }
  }
  const operands = cases.flatMap(({ side }) => branchOf(side, scope) ?? [])
  const kind = operands.map(operand => operand.kind).reduce((a, b) => common(a, b, span, scope))
  const epoch = operands.some(operand => operand.type === 'value' && operand.epoch)
  const branches = cases.map(({ when, side }): Branch => {
    const operand = branchOf(side, scope)
    return { when, value: operand === null ? NULL_SCALAR : scalarAs(kind, epoch, operand) }
  })
  return perRecord(kind, { type: 'choice', branches, of: epoch ? 'double' : KIND_FIELDS[kind] }, epoch)
}

/** The branches that can apply: none after one that always applies. */
function reachable(cases: readonly Case[]): readonly Case[] {
  const possible = cases.filter(({ when }) => when.type !== 'always' || when.value)
  const end = possible.findIndex(({ when }) => when.type === 'always')
  return end < 0 ? possible : possible.slice(0, end + 1)
}

/** A primitive value; null for null. */
function branchOf({ typed, node }: Side, scope: Scope): Operand | null {
  if (typed.type === 'null') return null
  const isPrimitive = typed.type === 'constant' || typed.type === 'value'
  if (isPrimitive && typed.kind !== 'geography') return typed
  throw unserved(scope, `A branch of case of type ${describeType(typed)} beside others`, node.span)
}

function common(a: PrimitiveKind, b: PrimitiveKind, span: Span, scope: Scope): PrimitiveKind {
  if (a === b) return a
  if (isNumericKind(a) && isNumericKind(b)) return promotedKind(a, b)
  const [one, other] = [a, b].map(kind => describeType({ type: 'constant', kind, value: '' }))
  throw wrong(scope, `The branches of case are of several types, ${one} and ${other}`, span)
}

/** A value in the form that all branches have: the store groups 8 and 8.0 apart. */
function scalarAs(kind: PrimitiveKind, epoch: boolean, operand: Operand): Scalar {
  if (epoch && operand.type === 'value') return epochScalar(operand)
  const scalar = scalarOf(operand)
  if (epoch)
    return { type: 'constant', value: epochOf(String((operand as TypedConstant).value)), of: 'double' }
  if (!isNumericKind(kind) || kind === operand.kind) return scalar
  if (scalar.type === 'constant') return { ...scalar, of: 'double' }
  return functionScalar('double', scalar)
}
