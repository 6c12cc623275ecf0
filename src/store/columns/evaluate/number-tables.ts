import { memoised } from '../../../model/memoised.ts'
import { isExact, numericKind } from '../lexical.ts'
import { fractionDigits } from './decimal-vectors.ts'
import { type Domain, onlyPartOf } from './domain.ts'
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

/** The numbers of a column. */
interface ColumnNumbers extends NumberTable {
  /** The largest magnitude. */
  readonly largest: number
  /** True where the terms are in canonical form. */
  readonly isCanonical: boolean
}

const COLUMNS = new WeakMap<Domain, ColumnNumbers | null>()

/** The numbers of a column with only integers within ±2^53, only decimals of at most 15 digits or only doubles; null for any other. */
export function columnNumbers(domain: Domain): ColumnNumbers | null {
  return memoised(COLUMNS, domain, () => {
    const part = onlyPartOf(domain)
    if (part?.kind !== 'number' || !part.exact || part.datatypes.length !== 1) return null
    const kind = numericKind(part.datatypes[0] as string)
    if (kind === null || kind === 'float' || part.datatypes[0] !== NUMBER_TYPES[kind]) return null
    const places = kind === 'decimal' ? fractionDigits(part.values) : 0
    if (places === null) return null
    const values = new Float64Array(part.count + 1)
    values[0] = Number.NaN
    values.set(part.values, 1)
    const largest = Math.max(Math.abs(values[1] as number), Math.abs(values.at(-1) as number))
    return {
      kind,
      values,
      largest,
      isCanonical: part.forms === null,
      ...(kind === 'decimal' ? { places } : {}),
    }
  })
}

/** Numbers of which NaN is none. */
export function presentNumbers(kind: NumberTable['kind'], values: Float64Array): NumberVector {
  return { type: 'numbers', kind, values, bound: hasNaN(values) ? boundOf(values) : null }
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
  const [a, b] = [left.bound, right.bound]
  if (a === null || b === null) return a ?? b
  const bound = scratchUint8(a.length)
  for (let at = 0; at < bound.length; at++) bound[at] = (a[at] as number) & (b[at] as number)
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
