import { integerValue } from '../model/exact-json.ts'
import type { FieldType } from '../model/field.ts'
import { calculated } from '../model/number.ts'
import type { Constant } from './plan.ts'

/** The sum of numbers: exact for whole ones, however large. */
export function exactSum(values: readonly Constant[], type: FieldType): number | bigint {
  const near = values.reduce<number>((total, value) => total + Number(value), 0)
  if (type !== 'int' || !values.every(isWhole)) return near
  const magnitude = values.reduce<number>((total, value) => total + Math.abs(Number(value)), 0)
  if (Number.isSafeInteger(magnitude)) return near
  const exact = values.reduce<bigint>((total, value) => total + BigInt(value), 0n)
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

type Operator = Parameters<typeof calculated>[0] | 'quotient' | 'modulo'

/** Arithmetic of two values, exact where one is an integer beyond 2^53; null where one is not a number, and for a divisor of 0. */
export function exactly(operator: Operator, left: unknown, right: unknown): number | bigint | null {
  const isLarge = typeof left === 'bigint' || typeof right === 'bigint'
  if (isLarge && operator !== '/' && isWhole(left) && isWhole(right)) {
    const exact = wholeResult(operator, BigInt(left), BigInt(right))
    return exact === null ? null : (integerValue(exact) ?? Number(exact))
  }
  if (operator !== 'quotient' && operator !== 'modulo') return calculated(operator, left, right)
  const [a, b] = [Number(left), Number(right)]
  if (b === 0) return null
  return operator === 'quotient' ? Math.trunc(a / b) + 0 : (a % b) + 0
}

function wholeResult(operator: Exclude<Operator, '/'>, a: bigint, b: bigint): bigint | null {
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case 'quotient':
      return b === 0n ? null : a / b
    case 'modulo':
      return b === 0n ? null : a % b
    default:
      return operator satisfies never
  }
}

function isWhole(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}
