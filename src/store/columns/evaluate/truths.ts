import { effectiveBoolean } from './scalar.ts'
import { scratchUint32 } from './scratch.ts'
import type { TermValue } from './value.ts'

/**
 * The truth of a condition for each row of a batch, a byte each: one bit is set if it holds, another if it fails, and neither for
 * an error (SPARQL 1.1 Query, section 17.2). Four rows are combined at a time.
 */
export interface Truths {
  readonly words: Uint32Array
  readonly bytes: Uint8Array
}

export const HOLDS = 1
export const FAILS = 2

/** The additional state of truth tables by value; 0 means not computed yet. */
export const ERROR = 4

/** The bit of each of the four rows of a word. */
const [ALL_TRUE, ALL_FALSE] = [0x01010101, 0x02020202]

/** The truth of the value of a condition, as in tables. */
export function truthOf(value: TermValue | null): number {
  const holds = effectiveBoolean(value)
  return holds === null ? ERROR : holds ? HOLDS : FAILS
}

/** Truths with arbitrary bytes: all of them must be written before they are read. */
export function truthsFor(size: number): Truths {
  const words = scratchUint32((size + 3) >>> 2)
  return { words, bytes: new Uint8Array(words.buffer, words.byteOffset, size) }
}

/** The truth of numbers being in a range, or outside of it; for 0 it is an error. */
export function rangeTruths(ids: Uint32Array, from: number, to: number, isInside: boolean): Truths {
  const [first, end, length] = [(from - 1) | 0, to | 0, ids.length | 0]
  const flip = isInside ? 0 : HOLDS
  const truths = truthsFor(length)
  const { bytes } = truths
  const whole = length & ~3
  for (let row = 0; row < whole; row += 4) {
    bytes[row] = rangeTruth((ids[row] as number) | 0, first, end, flip)
    bytes[row + 1] = rangeTruth((ids[row + 1] as number) | 0, first, end, flip)
    bytes[row + 2] = rangeTruth((ids[row + 2] as number) | 0, first, end, flip)
    bytes[row + 3] = rangeTruth((ids[row + 3] as number) | 0, first, end, flip)
  }
  for (let row = whole; row < length; row++)
    bytes[row] = rangeTruth((ids[row] as number) | 0, first, end, flip)
  return truths
}

function rangeTruth(id: number, first: number, end: number, flip: number): number {
  const holds = (((first - id) & (id - end)) >>> 31) ^ flip
  return (FAILS - holds) & (-id >> 31)
}

/** `&&`, written to the left operand. */
export function bothTrue({ words, bytes }: Truths, right: Truths): Truths {
  for (let at = 0; at < words.length; at++) {
    const one = (words[at] as number) | 0
    const other = (right.words[at] as number) | 0
    words[at] = (one & other & ALL_TRUE) | ((one | other) & ALL_FALSE)
  }
  return { words, bytes }
}

/** `||`, written to the left operand. */
export function eitherHolds({ words, bytes }: Truths, right: Truths): Truths {
  for (let at = 0; at < words.length; at++) {
    const one = (words[at] as number) | 0
    const other = (right.words[at] as number) | 0
    words[at] = ((one | other) & ALL_TRUE) | (one & other & ALL_FALSE)
  }
  return { words, bytes }
}

/** `!`, written in place. */
export function reversed({ words, bytes }: Truths): Truths {
  for (let at = 0; at < words.length; at++) {
    const word = (words[at] as number) | 0
    words[at] = ((word & ALL_TRUE) << 1) | ((word & ALL_FALSE) >>> 1)
  }
  return { words, bytes }
}

/** The rows, of the given ones or of all, that have a bit. */
export function rowsThat({ bytes }: Truths, bit: number, rows: Uint32Array | null): Uint32Array {
  const shift = bit >>> 1
  const length = (rows === null ? bytes.length : rows.length) | 0
  const selected = scratchUint32(length)
  let count = 0
  if (rows === null) {
    const whole = length & ~3
    for (let row = 0; row < whole; row += 4) {
      selected[count] = row
      count = (count + (((bytes[row] as number) >>> shift) & 1)) | 0
      selected[count] = row + 1
      count = (count + (((bytes[row + 1] as number) >>> shift) & 1)) | 0
      selected[count] = row + 2
      count = (count + (((bytes[row + 2] as number) >>> shift) & 1)) | 0
      selected[count] = row + 3
      count = (count + (((bytes[row + 3] as number) >>> shift) & 1)) | 0
    }
    for (let row = whole; row < length; row++) {
      selected[count] = row
      count = (count + (((bytes[row] as number) >>> shift) & 1)) | 0
    }
  } else
    for (let at = 0; at < length; at++) {
      const row = rows[at] as number
      selected[count] = row
      count = (count + (((bytes[row] as number) >>> shift) & 1)) | 0
    }
  return selected.subarray(0, count)
}

/** Looks up the truths of rows in a table by their numbers; returns the first row whose truth is unknown. */
export function writeKnown(bytes: Uint8Array, table: Uint8Array, ids: Uint32Array, from: number): number {
  const length = ids.length | 0
  for (let row = from | 0; row < length; row++) {
    const truth = table[ids[row] as number] as number
    if (truth === 0) return row
    bytes[row] = truth
  }
  return length
}

/** The index of the next row of a list whose truth is unknown. */
export function nextUnknown(table: Uint8Array, ids: Uint32Array, rows: Uint32Array, from: number): number {
  const length = rows.length | 0
  for (let at = from | 0; at < length; at++) if (table[ids[rows[at] as number] as number] === 0) return at
  return length
}
