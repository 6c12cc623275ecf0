import { isExact } from '../lexical.ts'
import { fractionDigits } from './decimal-vectors.ts'
import { scratchFloat64, scratchUint8 } from './scratch.ts'
import { NUMBER_TYPES, numberFormOf, type TermValue } from './value.ts'
import type { NumberVector } from './vector.ts'

/** Numbers by the numbers of the terms of a domain; NaN for other terms. */
export interface NumberTable {
  readonly kind: 'integer' | 'decimal' | 'double'
  readonly values: Float64Array
  /** Of decimals: maximum number of decimal places. */
  readonly places?: number
}

/** One number for all rows; null for values that the kernels do not support. */
export function constantNumbers(value: TermValue, size: number): NumberVector | null {
  if (value.type !== 'number' || value.exact !== undefined || Number.isNaN(value.value)) return null
  const { kind } = value
  const values = scratchFloat64(size).fill(value.value)
  switch (kind) {
    case 'integer':
    case 'double':
      return { type: 'numbers', kind, values, bound: null }
    case 'decimal': {
      const places = isExact(value.term?.value ?? '', value.value, kind)
        ? fractionDigits(values.subarray(0, 1))
        : null
      return places === null ? null : { type: 'numbers', kind, values, bound: null, places }
    }
    case 'float':
      return null
    default:
      return kind satisfies never
  }
}

/** The numbers of a table for some rows, read on first use. */
export function lookedUp(table: NumberTable, ids: Uint32Array): NumberVector {
  const { kind, places } = table
  let read: Pick<NumberVector, 'values' | 'bound'> | null = null
  const all = () => {
    read ??= valuesAt(table.values, ids)
    return read
  }
  return {
    type: 'numbers',
    kind,
    ...(places === undefined ? {} : { places }),
    lookup: { table: table.values, ids, at: some => lookedUp(table, some) },
    get values() {
      return all().values
    },
    get bound() {
      return all().bound
    },
  }
}

function valuesAt(table: Float64Array, ids: Uint32Array): Pick<NumberVector, 'values' | 'bound'> {
  const values = scratchFloat64(ids.length)
  let isWhole = true
  for (let at = 0; at < ids.length; at++) {
    const value = table[ids[at] as number] as number
    values[at] = value
    if (Number.isNaN(value)) isWhole = false
  }
  return { values, bound: isWhole ? null : boundOf(values) }
}

export function hasNaN(values: Float64Array): boolean {
  for (let at = 0; at < values.length; at++) if (Number.isNaN(values[at] as number)) return true
  return false
}

export function boundOf(values: Float64Array): Uint8Array {
  const bound = scratchUint8(values.length)
  for (let at = 0; at < values.length; at++) bound[at] = Number.isNaN(values[at]) ? 0 : 1
  return bound
}

/** The rows in which both sides have a value; null for all. */
export function eitherBound(left: NumberVector, right: NumberVector): Uint8Array | null {
  if (left.bound === null && right.bound === null) return null
  return both(left.bound, right.bound, left.values.length)
}

function both(left: Uint8Array | null, right: Uint8Array | null, size: number): Uint8Array {
  const bound = scratchUint8(size)
  for (let at = 0; at < size; at++)
    bound[at] = (left === null || left[at] === 1) && (right === null || right[at] === 1) ? 1 : 0
  return bound
}

/** True for a computed number, or one whose term is in canonical form. */
export function isCanonical(number: TermValue): boolean {
  if (number.type !== 'number') return false
  const { kind, value, term } = number
  if (term === undefined) return true
  return (
    term.datatype === NUMBER_TYPES[kind] &&
    term.value === numberFormOf(number) &&
    isExact(term.value, value, kind)
  )
}
