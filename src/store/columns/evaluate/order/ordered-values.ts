import { sortedNumbers } from '../../sorting.ts'
import type { Evaluation } from '../evaluation.ts'
import { identifiedInPool } from '../patterns/join.ts'
import { allRows } from '../vectors/batch.ts'
import { countPlaces, countRanges } from '../vectors/lanes.ts'
import { PoolDomain } from '../vectors/pool-domain.ts'
import { scratchUint32 } from '../vectors/scratch.ts'
import { maximum, type NumberVector, type Vector } from '../vectors/vector.ts'
import { ranksOfRows, type SortKey } from './order-keys.ts'

/** Values are only counted individually where the largest is at most this many times the number of rows. */
const COUNTED_FACTOR = 4

/** Numbers of rows in the order of their values, 0 or the highest for none, and the largest that they may be. */
export interface OrderedValues {
  readonly numbers: Uint32Array
  readonly max: number
}

/** Counters that stay in the caches of a processor. */
const NEAR_COUNTERS = 8192

/** The number of rows for each number. */
export function countedValues({ numbers, max }: OrderedValues): Uint32Array {
  const counts = scratchUint32(max + 1).fill(0)
  countPlaces(counts, numbers)
  return counts
}

/** The number of rows for each range of numbers that differ by some lowest bits; null where there are few numbers. */
export function countedRanges({ numbers, max }: OrderedValues) {
  if (max < NEAR_COUNTERS) return null
  let bits = 1
  while (max >>> bits >= NEAR_COUNTERS) bits += 1
  const counts = scratchUint32((max >>> bits) + 1).fill(0)
  countRanges(counts, numbers, bits)
  return { counts, bits }
}

/** The values of a vector as small numbers in the same order; null where that is impossible. */
export function valuesInOrder(vector: Vector, size: number, isAbsentHighest: boolean): OrderedValues | null {
  if (vector.type === 'numbers') return integersInOrder(vector, size, isAbsentHighest)
  if (vector.type !== 'ids' || vector.domain.size > COUNTED_FACTOR * size) return null
  const { ids, domain } = vector
  const ranks = domain.ranks()
  const numbers = ranks === null && !isAbsentHighest ? ids : ranked(ids, ranks)
  if (isAbsentHighest) raiseAbsent(numbers, maximum(numbers) + 1)
  const max = numbers === ids ? domain.size : maximum(numbers)
  return max > COUNTED_FACTOR * size ? null : { numbers, max }
}

/** Converts integers that are close to each other, such as lengths and years, in the same way. */
function integersInOrder(
  { kind, values, bound }: NumberVector,
  size: number,
  isAbsentHighest: boolean,
): OrderedValues | null {
  if (kind !== 'integer') return null
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let row = 0; row < size; row++) {
    if (bound !== null && bound[row] === 0) continue
    const value = values[row] as number
    if (value < least) least = value
    if (value > greatest) greatest = value
  }
  const range = greatest - least
  if (!(range >= 0 && range + 2 <= COUNTED_FACTOR * size)) return null
  const absent = isAbsentHighest ? range + 2 : 0
  const numbers = scratchUint32(size)
  for (let row = 0; row < size; row++)
    numbers[row] = bound !== null && bound[row] === 0 ? absent : (values[row] as number) - least + 1
  return { numbers, max: range + 2 }
}

/** Replaces the number 0. */
function raiseAbsent(numbers: Uint32Array, absent: number): void {
  for (let row = 0; row < numbers.length; row++) if (numbers[row] === 0) numbers[row] = absent
}

function ranked(ids: Uint32Array, ranks: Uint32Array | null): Uint32Array {
  const numbers = scratchUint32(ids.length)
  if (ranks === null) {
    numbers.set(ids)
    return numbers
  }
  for (let row = 0; row < ids.length; row++) {
    const id = ids[row] as number
    numbers[row] = id === 0 ? 0 : (ranks[id] as number) + 1
  }
  return numbers
}

/** Numbers in the order of a key's values, negative where it descends: those of unbound values are the lowest, or the highest. */
export function orderNumbers(
  vector: Vector,
  size: number,
  key: SortKey,
  evaluation: Evaluation,
): Float64Array {
  const sign = key.descending ? -1 : 1
  const numbers = new Float64Array(size)
  switch (vector.type) {
    case 'constant':
      return numbers
    case 'ids': {
      const { ids, domain } = vector
      if (domain instanceof PoolDomain && size < domain.size)
        return ranksOfRows(ids, domain, key).map(rank => sign * rank + 0)
      const ranks = domain.ranks()
      const absent = sign * (key.isAbsentHighest ? Number.MAX_SAFE_INTEGER : -1)
      for (let row = 0; row < size; row++) {
        const id = ids[row] as number
        numbers[row] = id === 0 ? absent : sign * (ranks === null ? id : (ranks[id] as number)) + 0
      }
      return numbers
    }
    case 'numbers': {
      const { values, bound } = vector
      const absent = key.isAbsentHighest ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
      if (hasNoNumber(values, bound, absent))
        return orderNumbers(identifiedInPool(vector, size, evaluation), size, key, evaluation)
      if (bound === null)
        for (let row = 0; row < size; row++) numbers[row] = sign * (values[row] as number) + 0
      else
        for (let row = 0; row < size; row++)
          numbers[row] = sign * (bound[row] === 0 ? absent : (values[row] as number)) + 0
      return numbers
    }
  }
}

/** True where a value is NaN, or equals the number that represents unbound values in the order. */
function hasNoNumber(values: Float64Array, bound: Uint8Array | null, absent: number): boolean {
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number
    if (bound === null ? Number.isNaN(value) : bound[row] === 1 && (Number.isNaN(value) || value === absent))
      return true
  }
  return false
}

/** All rows in the order of their keys, by one stable sort per key, the last key first. */
export function sortedRows(keys: readonly Float64Array[], size: number): Uint32Array {
  let rows: Uint32Array | null = null
  for (let at = keys.length - 1; at >= 0; at--) {
    const numbers = keys[at] as Float64Array
    if (rows === null) {
      rows = sortedNumbers(numbers)
      continue
    }
    const before: Uint32Array = rows
    const moved = new Float64Array(size)
    for (let row = 0; row < size; row++) moved[row] = numbers[before[row] as number] as number
    const order = sortedNumbers(moved)
    rows = order.map(place => before[place] as number)
  }
  return rows ?? allRows(size)
}
