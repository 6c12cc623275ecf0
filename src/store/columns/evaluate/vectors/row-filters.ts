import { placesByNumber } from '../../sorting.ts'
import { allRows } from './batch.ts'
import { scratchUint8, scratchUint32 } from './scratch.ts'
import { isBound, type Vector } from './vector.ts'

/**
 * Loops that select the rows of a condition. They write each row and advance a counter for those that match by 32-bit arithmetic,
 * whose sign bit is the result: with a branch that depends on the data, the processor would mispredict every other row. Numbers
 * of terms are below 2^31. The loop over all rows is unrolled, because the engine does not do that: this doubles its speed.
 */

/** The rows whose numbers are in a range, or outside of it; 0 is not outside. */
export function rowsInRange(
  ids: Uint32Array,
  from: number,
  to: number,
  isInside: boolean,
  rows: Uint32Array | null,
): Uint32Array {
  const [first, end] = [(from - 1) | 0, to | 0]
  const selected = scratchUint32(rows === null ? ids.length : rows.length)
  const count =
    rows === null && isInside
      ? selectInside(selected, ids, first, end)
      : selectOf(selected, ids, rows ?? allRows(ids.length), [first, end], isInside)
  return selected.subarray(0, count)
}

/** 1 for a number above one and below another, else 0. */
function isBetween(id: number, first: number, end: number): number {
  return ((first - id) & (id - end)) >>> 31
}

function selectInside(selected: Uint32Array, ids: Uint32Array, first: number, end: number): number {
  const length = ids.length | 0
  const whole = length & ~7
  let count = 0
  for (let row = 0; row < whole; row += 8) {
    selected[count] = row
    count = (count + isBetween((ids[row] as number) | 0, first, end)) | 0
    selected[count] = row + 1
    count = (count + isBetween((ids[row + 1] as number) | 0, first, end)) | 0
    selected[count] = row + 2
    count = (count + isBetween((ids[row + 2] as number) | 0, first, end)) | 0
    selected[count] = row + 3
    count = (count + isBetween((ids[row + 3] as number) | 0, first, end)) | 0
    selected[count] = row + 4
    count = (count + isBetween((ids[row + 4] as number) | 0, first, end)) | 0
    selected[count] = row + 5
    count = (count + isBetween((ids[row + 5] as number) | 0, first, end)) | 0
    selected[count] = row + 6
    count = (count + isBetween((ids[row + 6] as number) | 0, first, end)) | 0
    selected[count] = row + 7
    count = (count + isBetween((ids[row + 7] as number) | 0, first, end)) | 0
  }
  for (let row = whole; row < length; row++) {
    selected[count] = row
    count = (count + isBetween((ids[row] as number) | 0, first, end)) | 0
  }
  return count
}

/** Selects from the given rows. */
function selectOf(
  selected: Uint32Array,
  ids: Uint32Array,
  rows: Uint32Array,
  [first, end]: readonly [first: number, end: number],
  isInside: boolean,
): number {
  const length = rows.length | 0
  const flip = isInside ? 0 : 1
  let count = 0
  for (let at = 0; at < length; at++) {
    const row = rows[at] as number
    const id = (ids[row] as number) | 0
    selected[count] = row
    count = (count + ((isBetween(id, first, end) ^ flip) & (-id >>> 31))) | 0
  }
  return count
}

/** The rows whose numbers are marked in a table; 0 is not marked. */
export function rowsMarked(
  ids: Uint32Array,
  table: Uint8Array,
  mark: number,
  rows: Uint32Array,
): Uint32Array {
  const length = rows.length | 0
  const selected = scratchUint32(length)
  let count = 0
  for (let at = 0; at < length; at++) {
    const row = rows[at] as number
    const id = (ids[row] as number) | 0
    selected[count] = row
    count = (count + (((((table[id] as number) ^ mark) - 1) >>> 31) & (-id >>> 31))) | 0
  }
  return selected.subarray(0, count)
}

