import type { OrderCondition } from '../../../sparql/operation.ts'
import { sortedNumbers } from '../sort-numbers.ts'
import { allRows, type Batch } from './batch.ts'
import { concatenatedTexts } from './concat.ts'
import type { Evaluation } from './evaluation.ts'
import { identifiedInPool } from './join.ts'
import type { Vector } from './vector.ts'

/** Makes the vector of an expression over a batch. */
export type VectorOf = (expression: OrderCondition['expression'], batch: Batch) => Vector

/** So many rows more than are asked for are gathered before the last of them are dropped. */
const SLACK = 4096

/**
 * Solutions in order (SPARQL 1.1 Query, section 15.1); those that are equal keep the order in which they come.
 *
 * @param limit how many are asked for at most
 */
export function ordered(
  batches: Iterable<Batch>,
  keys: readonly OrderCondition[],
  limit: number,
  vectorOf: VectorOf,
  evaluation: Evaluation,
): { readonly batch: Batch | null; readonly total: number } {
  let kept: Batch[] = []
  let [held, total] = [0, 0]
  for (const batch of batches) {
    if (batch.size === 0) continue
    total += batch.size
    const part = batch.size > limit + SLACK ? firstOf(batch, keys, limit, vectorOf, evaluation) : batch
    kept.push(part)
    evaluation.allocate(bytesOf(part))
    held += part.size
    if (held > limit + 8 * SLACK) {
      const all = concatenatedTexts(kept, evaluation)
      for (const before of kept) evaluation.release(bytesOf(before))
      const first = firstOf(all, keys, limit, vectorOf, evaluation)
      // What was concatenated counts no more; one batch alone was not counted again.
      if (kept.length > 1) evaluation.release(bytesOf(all))
      evaluation.allocate(bytesOf(first))
      kept = [first]
      held = Math.min(limit, all.size)
    }
  }
  if (kept.length === 0) return { batch: null, total }
  return { batch: firstOf(concatenatedTexts(kept, evaluation), keys, limit, vectorOf, evaluation), total }
}

/** Bytes of the rows of a batch. */
function bytesOf({ size, variables }: Batch): number {
  return 4 * size * variables.length
}

function firstOf(
  batch: Batch,
  keys: readonly OrderCondition[],
  limit: number,
  vectorOf: VectorOf,
  evaluation: Evaluation,
): Batch {
  if (limit === 0) return batch.slice(0, 0)
  evaluation.advance(batch.size * Math.max(1, keys.length))
  const some = limit < batch.size / 3 ? candidates(batch, keys, limit, vectorOf, evaluation) : batch
  const working = 8 * some.size * keys.length
  evaluation.allocate(working)
  const numbers = keys.map(({ expression, descending }) =>
    orderNumbers(vectorOf(expression, some), some.size, descending, evaluation),
  )
  const rows =
    limit < some.size / 8
      ? firstRows(numbers, some.size, limit)
      : sortedRows(numbers, some.size).subarray(0, limit)
  evaluation.release(working)
  return some.rows(rows)
}

/** Values of a key that are looked at to guess where the last of the first rows is. */
const SAMPLE = 1024

/**
 * The rows that can be among the first by a bound of the first key: a sample guesses one that leaves some more rows than are
 * asked for. Where too few are below it, all are candidates.
 */
function candidates(
  batch: Batch,
  keys: readonly OrderCondition[],
  limit: number,
  vectorOf: VectorOf,
  evaluation: Evaluation,
): Batch {
  const { size } = batch
  const [first] = keys
  if (first === undefined || size < 4 * SAMPLE) return batch
  const numbers = orderNumbers(vectorOf(first.expression, batch), size, first.descending, evaluation)
  const sample = new Float64Array(SAMPLE)
  const step = size / SAMPLE
  for (let at = 0; at < SAMPLE; at++) sample[at] = numbers[Math.floor(at * step)] as number
  sample.sort()
  const expected = (limit / size) * SAMPLE
  const bound = sample[Math.min(SAMPLE - 1, Math.ceil(expected + 3 * Math.sqrt(expected) + 2))] as number
  const rows = new Uint32Array(size)
  let count = 0
  for (let row = 0; row < size; row++) {
    rows[count] = row
    count += (numbers[row] as number) <= bound ? 1 : 0
  }
  return count < limit || count > size / 2 ? batch : batch.rows(rows.slice(0, count))
}

/** Numbers in the order of a key's values: lower ones first, those of unbound values lowest; negative where it descends. */
function orderNumbers(
  vector: Vector,
  size: number,
  descending: boolean,
  evaluation: Evaluation,
): Float64Array {
  const sign = descending ? -1 : 1
  const numbers = new Float64Array(size)
  switch (vector.type) {
    case 'constant':
      return numbers
    case 'ids': {
      const { ids, domain } = vector
      const ranks = domain.ranks()
      if (ranks === null) for (let row = 0; row < size; row++) numbers[row] = sign * (ids[row] as number) + 0
      else
        for (let row = 0; row < size; row++) {
          const id = ids[row] as number
          numbers[row] = id === 0 ? -sign : sign * (ranks[id] as number) + 0
        }
      return numbers
    }
    case 'numbers': {
      const { values, bound } = vector
      const hasLowest = bound !== null && values.includes(Number.NEGATIVE_INFINITY)
      if (
        hasLowest ||
        values.some((value, row) => Number.isNaN(value) && (bound === null || bound[row] === 1))
      )
        return orderNumbers(identifiedInPool(vector, size, evaluation), size, descending, evaluation)
      for (let row = 0; row < size; row++)
        numbers[row] =
          bound !== null && bound[row] === 0
            ? sign * Number.NEGATIVE_INFINITY
            : sign * (values[row] as number) + 0
      return numbers
    }
    default:
      return vector satisfies never
  }
}

/** All rows in the order of their keys, by one stable sort a key, the last key first. */
function sortedRows(keys: readonly Float64Array[], size: number): Uint32Array {
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

/** The first rows in the order of their keys, by a heap whose root is the last of them. */
function firstRows(keys: readonly Float64Array[], size: number, limit: number): Uint32Array {
  const isBefore = (left: number, right: number): boolean => {
    for (const numbers of keys) {
      const [a, b] = [numbers[left] as number, numbers[right] as number]
      if (a < b) return true
      if (a > b) return false
    }
    return left < right
  }
  const heap = new Uint32Array(limit)
  let count = 0
  const first = keys[0]
  let bound = Number.POSITIVE_INFINITY
  for (let row = 0; row < size; row++) {
    if (count < limit) {
      let at = count++
      while (at > 0) {
        const parent = (at - 1) >> 1
        if (!isBefore(heap[parent] as number, row)) break
        heap[at] = heap[parent] as number
        at = parent
      }
      heap[at] = row
      if (count === limit && first !== undefined) bound = first[heap[0] as number] as number
      continue
    }
    if (first !== undefined && (first[row] as number) > bound) continue
    if (!isBefore(row, heap[0] as number)) continue
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= limit) break
      if (child + 1 < limit && isBefore(heap[child] as number, heap[child + 1] as number)) child += 1
      if (!isBefore(row, heap[child] as number)) break
      heap[at] = heap[child] as number
      at = child
    }
    heap[at] = row
    if (first !== undefined) bound = first[heap[0] as number] as number
  }
  return heap.subarray(0, count).sort((a, b) => (a === b ? 0 : isBefore(a, b) ? -1 : 1))
}
