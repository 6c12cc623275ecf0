import { countPlaces } from './lanes.ts'
import { scratchUint32 } from './scratch.ts'
import type { NumberVector, Vector } from './vector.ts'
import { maximum } from './vector.ts'

/** Values are only counted individually where the largest is at most this many times the number of rows. */
const COUNTED_FACTOR = 4

/** Number of values that are sampled to estimate the values at some places of an order. */
const SAMPLE = 1024

/** Numbers of rows in the order of their values, 0 or the highest for none, and the number of rows for each number. */
interface CountedValues {
  readonly numbers: Uint32Array
  readonly counts: Uint32Array
}

/** The values of a vector as small numbers in the same order; null where that is impossible. */
export function valuesInOrder(vector: Vector, size: number, isAbsentHighest: boolean): CountedValues | null {
  if (vector.type === 'numbers') return integersInOrder(vector, size, isAbsentHighest)
  if (vector.type !== 'ids' || vector.domain.size > COUNTED_FACTOR * size) return null
  const { ids, domain } = vector
  const ranks = domain.ranks()
  const numbers = ranks === null && !isAbsentHighest ? ids : ranked(ids, ranks)
  if (isAbsentHighest) raiseAbsent(numbers, maximum(numbers) + 1)
  const max = numbers === ids ? domain.size : maximum(numbers)
  if (max > COUNTED_FACTOR * size) return null
  const counts = scratchUint32(max + 1).fill(0)
  countPlaces(counts, numbers)
  return { numbers, counts }
}

/** Converts integers that are close to each other, such as lengths and years, in the same way. */
function integersInOrder(
  { kind, values, bound }: NumberVector,
  size: number,
  isAbsentHighest: boolean,
): CountedValues | null {
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
  const counts = scratchUint32(range + 3).fill(0)
  countPlaces(counts, numbers)
  return { numbers, counts }
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

/**
 * The rows whose numbers are between two bounds that a sample estimates for some places of their order, and the number of rows
 * before them. Null where the estimate was wrong, or most rows remain though their numbers differ.
 */
export function valuesAround(
  numbers: Float64Array,
  from: number,
  to: number,
): { readonly rows: Uint32Array; readonly before: number; readonly areEqual: boolean } | null {
  const { length } = numbers
  const size = Math.min(SAMPLE, length >>> 2)
  const sample = new Float64Array(size)
  const step = length / size
  for (let at = 0; at < size; at++) sample[at] = numbers[Math.floor(at * step)] as number
  sample.sort()
  const [start, end] = [(from / length) * size, (to / length) * size]
  const [under, over] = [
    Math.floor(start - 3 * Math.sqrt(start) - 2),
    Math.ceil(end + 3 * Math.sqrt(end) + 2),
  ]
  const low = under < 0 ? Number.NEGATIVE_INFINITY : (sample[under] as number)
  const high = over >= size ? Number.POSITIVE_INFINITY : (sample[over] as number)
  const rows = scratchUint32(length)
  let [count, before] = [0, 0]
  for (let row = 0; row < length; row++) {
    const number = numbers[row] as number
    rows[count] = row
    before += number < low ? 1 : 0
    count += number >= low && number <= high ? 1 : 0
  }
  const areEqual = low === high
  if (before > from || before + count < to || (count > length / 2 && !areEqual)) return null
  return { rows: rows.subarray(0, count), before, areEqual }
}