/** The given rows for which a table of 0 and 1 has one of them; null for all rows of the table. */
export function rowsOfTable(table: Uint8Array, value: 0 | 1, rows: Uint32Array | null): Uint32Array {
  const selected = scratchUint32((rows ?? table).length)
  const length = rows === null ? 0 : rows.length | 0
  const flip = value ^ 1
  let count = rows === null ? selectMarked(selected, table, flip) : 0
  for (let at = 0; at < length; at++) {
    const row = (rows as Uint32Array)[at] as number
    selected[count] = row
    count = (count + ((table[row] as number) ^ flip)) | 0
  }
  return selected.subarray(0, count)
}

function selectMarked(selected: Uint32Array, table: Uint8Array, flip: number): number {
  const length = table.length | 0
  const whole = length & ~3
  let count = 0
  for (let row = 0; row < whole; row += 4) {
    selected[count] = row
    count = (count + ((table[row] as number) ^ flip)) | 0
    selected[count] = row + 1
    count = (count + ((table[row + 1] as number) ^ flip)) | 0
    selected[count] = row + 2
    count = (count + ((table[row + 2] as number) ^ flip)) | 0
    selected[count] = row + 3
    count = (count + ((table[row + 3] as number) ^ flip)) | 0
  }
  for (let row = whole; row < length; row++) {
    selected[count] = row
    count = (count + ((table[row] as number) ^ flip)) | 0
  }
  return count
}

/** The rows whose numbers have a bit in a table, 1 or 2. */
export function rowsWithBit(
  ids: Uint32Array,
  table: Uint8Array,
  bit: number,
  rows: Uint32Array,
): Uint32Array {
  const [shift, length] = [bit >>> 1, rows.length | 0]
  const selected = scratchUint32(length)
  let count = 0
  for (let at = 0; at < length; at++) {
    const row = rows[at] as number
    selected[count] = row
    count = (count + (((table[ids[row] as number] as number) >>> shift) & 1)) | 0
  }
  return selected.subarray(0, count)
}

/** The rows of a vector whose number is not 0. */
export function rowsPresent(ids: Uint32Array): Uint32Array {
  return rowsInRange(ids, 1, 2 ** 31 - 1, true, null)
}

/**
 * The rows for which none of some vectors of the same length has the number 0.
 *
 * @param rows the rows that are tested; null for all
 */
export function rowsPresentInAll(vectors: readonly Uint32Array[], rows: Uint32Array | null): Uint32Array {
  const [first, second, ...others] = vectors
  const isPair = rows === null && first !== undefined && second !== undefined
  const present = (some: Uint32Array | null, ids: Uint32Array) => rowsInRange(ids, 1, 2 ** 31 - 1, true, some)
  return isPair
    ? others.reduce(present, rowsOfBoth(first, second))
    : (vectors.reduce(present, rows) as Uint32Array)
}

/** The rows for which neither of two vectors has the number 0. */
function rowsOfBoth(first: Uint32Array, second: Uint32Array): Uint32Array {
  const length = first.length | 0
  const whole = length & ~3
  const selected = scratchUint32(length)
  let count = 0
  for (let row = 0; row < whole; row += 4) {
    selected[count] = row
    count = (count + arePresent(first[row] as number, second[row] as number)) | 0
    selected[count] = row + 1
    count = (count + arePresent(first[row + 1] as number, second[row + 1] as number)) | 0
    selected[count] = row + 2
    count = (count + arePresent(first[row + 2] as number, second[row + 2] as number)) | 0
    selected[count] = row + 3
    count = (count + arePresent(first[row + 3] as number, second[row + 3] as number)) | 0
  }
  for (let row = whole; row < length; row++) {
    selected[count] = row
    count = (count + arePresent(first[row] as number, second[row] as number)) | 0
  }
  return selected.subarray(0, count)
}

/** 1 where neither of two numbers is 0, else 0. */
function arePresent(first: number, second: number): number {
  return (-(first | 0) & -(second | 0)) >>> 31
}

