import { compareBytes } from '../bytes.ts'

/** Byte strings by their numbers. */
export interface Pieces {
  readonly bytes: Uint8Array
  readonly startOf: (index: number) => number
  readonly endOf: (index: number) => number
}

/** Groups smaller than this are sorted by insertion sort. */
const INSERTION_SORT_LIMIT = 12
/** Groups smaller than this are sorted by comparison of keys, others by radix sort. */
const COMPARISON_SORT_LIMIT = 512
/** Groups smaller than this are sorted by digits of eight bits, others by digits of sixteen. */
const WIDE_DIGITS_LIMIT = 2 ** 15
const KEY_BYTES = 4
const GAPS = [132, 57, 23, 10, 4, 1]

/** Sorts the numbers of byte strings by their bytes. */
export function sortPieces(order: Uint32Array, pieces: Pieces): void {
  if (order.length > 1) new PieceSorter(order, pieces).sort()
}

/** The sort order of byte strings that are numbered 0 to size - 1. */
export function sortedPieces(size: number, pieces: Pieces): Uint32Array {
  const order = new Uint32Array(size)
  for (let index = 0; index < size; index++) order[index] = index
  sortPieces(order, pieces)
  return order
}

/**
 * Radix sort from the front, four bytes at a time: the next bytes of each byte string are a number stored next to it, so that
 * sorting reads memory sequentially; byte strings with equal numbers are then sorted by the following bytes.
 */
class PieceSorter {
  private readonly order: Uint32Array
  private readonly bytes: Uint8Array
  /** Offsets of the byte strings, in a field: a call for each byte would cost more than the comparison. */
  private readonly starts: Uint32Array | Float64Array
  private readonly lengths: Uint32Array
  /** The byte strings as indexes into {@link order}, and their keys. */
  private readonly index: Uint32Array
  private readonly keys: Uint32Array
  private readonly otherIndex: Uint32Array
  private readonly otherKeys: Uint32Array
  private readonly counts = new Uint32Array(2 ** 16)
  /** Groups that are still to be sorted: begin, end, and number of bytes that their members share. */
  private readonly stack: number[] = []

  constructor(order: Uint32Array, { bytes, startOf, endOf }: Pieces) {
    const { length } = order
    this.order = order
    this.bytes = bytes
    this.starts = bytes.length <= 0xffff_ffff ? new Uint32Array(length) : new Float64Array(length)
    this.lengths = new Uint32Array(length)
    this.index = new Uint32Array(length)
    this.keys = new Uint32Array(length)
    this.otherIndex = new Uint32Array(length)
    this.otherKeys = new Uint32Array(length)
    for (let at = 0; at < length; at++) {
      const piece = order[at] as number
      const start = startOf(piece)
      this.starts[at] = start
      this.lengths[at] = endOf(piece) - start
      this.index[at] = at
    }
  }

  sort(): void {
    const { order, index, stack, otherIndex } = this
    stack.push(0, order.length, 0)
    while (stack.length > 0) {
      const depth = stack.pop() as number
      const end = stack.pop() as number
      const begin = stack.pop() as number
      if (end - begin < INSERTION_SORT_LIMIT) this.insert(begin, end, depth)
      else this.split(begin, end, depth)
    }
    for (let at = 0; at < index.length; at++) otherIndex[at] = order[index[at] as number] as number
    order.set(otherIndex)
  }

  /** Sorts a group by its next four bytes, and pushes the groups of equal bytes to be sorted. */
  private split(begin: number, end: number, depth: number): void {
    const { keys, index } = this
    if (!this.fillKeys(begin, end, depth)) {
      if (end - begin < COMPARISON_SORT_LIMIT) this.sortByComparison(begin, end)
      else this.sortByDigits(begin, end)
    }
    for (let from = begin; from < end; ) {
      const key = keys[from] as number
      let to = from + 1
      while (to < end && keys[to] === key) to++
      if (to - from > 1) {
        const next = this.endedFirst(index, from, to, depth + KEY_BYTES)
        if (to - next > 1) this.stack.push(next, to, depth + KEY_BYTES)
      }
      from = to
    }
  }

