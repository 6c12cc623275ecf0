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

/** Arithmetic of two values, exact where both are whole; null where one is not a number, and for a divisor of 0. */
export function exactly(operator: Operator, left: unknown, right: unknown): number | bigint | null {
  const near = nearly(operator, left, right)
  const isLarge = typeof left === 'bigint' || typeof right === 'bigint' || !Number.isSafeInteger(near)
  if (near === null || !isLarge || operator === '/' || !isWhole(left) || !isWhole(right)) return near
  const exact = wholeResult(operator, BigInt(left), BigInt(right))
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

function nearly(operator: Operator, left: unknown, right: unknown): number | null {
  if (operator !== 'quotient' && operator !== 'modulo') return calculated(operator, left, right)
  const [a, b] = [Number(left), Number(right)]
  if (b === 0) return null
  return operator === 'quotient' ? Math.trunc(a / b) + 0 : (a % b) + 0
}

function wholeResult(operator: Exclude<Operator, '/'>, a: bigint, b: bigint): bigint {
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case 'quotient':
      return a / b
    case 'modulo':
      return a % b
  }
}

function isWhole(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}
