import type { FieldType } from '../../model/field.ts'
import type { Constant } from '../plan.ts'

/** The sum of numbers: exact for whole ones, however large. */
export function exactSum(values: readonly Constant[], type: FieldType): number | bigint {
  const near = values.reduce<number>((total, value) => total + Number(value), 0)
  if (type !== 'int' || !values.every(isWhole)) return near
  const magnitude = values.reduce<number>((total, value) => total + Math.abs(Number(value)), 0)
  if (Number.isSafeInteger(magnitude)) return near
  const exact = values.reduce<bigint>((total, value) => total + BigInt(value), 0n)
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

function isWhole(value: Constant): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}