  /** Fills the keys of a group; true where all keys are equal. */
  private fillKeys(begin: number, end: number, depth: number): boolean {
    const { bytes, starts, lengths, index, keys } = this
    let different = 0
    for (let at = begin; at < end; at++) {
      const piece = index[at] as number
      const from = (starts[piece] as number) + depth
      const left = (lengths[piece] as number) - depth
      let key = 0
      if (left >= KEY_BYTES)
        key =
          ((bytes[from] as number) << 24) |
          ((bytes[from + 1] as number) << 16) |
          ((bytes[from + 2] as number) << 8) |
          (bytes[from + 3] as number)
      else for (let byte = 0; byte < left; byte++) key |= (bytes[from + byte] as number) << (24 - 8 * byte)
      keys[at] = key
      different |= key ^ (keys[begin] as number)
    }
    return different === 0
  }

  /**
   * Moves byte strings of equal keys that end within them to the front, the shorter before the longer (keys are padded with
   * zeros). Returns the index of the first that continues.
   */
  private endedFirst(index: Uint32Array, from: number, to: number, depth: number): number {
    const { lengths } = this
    let next = from
    for (let at = from; at < to; at++) {
      const piece = index[at] as number
      const length = lengths[piece] as number
      if (length > depth) continue
      index[at] = index[next] as number
      let place = next
      while (place > from && (lengths[index[place - 1] as number] as number) > length) {
        index[place] = index[place - 1] as number
        place -= 1
      }
      index[place] = piece
      next += 1
    }
    return next
  }

  private sortByComparison(begin: number, end: number): void {
    const { keys, index } = this
    for (const gap of GAPS)
      for (let next = begin + gap; next < end; next++) {
        const key = keys[next] as number
        const piece = index[next] as number
        let at = next
        for (; at - gap >= begin && (keys[at - gap] as number) > key; at -= gap) {
          keys[at] = keys[at - gap] as number
          index[at] = index[at - gap] as number
        }
        keys[at] = key
        index[at] = piece
      }
  }

  /** Radix sort of the keys, the lowest digit first; a digit that is equal in all keys costs one pass of reading. */
  private sortByDigits(begin: number, end: number): void {
    const bits = end - begin < WIDE_DIGITS_LIMIT ? 8 : 16
    let isMoved = false
    for (let shift = 0; shift < 32; shift += bits) {
      const [keys, index] = isMoved ? [this.otherKeys, this.otherIndex] : [this.keys, this.index]
      const [toKeys, toIndex] = isMoved ? [this.keys, this.index] : [this.otherKeys, this.otherIndex]
      if (this.sortByDigit(keys, index, toKeys, toIndex, begin, end, shift, bits)) isMoved = !isMoved
    }
    if (!isMoved) return
    this.keys.set(this.otherKeys.subarray(begin, end), begin)
    this.index.set(this.otherIndex.subarray(begin, end), begin)
  }

  /** False where all keys have the same digit: nothing was moved then. */
  private sortByDigit(
    keys: Uint32Array,
    index: Uint32Array,
    toKeys: Uint32Array,
    toIndex: Uint32Array,
    begin: number,
    end: number,
    shift: number,
    bits: number,
  ): boolean {
    const { counts } = this
    const mask = 2 ** bits - 1
    counts.fill(0, 0, mask + 1)
    for (let at = begin; at < end; at++) {
      const digit = ((keys[at] as number) >>> shift) & mask
      counts[digit] = (counts[digit] as number) + 1
    }
    if (counts[((keys[begin] as number) >>> shift) & mask] === end - begin) return false
    let sum = begin
    for (let digit = 0; digit <= mask; digit++) {
      const count = counts[digit] as number
      counts[digit] = sum
      sum += count
    }
    for (let at = begin; at < end; at++) {
      const key = keys[at] as number
      const digit = (key >>> shift) & mask
      const place = counts[digit] as number
      counts[digit] = place + 1
      toKeys[place] = key
      toIndex[place] = index[at] as number
    }
    return true
  }

  private insert(begin: number, end: number, depth: number): void {
    const { bytes, starts, lengths, index } = this
    for (let next = begin + 1; next < end; next++) {
      const piece = index[next] as number
      const start = starts[piece] as number
      const stop = start + (lengths[piece] as number)
      let at = next
      while (at > begin) {
        const before = index[at - 1] as number
        const beforeStart = starts[before] as number
        const beforeEnd = beforeStart + (lengths[before] as number)
        if (compareBytes(bytes, beforeStart + depth, beforeEnd, bytes, start + depth, stop) <= 0) break
        index[at] = before
        at--
      }
      index[at] = piece
    }
  }
}
