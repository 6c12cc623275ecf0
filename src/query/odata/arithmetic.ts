import type { ArithmeticOperator, Span } from '../../language/odata/ast.ts'
import { refuseLarge } from '../conditions.ts'
import { type Condition, numberScalar, type Scalar } from '../plan.ts'
import { epochOf } from './apply-evaluate.ts'
import type { Side } from './comparison.ts'
import { computed, epochScalar } from './computed.ts'
import { negative } from './logic.ts'
import { type Scope, wrong } from './scope.ts'
import {
  constantOf,
  describeType,
  isNumericKind,
  NULL,
  type PrimitiveKind,
  scalarOf,
  startOf,
  type TypedConstant,
  type TypedExpression,
  type TypedValue,
} from './typed-expression.ts'

type Operand = TypedConstant | TypedValue

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
  const reason = `${startOf(node)} of type ${describeType(typed)} cannot be computed with by ${operator}`
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
  switch (operator) {
    case 'add':
      return computed(kind, { ...sum('+', x, y), ...type }, [a, b])
    case 'sub':
      return computed(kind, { ...sum('-', x, y), ...type }, [a, b])
    case 'mul':
      return computed(kind, { ...sum('*', x, y), ...type }, [a, b])
    case 'div':
      if (kind === 'int') return computed(kind, call('quotient', x, y, 'int'), [a, b])
      return computed(kind, kind === 'double' ? ratio(x, y) : sum('/', x, y), [a, b])
    case 'divby':
      if (kind === 'double') return computed(kind, ratio(x, y), [a, b])
      return computed('decimal', sum('/', x, y), [a, b])
    case 'mod':
      if (kind === 'int') return computed(kind, call('modulo', x, y, 'int'), [a, b])
      return computed(kind, kind === 'double' ? remainder(x, y) : unlessZero(y, remainder(x, y)), [a, b])
  }
}

/** Durations with moments, dates, numbers and one another; null for combinations without meaning. */
function temporal(a: Operand, operator: ArithmeticOperator, b: Operand): TypedExpression | null {
  const sign = operator === 'add' ? '+' : operator === 'sub' ? '-' : null
  const [x, y] = [scalarOf(a), scalarOf(b)]
  if (sign !== null) {
    if (a.kind === 'duration' && b.kind === 'duration') return computed('duration', sum(sign, x, y), [a, b])
    if (isDay(a.kind) && b.kind === 'duration') return moved(a, sum(sign, seconds(a), y), [a, b])
    if (isDay(a.kind) && isDay(b.kind) && sign === '-')
      return computed('duration', sum(sign, seconds(a), seconds(b)), [a, b])
    return null
  }
  const isScaled = a.kind === 'duration' && isNumericKind(b.kind)
  if (operator === 'mul' && (isScaled || (isNumericKind(a.kind) && b.kind === 'duration')))
    return computed('duration', sum('*', x, y), [a, b])
  if (operator === 'div' && isScaled) return computed('duration', sum('/', x, y), [a, b])
  return null
}

/** A date that was moved by a part of a day is still a date: its hours are dropped. */
function moved(a: Operand, epoch: Scalar, operands: readonly TypedExpression[]): TypedExpression {
  if (a.kind === 'moment') return computed('moment', epoch, operands, true)
  const days: Scalar = { type: 'arithmetic', operator: '/', left: epoch, right: numberScalar(86_400) }
  const whole: Scalar = { type: 'function', name: 'floor', arguments: [days], of: 'double' }
  return computed('date', sum('*', whole, numberScalar(86_400)), operands, true)
}

function seconds(operand: Operand): Scalar {
  return operand.type === 'value' ? epochScalar(operand) : numberScalar(epochOf(String(operand.value)))
}

function isDay(kind: PrimitiveKind): boolean {
  return kind === 'date' || kind === 'moment'
}

function sum(operator: '+' | '-' | '*' | '/', left: Scalar, right: Scalar) {
  return { type: 'arithmetic', operator, left, right } as const
}

/** A division that returns infinity for a divisor of 0. */
function ratio(left: Scalar, right: Scalar): Scalar {
  if (right.type === 'constant' && right.value !== 0) return { ...sum('/', left, right), of: 'double' }
  return call('divide', left, right, 'double')
}

function remainder(left: Scalar, right: Scalar): Scalar {
  return call('remainder', left, right, 'double')
}

/** A value that is null where a divisor is 0: decimals have neither infinity nor NaN. */
function unlessZero(divisor: Scalar, value: Scalar): Scalar {
  if (divisor.type === 'constant') return value
  refuseLarge(divisor)
  const when: Condition = { type: 'relation', left: divisor, operator: '!=', right: numberScalar(0) }
  return { type: 'choice', branches: [{ when, value }], of: 'double' }
}

function call(
  name: 'divide' | 'quotient' | 'modulo' | 'remainder',
  left: Scalar,
  right: Scalar,
  of: 'int' | 'double',
): Scalar {
  return { type: 'function', name, arguments: [left, right], of }
}

/** The result type of two numbers (URL Conventions 5.1.1.11, numeric promotion). */
export function promotedKind(a: PrimitiveKind, b: PrimitiveKind): PrimitiveKind {
  if (a === 'double' || b === 'double') return 'double'
  return a === 'decimal' || b === 'decimal' ? 'decimal' : 'int'
}
