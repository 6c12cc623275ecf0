import type { Column } from '../column.ts'
import { Batch } from './batch.ts'
import type { Evaluation } from './evaluation.ts'
import { joinedBatch, type Pairs } from './join.ts'
import { outlivingReuse, reusingScratch, scratchUint32 } from './scratch.ts'
import { gatherValues, sliceVector, type Vector } from './vector.ts'

/** Pairs that are made at a time: what is worked out of them stays near the processor. */
const PAIRS_AT_ONCE = 2 ** 15

/** Of more pairs than these all that they are made of is read before, so that it does not depend on their memory. */
const WORTH_READING = 4 * PAIRS_AT_ONCE

/** Of at least so many rows of one side, those of the other are taken one by one, as terms that are the same in all pairs. */
const MANY_ROWS = 2 ** 10

/** Of pairs of which one in so many remains at most, what remains is copied, and their memory used again. */
const FEW_PART = 4

/**
 * What is found of the pairs of each solution of one batch with each of another, some pairs at a time.
 *
 * @param find what remains of some pairs; it must not keep anything of them itself, for their memory is used again
 */
export function* crossed(
  left: Batch,
  right: Batch,
  evaluation: Evaluation,
  find: (pairs: Batch) => Batch = pairs => pairs,
): Generator<Batch> {
  if (left.size === 1 && left.variables.length === 0) {
    const found = find(right)
    if (found.size > 0) yield found
    return
  }
  const areMany = left.variables.length > 0 && left.size * right.size > WORTH_READING
  const isRead = areMany && left.read() && right.read()
  for (const [rows, others] of parts(left, right)) {
    const found = remainder(
      () => pairsOf(left, rows, others, evaluation),
      find,
      (rows.to - rows.from) * others.size,
      isRead,
    )
    if (found.size > 0) yield found
  }
}

/** Rows of a batch, each as often as there are subjects that have its value, and these subjects. */
export interface Holders {
  readonly rows: Uint32Array
  readonly subjects: Uint32Array
}

/**
 * What is found of the pairs of each row of a batch with each subject that has its value, some pairs at a time where there
 * are many.
 *
 * @param codes of each row its value in the column; 0 for none
 * @param find see {@link crossed}
 */
export function* withHolders(
  batch: Batch,
  column: Column,
  codes: Uint32Array,
  find: (holders: Holders) => Batch,
): Generator<Batch> {
  const { starts } = column.postings
  let count = 0
  for (const code of codes) if (code !== 0) count += (starts[code + 1] as number) - (starts[code] as number)
  const areMany = count > WORTH_READING
  const isRead = areMany && batch.read()
  const from: PostingPlace = { row: 0, offset: 0 }
  for (let size: number; count > 0; count -= size) {
    size = areMany ? Math.min(count, PAIRS_AT_ONCE) : count
    const found = remainder(() => nextHolders(column, codes, from, size), find, size, isRead)
    if (found.size > 0) yield found
  }
}

/** A subject among those that have the value of a row. */
interface PostingPlace {
  row: number
  offset: number
}

/** So many pairs from a place on, which is moved behind them. */
function nextHolders(column: Column, codes: Uint32Array, from: PostingPlace, size: number): Holders {
  const { starts, subjects } = column.postings
  const holders = { rows: scratchUint32(size), subjects: scratchUint32(size) }
  let { row, offset } = from
  for (let at = 0; at < size; ) {
    const code = codes[row] as number
    const start = (starts[code] as number) + offset
    const end = code === 0 ? start : Math.min(starts[code + 1] as number, start + size - at)
    for (let place = start; place < end; place++) {
      holders.rows[at] = row
      holders.subjects[at++] = (subjects[place] as number) + 1
    }
    offset += end - start
    if (code === 0 || end === starts[code + 1]) {
      row++
      offset = 0
    }
  }
  from.row = row
  from.offset = offset
  return holders
}

/**
 * What remains of some pairs.
 *
 * @param isRead true where nothing that the pairs are made of is still to be read: their memory is used again then, if little
 *   of them remains
 */
function remainder<Some>(
  make: () => Some,
  find: (some: Some) => Batch,
  size: number,
  isRead: boolean,
): Batch {
  if (!isRead) return find(make())
  return reusingScratch(
    () => {
      const found = find(make())
      const isCopied = found.size === 0 || (FEW_PART * found.size <= size && found.read())
      return { isCopied, found: isCopied ? outlivingReuse(() => found.copied()) : found }
    },
    ({ isCopied }) => isCopied,
  ).found
}

/** Rows of one side, and a part of the other whose rows go with all of them. */
function* parts(left: Batch, right: Batch): Generator<readonly [rows: Rows, others: Batch]> {
  for (let start = 0; start < right.size; start += PAIRS_AT_ONCE) {
    const others = right.slice(start, start + PAIRS_AT_ONCE)
    const size = others.size < MANY_ROWS ? Math.floor(PAIRS_AT_ONCE / others.size) : 1
    for (let from = 0; from < left.size; from += size)
      yield [{ from, to: Math.min(left.size, from + size) }, others]
  }
}

interface Rows {
  readonly from: number
  readonly to: number
}

function pairsOf(left: Batch, { from, to }: Rows, right: Batch, evaluation: Evaluation): Batch {
  if (to - from > 1 || left.variables.some(name => right.has(name)))
    return joinedBatch(left.slice(from, to), right, crossPairs(to - from, right.size), evaluation)
  evaluation.advance(right.size)
  return new Batch(
    right.size,
    new Map([
      ...left.variables.map(
        name => [name, () => repeated(left.get(name) as Vector, from, right.size)] as const,
      ),
      ...right.variables.map(name => [name, () => right.get(name) as Vector] as const),
    ]),
  )
}

/** One row of a vector, as often as there are rows. */
function repeated(vector: Vector, row: number, size: number): Vector {
  switch (vector.type) {
    case 'constant':
      return vector
    case 'ids':
      return { type: 'constant', domain: vector.domain, id: vector.ids[row] as number }
    case 'numbers':
      return gatherValues(sliceVector(vector, row, row + 1), new Uint32Array(size))
    default:
      return vector satisfies never
  }
}

/** Each row of one side with each of the other. */
function crossPairs(left: number, right: number): Pairs {
  const pairs = { left: scratchUint32(left * right), right: scratchUint32(left * right) }
  let at = 0
  for (let row = 0; row < left; row++)
    for (let other = 0; other < right; other++) {
      pairs.left[at] = row
      pairs.right[at++] = other
    }
  return pairs
}
