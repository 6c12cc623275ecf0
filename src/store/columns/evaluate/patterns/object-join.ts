import type { Column } from '../../column.ts'
import type { Evaluation } from '../evaluation.ts'
import { Batch, isUnit } from '../vectors/batch.ts'
import { outlivingReuse, reusingScratch, scratchUint32 } from '../vectors/scratch.ts'
import { gatherValues, sliceVector, type Vector } from '../vectors/vector.ts'
import { joinedBatch, type Pairs } from './join.ts'

/** Pairs per chunk: what is computed from them stays in the processor's cache. */
const PAIRS_AT_ONCE = 2 ** 15

/** With more pairs than this, all their inputs are read first, so that they do not depend on reused memory. */
const WORTH_READING = 4 * PAIRS_AT_ONCE

/** Where one side has at least this many rows, those of the other are processed one by one, as constants of all pairs. */
const MANY_ROWS = 2 ** 10

/** Where at most one in this many pairs remains, the remaining ones are copied, and the memory of all is reused. */
const FEW_PART = 4

/**
 * The results for the pairs of each solution of one batch with each of another, in chunks.
 *
 * @param find returns the results of a chunk; it must not retain any of it, because its memory is reused
 */
export function* crossed(
  left: Batch,
  right: Batch,
  evaluation: Evaluation,
  find: (pairs: Batch) => Batch = pairs => pairs,
): Generator<Batch> {
  if (isUnit(left)) {
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

/** Rows of a batch, each repeated for each subject with its value, and these subjects. */
export interface Holders {
  readonly rows: Uint32Array
  readonly subjects: Uint32Array
}

/**
 * The results for the pairs of each row of a batch with each subject that has its value, in chunks where there are many.
 *
 * @param codes the code of each row's value in the column; 0 for none
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

/** The next chunk of pairs from a position on, which is advanced. */
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
 * The results of a chunk of pairs.
 *
 * @param isRead true where all inputs of the pairs have been read: then their memory is reused, if few of them remain
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

/** Rows of one side, and a part of the other; each of the rows is paired with all rows of the part. */
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

/** One row of a vector, repeated. */
function repeated(vector: Vector, row: number, size: number): Vector {
  switch (vector.type) {
    case 'constant':
      return vector
    case 'ids':
      return { type: 'constant', domain: vector.domain, id: vector.ids[row] as number }
    case 'numbers':
      return gatherValues(sliceVector(vector, row, row + 1), new Uint32Array(size))
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
