import type { Term } from '../../../../rdf/term.ts'
import type { NumericKind } from '../../lexical.ts'
import type { Domain } from './domain.ts'
import { scratchFloat64, scratchUint8, scratchUint32 } from './scratch.ts'
import { type TermValue, termOf } from './value.ts'

/** The values of a variable over the rows of a batch: numbers of terms, 0 where it is unbound. */
export interface IdVector {
  readonly type: 'ids'
  readonly domain: Domain
  readonly ids: Uint32Array
  /** The first number, if the numbers are consecutive. */
  readonly first?: number
  /** True once it is known that no number is 0. */
  isWhole?: boolean
  /** The source of the numbers: an array, and indexes into it. */
  readonly origin?: { readonly ids: Uint32Array; readonly places: Uint32Array }
}

/** One term for all rows. */
export interface ConstantVector {
  readonly type: 'constant'
  readonly domain: Domain
  readonly id: number
}

/**
 * Computed numbers of one kind: doubles, floats, integers within ±2^53, or decimals of at most 15 digits. NaN marks rows without
 * a value unless it `hasNaN`.
 */
export interface NumberVector {
  readonly type: 'numbers'
  readonly kind: NumericKind
  /** Of decimals: maximum number of decimal places. */
  readonly places?: number
  readonly values: Float64Array
  /** Rows with a value; null where every row has one. */
  readonly bound: Uint8Array | null
  /** The table of the values, from which they are read on first use. */
  readonly lookup?: NumberLookup
}

/** A table of numbers by term number, NaN for none, and the term number of each row. */
export interface NumberLookup {
  readonly table: Float64Array
  readonly ids: Uint32Array
  /** Creates the vector of other rows. */
  readonly at: (ids: Uint32Array) => NumberVector
}

export type Vector = IdVector | ConstantVector | NumberVector

function wholeOf({ isWhole: hasWholeValues }: IdVector): Pick<IdVector, 'isWhole'> {
  return hasWholeValues === true ? { isWhole: hasWholeValues } : {}
}

/** True where every row has a value. */
export function hasWholeValues(vector: Vector): boolean {
  if (vector.type === 'numbers') return vector.bound === null
  if (vector.type === 'constant') return vector.id !== 0
  if (vector.isWhole !== true && !vector.ids.includes(0)) vector.isWhole = true
  return vector.isWhole === true
}

/** Numbers at some indexes. */
export function gathered(ids: Uint32Array, rows: Uint32Array): Uint32Array {
  const length = rows.length | 0
  const whole = length & ~7
  const some = scratchUint32(length)
  // The engine does not unroll loops: one row per iteration takes nearly twice as long.
  for (let at = 0; at < whole; at += 8) {
    some[at] = ids[rows[at] as number] as number
    some[at + 1] = ids[rows[at + 1] as number] as number
    some[at + 2] = ids[rows[at + 2] as number] as number
    some[at + 3] = ids[rows[at + 3] as number] as number
    some[at + 4] = ids[rows[at + 4] as number] as number
    some[at + 5] = ids[rows[at + 5] as number] as number
    some[at + 6] = ids[rows[at + 6] as number] as number
    some[at + 7] = ids[rows[at + 7] as number] as number
  }
  for (let at = whole; at < length; at++) some[at] = ids[rows[at] as number] as number
  return some
}

/** The selected rows of a vector. */
export function gatherValues(vector: Vector, rows: Uint32Array): Vector {
  if (vector.type === 'constant') return vector
  if (vector.type === 'ids') {
    const { domain, ids } = vector
    const origin = { ids, places: rows }
    return { type: 'ids', domain, ids: gathered(ids, rows), origin, ...wholeOf(vector) }
  }
  if (vector.lookup !== undefined) return vector.lookup.at(gathered(vector.lookup.ids, rows))
  const { values, bound } = vector
  const some = scratchFloat64(rows.length)
  for (let at = 0; at < rows.length; at++) some[at] = values[rows[at] as number] as number
  return { ...vector, values: some, bound: bound === null ? null : gatheredBound(bound, rows) }
}

/** Which of the selected rows have a value; null where all have one. */
function gatheredBound(bound: Uint8Array, rows: Uint32Array): Uint8Array | null {
  const present = scratchUint8(rows.length)
  let isWhole = 1
  for (let at = 0; at < rows.length; at++) {
    const one = bound[rows[at] as number] as number
    present[at] = one
    isWhole &= one
  }
  return isWhole === 1 ? null : present
}

/** The rows of a vector in a range. */
export function sliceVector(vector: Vector, from: number, to: number): Vector {
  if (vector.type === 'constant') return vector
  if (vector.type === 'ids') {
    const first = vector.first === undefined ? {} : { first: vector.first + from }
    const { domain, ids } = vector
    return { type: 'ids', domain, ids: ids.subarray(from, to), ...first, ...wholeOf(vector) }
  }
  const { lookup } = vector
  if (lookup !== undefined) return lookup.at(lookup.ids.subarray(from, to))
  const bound = vector.bound?.subarray(from, to) ?? null
  return { ...vector, values: vector.values.subarray(from, to), bound }
}

/** An integer for each row. */
export function integers(values: Float64Array): NumberVector {
  return { type: 'numbers', kind: 'integer', values, bound: null }
}

/** Other numbers of the same kind. */
export function numbersLike(
  { kind, places }: NumberVector,
  values: Float64Array,
  bound: Uint8Array | null,
): NumberVector {
  return { type: 'numbers', kind, values, bound, ...(places === undefined ? {} : { places }) }
}

/** A copy of a vector in its own memory. */
export function copiedVector(vector: Vector): Vector {
  if (vector.type === 'constant') return vector
  if (vector.type === 'numbers')
    return numbersLike(vector, vector.values.slice(), vector.bound?.slice() ?? null)
  return { type: 'ids', domain: vector.domain, ids: vector.ids.slice(), ...wholeOf(vector) }
}

/** The number of the term at a row; 0 where there is none. */
export function idAt(vector: IdVector | ConstantVector, row: number): number {
  return vector.type === 'constant' ? vector.id : (vector.ids[row] as number)
}

/** The value at a row; null where there is none. */
export function vectorValueAt(vector: Vector, row: number): TermValue | null {
  if (vector.type === 'numbers')
    return isBound(vector, row) ? numberOfKind(vector.kind, vector.values[row] as number) : null
  const id = idAt(vector, row)
  return id === 0 ? null : vector.domain.value(id)
}

export function numberOfKind(kind: NumberVector['kind'], value: number): TermValue {
  return { type: 'number', kind, value: kind === 'float' ? Math.fround(value) : value }
}

/** The term at a row; null where there is none. */
export function termAt(vector: Vector, row: number): Term | null {
  if (vector.type === 'numbers') {
    const value = vectorValueAt(vector, row)
    return value === null ? null : termOf(value)
  }
  const id = idAt(vector, row)
  return id === 0 ? null : vector.domain.term(id)
}

export function isBound(vector: Vector, row: number): boolean {
  if (vector.type === 'numbers') return vector.bound === null || vector.bound[row] === 1
  return idAt(vector, row) !== 0
}

export function maximum(numbers: Uint32Array): number {
  let max = 0
  for (let at = 0; at < numbers.length; at++) if ((numbers[at] as number) > max) max = numbers[at] as number
  return max
}
