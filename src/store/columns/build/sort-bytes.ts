import { compareBytes } from '../bytes.ts'

/** Pieces of bytes by their numbers. */
export interface Pieces {
  readonly bytes: Uint8Array
  readonly startOf: (index: number) => number
  readonly endOf: (index: number) => number
}

/** Runs shorter than this are sorted by insertion. */
const SHORT = 12

/**
 * Sorts the numbers of pieces by their bytes: multikey quicksort (Bentley and Sedgewick, "Fast algorithms for sorting and
 * searching strings", 1997), which looks at each byte of a shared beginning once.
 */
export function sortPieces(order: Uint32Array, pieces: Pieces): void {
  const { bytes } = pieces
  // Places at hand: a call for each byte would cost more than the comparison.
  const starts = new Float64Array(order.length)
  const lengths = new Int32Array(order.length)
  const index = new Uint32Array(order.length)
  for (let at = 0; at < order.length; at++) {
    const piece = order[at] as number
    const start = pieces.startOf(piece)
    starts[at] = start
    lengths[at] = pieces.endOf(piece) - start
    index[at] = at
  }
  const stack: number[] = [0, order.length, 0]
  while (stack.length > 0) {
    const depth = stack.pop() as number
    const end = stack.pop() as number
    const begin = stack.pop() as number
    if (end - begin < SHORT) {
      insertionSort(index, begin, end, depth)
      continue
    }
    const pivot = byteAt(index[medianOf(begin, end, depth)] as number, depth)
    let [low, high, at] = [begin, end - 1, begin]
    while (at <= high) {
      const piece = index[at] as number
      const byte = byteAt(piece, depth)
      if (byte < pivot) {
        index[at++] = index[low] as number
        index[low++] = piece
      } else if (byte > pivot) {
        index[at] = index[high] as number
        index[high--] = piece
      } else at++
    }
    if (low - begin > 1) stack.push(begin, low, depth)
    if (pivot >= 0 && high + 1 - low > 1) stack.push(low, high + 1, depth + 1)
    if (end - high - 1 > 1) stack.push(high + 1, end, depth)
  }
  const sorted = index.map(at => order[at] as number)
  order.set(sorted)

  /** The byte at a depth; -1 behind the end. */
  function byteAt(piece: number, depth: number): number {
    return depth < (lengths[piece] as number) ? (bytes[(starts[piece] as number) + depth] as number) : -1
  }

  function medianOf(begin: number, end: number, depth: number): number {
    const middle = (begin + end) >> 1
    const [a, b, c] = [begin, middle, end - 1].map(at => byteAt(index[at] as number, depth)) as [
      number,
      number,
      number,
    ]
    if (a < b) return b < c ? middle : a < c ? end - 1 : begin
    return a < c ? begin : b < c ? end - 1 : middle
  }

  function insertionSort(places: Uint32Array, begin: number, end: number, depth: number): void {
    for (let next = begin + 1; next < end; next++) {
      const piece = places[next] as number
      const start = starts[piece] as number
      const stop = start + (lengths[piece] as number)
      let at = next
      while (at > begin) {
        const before = places[at - 1] as number
        const beforeStart = starts[before] as number
        const beforeEnd = beforeStart + (lengths[before] as number)
        if (compareBytes(bytes, beforeStart + depth, beforeEnd, bytes, start + depth, stop) <= 0) break
        places[at] = before
        at--
      }
      places[at] = piece
    }
  }
}

/** The order of pieces that are numbered 0 to size - 1. */
export function sortedPieces(size: number, pieces: Pieces): Uint32Array {
  const order = new Uint32Array(size)
  for (let index = 0; index < size; index++) order[index] = index
  sortPieces(order, pieces)
  return order
}
