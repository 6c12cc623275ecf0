import { compareBytes } from './bytes.ts'

/** Fewer numbers than this are sorted by comparison; up to the second number, whole numbers are packed with their indexes. */
const COMPARISON_SORT_LIMIT = 2000
const MAX_PACKED = 2 ** 16
/** Whole numbers within a range below this leave room for an index in the same double. */
const MAX_RANGE = 2 ** 36
const DIGITS = 16
const HASH_BUCKETS = 2 ** DIGITS

/**
 * The indexes of numbers in ascending order; equal ones keep their order, -0 comes before 0 and NaN last. Radix sort of the bits
 * of IEEE 754, whose order is that of the numbers once negative ones are inverted.
 */
export function sortedNumbers(values: Float64Array): Uint32Array {
  const { length } = values
  const packed = length <= MAX_PACKED ? packedOrder(values) : null
  if (packed !== null) return packed
  const order = new Uint32Array(length)
  for (let at = 0; at < length; at++) order[at] = at
  if (length < COMPARISON_SORT_LIMIT)
    return order.sort((a, b) => compareNumbers(values[a] as number, values[b] as number) || a - b)
  const words = keysOf(values)
  let [from, to] = [order, new Uint32Array(length)]
  const counts = new Uint32Array(HASH_BUCKETS)
  for (const [half, shift] of [
    [0, 0],
    [0, DIGITS],
    [1, 0],
    [1, DIGITS],
  ] as const) {
    counts.fill(0)
    for (let at = half; at < words.length; at += 2) {
      const digit = ((words[at] as number) >>> shift) & (HASH_BUCKETS - 1)
      counts[digit] = (counts[digit] as number) + 1
    }
    if (counts[((words[half] as number) >>> shift) & (HASH_BUCKETS - 1)] === length) continue
    let sum = 0
    for (let digit = 0; digit < HASH_BUCKETS; digit++) {
      const count = counts[digit] as number
      counts[digit] = sum
      sum += count
    }
    for (let at = 0; at < length; at++) {
      const place = from[at] as number
      const digit = ((words[2 * place + half] as number) >>> shift) & (HASH_BUCKETS - 1)
      const next = counts[digit] as number
      to[next] = place
      counts[digit] = next + 1
    }
    ;[from, to] = [to, from]
  }
  return from
}

/** The order of whole numbers within a small range: each is packed with its index in one double. Null for others. */
function packedOrder(values: Float64Array): Uint32Array | null {
  const { length } = values
  let [least, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let at = 0; at < length; at++) {
    const value = values[at] as number
    if (!Number.isInteger(value) || Object.is(value, -0)) return null
    if (value < least) least = value
    if (value > max) max = value
  }
  if (!(max - least < MAX_RANGE) || Math.abs(least) > 2 ** 52 || Math.abs(max) > 2 ** 52) return null
  const packed = new Float64Array(length)
  for (let at = 0; at < length; at++) packed[at] = ((values[at] as number) - least) * MAX_PACKED + at
  packed.sort()
  const order = new Uint32Array(length)
  for (let at = 0; at < length; at++) order[at] = (packed[at] as number) % MAX_PACKED
  return order
}

/** Compares as {@link sortedNumbers} sorts. */
export function compareNumbers(left: number, right: number): number {
  if (left < right) return -1
  if (left > right) return 1
  if (left === right) return left !== 0 ? 0 : Number(Object.is(right, -0)) - Number(Object.is(left, -0))
  return Number(Number.isNaN(left)) - Number(Number.isNaN(right))
}

/** Keys whose unsigned order is that of the numbers: for each the lower half, followed by the upper half. */
function keysOf(values: Float64Array): Uint32Array {
  const words = new Uint32Array(values.slice().buffer)
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    const [low, high] = [2 * at, 2 * at + 1]
    if (Number.isNaN(value)) {
      words[low] = 0xffff_ffff
      words[high] = 0xffff_ffff
    } else if ((words[high] as number) >>> 31 === 1) {
      words[low] = ~(words[low] as number)
      words[high] = ~(words[high] as number)
    } else words[high] = (words[high] as number) | 0x8000_0000
  }
  return words
}

/** Indexes by a number. */
export interface NumberedPlaces {
  /** The first index of each number among the indexes; one entry more than there are numbers. */
  readonly starts: Uint32Array
  readonly places: Uint32Array
}

/**
 * The indexes of whole numbers, ascending within each number (counting sort).
 *
 * @param count one more than the largest number
 * @param make creates the arrays of the result
 */
export function placesByNumber(
  numbers: Uint32Array,
  count: number,
  make: (length: number) => Uint32Array = length => new Uint32Array(length),
): NumberedPlaces {
  const starts = make(count + 1)
  for (let at = 0; at < numbers.length; at++) {
    const behind = (numbers[at] as number) + 1
    starts[behind] = (starts[behind] as number) + 1
  }
  for (let number = 0; number < count; number++)
    starts[number + 1] = (starts[number + 1] as number) + (starts[number] as number)
  const next = starts.slice()
  const places = make(numbers.length)
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number
    const place = next[number] as number
    places[place] = at
    next[number] = place + 1
  }
  return { starts, places }
}

/** Byte strings by their numbers. */
export interface Pieces {
  readonly bytes: Uint8Array
  readonly startOf: (index: number) => number
  readonly endOf: (index: number) => number
}

/** Sorts the numbers of byte strings by their bytes. */
export function sortPieces(order: Uint32Array, { bytes, startOf, endOf }: Pieces): void {
  sortInPlace(order, (a, b) => compareBytes(bytes, startOf(a), endOf(a), bytes, startOf(b), endOf(b)))
}

/** The sort order of byte strings that are numbered 0 to size - 1. */
export function sortedPieces(size: number, pieces: Pieces): Uint32Array {
  const order = new Uint32Array(size)
  for (let index = 0; index < size; index++) order[index] = index
  sortPieces(order, pieces)
  return order
}

type Compare = (left: number, right: number) => number

/** Sorts numbers (merge sort), in memory outside of the JavaScript heap; equal ones keep their order. */
export function sortInPlace(order: Uint32Array, compare: Compare): void {
  mergeSort(order.slice(), order, 0, order.length, compare)
}

/** Parts smaller than this are sorted by insertion sort. */
const INSERTION_SORT_LIMIT = 12

/** Sorts a part of an array; the same part of another, which has the same numbers, is overwritten. */
function mergeSort(
  other: Uint32Array,
  order: Uint32Array,
  begin: number,
  end: number,
  compare: Compare,
): void {
  if (end - begin < INSERTION_SORT_LIMIT) {
    for (let next = begin + 1; next < end; next++) {
      const number = order[next] as number
      let at = next
      for (; at > begin && compare(order[at - 1] as number, number) > 0; at--)
        order[at] = order[at - 1] as number
      order[at] = number
    }
    return
  }
  const middle = (begin + end) >>> 1
  mergeSort(order, other, begin, middle, compare)
  mergeSort(order, other, middle, end, compare)
  if (compare(other[middle - 1] as number, other[middle] as number) <= 0) {
    order.set(other.subarray(begin, end), begin)
    return
  }
  for (let [at, left, right] = [begin, begin, middle]; at < end; at++) {
    const isLeft =
      left < middle && (right === end || compare(other[left] as number, other[right] as number) <= 0)
    order[at] = other[isLeft ? left++ : right++] as number
  }
}