/** The given rows that a vector binds, or does not bind. */
export function rowsBound(vector: Vector, rows: Uint32Array, required: boolean): Uint32Array {
  const length = rows.length | 0
  const selected = scratchUint32(length)
  const flip = required ? 0 : 1
  let count = 0
  if (vector.type === 'ids') {
    const { ids } = vector
    for (let at = 0; at < length; at++) {
      const row = rows[at] as number
      selected[count] = row
      count = (count + ((-((ids[row] as number) | 0) >>> 31) ^ flip)) | 0
    }
  } else
    for (let at = 0; at < length; at++) {
      const row = rows[at] as number
      if (isBound(vector, row) === required) selected[count++] = row
    }
  return selected.subarray(0, count)
}

/** Marks in a table the rows whose numbers are in a range, or outside of it; 0 is not outside. */
export function markInRange(
  table: Uint8Array,
  ids: Uint32Array,
  from: number,
  to: number,
  isInside: boolean,
): void {
  const [first, end, flip] = [(from - 1) | 0, to | 0, isInside ? 0 : 1]
  const length = ids.length | 0
  const whole = length & ~3
  for (let row = 0; row < whole; row += 4) {
    let id = (ids[row] as number) | 0
    table[row] = (table[row] as number) | ((isBetween(id, first, end) ^ flip) & (-id >>> 31))
    id = (ids[row + 1] as number) | 0
    table[row + 1] = (table[row + 1] as number) | ((isBetween(id, first, end) ^ flip) & (-id >>> 31))
    id = (ids[row + 2] as number) | 0
    table[row + 2] = (table[row + 2] as number) | ((isBetween(id, first, end) ^ flip) & (-id >>> 31))
    id = (ids[row + 3] as number) | 0
    table[row + 3] = (table[row + 3] as number) | ((isBetween(id, first, end) ^ flip) & (-id >>> 31))
  }
  for (let row = whole; row < length; row++) {
    const id = (ids[row] as number) | 0
    table[row] = (table[row] as number) | ((isBetween(id, first, end) ^ flip) & (-id >>> 31))
  }
}

/** Marks the rows whose numbers have a bit, 1 or 2, in another table. */
export function markWithBit(table: Uint8Array, ids: Uint32Array, truths: Uint8Array, bit: number): void {
  const length = ids.length | 0
  const whole = length & ~3
  const ones = bit === 1 ? truths : truths.map(bits => bits >>> 1)
  for (let row = 0; row < whole; row += 4) {
    table[row] = (table[row] as number) | ((ones[ids[row] as number] as number) & 1)
    table[row + 1] = (table[row + 1] as number) | ((ones[ids[row + 1] as number] as number) & 1)
    table[row + 2] = (table[row + 2] as number) | ((ones[ids[row + 2] as number] as number) & 1)
    table[row + 3] = (table[row + 3] as number) | ((ones[ids[row + 3] as number] as number) & 1)
  }
  for (let row = whole; row < length; row++)
    table[row] = (table[row] as number) | ((ones[ids[row] as number] as number) & 1)
}

/** Ascending rows without some of them. */
export function without(rows: Uint32Array, some: Uint32Array): Uint32Array {
  return some.length === 0 ? rows : rowsOfTable(marked([some], (rows.at(-1) as number) + 1), 0, rows)
}

/** Merges lists of ascending rows. */
export function merged(...lists: readonly Uint32Array[]): Uint32Array {
  const [first = new Uint32Array(0), ...others] = lists.filter(({ length }) => length > 0)
  if (others.length === 0) return first
  const size = Math.max(...lists.map(rows => rows.at(-1) ?? 0)) + 1
  return rowsOfTable(marked(lists, size), 1, null)
}

/** A table by row: 1 for the rows of some lists. */
function marked(lists: readonly Uint32Array[], size: number): Uint8Array {
  const table = scratchUint8(size).fill(0)
  for (const rows of lists) markRows(table, rows)
  return table
}

export function markRows(table: Uint8Array, rows: Uint32Array): void {
  for (let at = 0; at < rows.length; at++) table[rows[at] as number] = 1
}

/**
 * The rows of each group, in ascending order.
 *
 * @param groups number of the group of each row
 * @param count number of groups
 */
export function* rowsByGroup(groups: Uint32Array, count: number): Generator<Uint32Array> {
  const { starts, places } = placesByNumber(groups, count)
  for (let group = 0; group < count; group++) yield places.subarray(starts[group], starts[group + 1])
}
