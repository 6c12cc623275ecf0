import { compareBytes } from '../bytes.ts'

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
