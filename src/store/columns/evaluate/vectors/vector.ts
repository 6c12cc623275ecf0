import type { Term } from '../../../../rdf/term.ts'
import type { NumericKind } from '../../lexical.ts'
import type { Domain } from './domain.ts'
import { scratchFloat64, scratchUint8, scratchUint32 } from './scratch.ts'
import { double, float, integerTerm, shortDecimal, type TermValue } from './value.ts'

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
  switch (vector.type) {
    case 'constant':
      return vector.id !== 0
    case 'ids':
      if (vector.isWhole !== true && !vector.ids.includes(0)) vector.isWhole = true
      return vector.isWhole === true
    case 'numbers':
      return vector.bound === null
    default:
      return vector satisfies never
  }
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
  switch (vector.type) {
    case 'constant':
      return vector
    case 'ids':
      return {
        type: 'ids',
        domain: vector.domain,
        ids: gathered(vector.ids, rows),
        origin: { ids: vector.ids, places: rows },
        ...wholeOf(vector),
      }
    case 'numbers': {
      if (vector.lookup !== undefined) return vector.lookup.at(gathered(vector.lookup.ids, rows))
      const { values, bound } = vector
      const some = scratchFloat64(rows.length)
      for (let at = 0; at < rows.length; at++) some[at] = values[rows[at] as number] as number
      return { ...vector, values: some, bound: bound === null ? null : gatheredBound(bound, rows) }
    }
    default:
      return vector satisfies never
  }
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
  switch (vector.type) {
    case 'constant':
      return vector
    case 'ids':
      return {
        type: 'ids',
        domain: vector.domain,
        ids: vector.ids.subarray(from, to),
        ...(vector.first === undefined ? {} : { first: vector.first + from }),
        ...wholeOf(vector),
      }
    case 'numbers':
      return vector.lookup !== undefined
        ? vector.lookup.at(vector.lookup.ids.subarray(from, to))
        : {
            ...vector,
            values: vector.values.subarray(from, to),
            bound: vector.bound?.subarray(from, to) ?? null,
          }
    default:
      return vector satisfies never
  }
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
  switch (vector.type) {
    case 'constant':
      return vector
    case 'ids':
      return { type: 'ids', domain: vector.domain, ids: vector.ids.slice(), ...wholeOf(vector) }
    case 'numbers':
      return numbersLike(vector, vector.values.slice(), vector.bound?.slice() ?? null)
    default:
      return vector satisfies never
  }
}

/** The value at a row; null where there is none. */
export function vectorValueAt(vector: Vector, row: number): TermValue | null {
  switch (vector.type) {
    case 'constant':
      return vector.id === 0 ? null : vector.domain.value(vector.id)
    case 'ids': {
      const id = vector.ids[row] as number
      return id === 0 ? null : vector.domain.value(id)
    }
    case 'numbers':
      return vector.bound === null || vector.bound[row] === 1
        ? numberOfKind(vector.kind, vector.values[row] as number)
        : null
    default:
      return vector satisfies never
  }
}

export function numberOfKind(kind: NumberVector['kind'], value: number): TermValue {
  switch (kind) {
    case 'integer':
      return integerTerm(value)
    case 'decimal':
      return shortDecimal(value)
    case 'double':
      return double(value)
    case 'float':
      return float(value)
    default:
      return kind satisfies never
  }
}

/** The term at a row; null where there is none. */
export function termAt(vector: Vector, row: number, termOf: (value: TermValue) => Term): Term | null {
  switch (vector.type) {
    case 'constant':
      return vector.id === 0 ? null : vector.domain.term(vector.id)
    case 'ids': {
      const id = vector.ids[row] as number
      return id === 0 ? null : vector.domain.term(id)
    }
    case 'numbers': {
      const value = vectorValueAt(vector, row)
      return value === null ? null : termOf(value)
    }
    default:
      return vector satisfies never
  }
}

export function isBound(vector: Vector, row: number): boolean {
  switch (vector.type) {
    case 'constant':
      return vector.id !== 0
    case 'ids':
      return vector.ids[row] !== 0
    case 'numbers':
      return vector.bound === null || vector.bound[row] === 1
    default:
      return vector satisfies never
  }
}

export function maximum(numbers: Uint32Array): number {
  let max = 0
  for (let at = 0; at < numbers.length; at++) if ((numbers[at] as number) > max) max = numbers[at] as number
  return max
}
