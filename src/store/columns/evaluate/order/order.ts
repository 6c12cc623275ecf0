import type { OrderCondition } from '../../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluation.ts'
import { nearestRows } from '../expressions/point-distances.ts'
import { allRows, type Batch } from '../vectors/batch.ts'
import { concatenatedTexts } from '../vectors/concat.ts'
import type { Domain } from '../vectors/domain.ts'
import { PoolDomain } from '../vectors/pool-domain.ts'
import { merged, rowsInRange } from '../vectors/row-filters.ts'
import { gathered, type Vector } from '../vectors/vector.ts'
import { areFewOf, firstRows, type SortKey, sortKeys, textNumbers, valuesAround } from './order-keys.ts'
import {
  countedRanges,
  countedValues,
  type OrderedValues,
  orderNumbers,
  sortedRows,
  valuesInOrder,
} from './ordered-values.ts'

/** Creates the vector of an expression over a batch. */
export type VectorOf = (expression: OrderCondition['expression'], batch: Batch) => Vector

/** The requested range of an order; the end is exclusive. */
export interface Places {
  readonly from: number
  readonly to: number
}

/** Number of rows in excess of the requested ones that are collected before the last are dropped. */
const SLACK = 2 ** 18

/** A batch with more rows than this multiple of the requested ones, plus a constant, is cut to its first rows. */
const LARGE_PART = 2
const LARGE = 2 ** 17

/** The rows that remain after comparing the beginnings of texts are sorted if they are at most one in this many. */
const SELECTIVE_PART = 8

/** Fewer rows are sorted directly. */
const DIRECT_SORT_LIMIT = 256

/**
 * Solutions in order (SPARQL 1.1 Query, section 15.1); equal ones keep their original order.
 *
 * @param places the requested range
 */
export function ordered(
  batches: Iterable<Batch>,
  keys: readonly OrderCondition[],
  { from, to }: Places,
  vectorOf: VectorOf,
  evaluation: Evaluation,
): { readonly batch: Batch | null; readonly total: number } {
  const order = new Order(keys, vectorOf, evaluation)
  let collected: Batch[] = []
  let [buffered, total] = [0, 0]
  for (const found of batches) {
    if (found.size === 0) continue
    total += found.size
    const beyond = found.size - LARGE_PART * to
    const isCut = beyond > LARGE || (beyond > DIRECT_SORT_LIMIT && !hasSameDomains(found, collected.at(-1)))
    const batch = isCut ? found.rows(order.first(found, to)) : found
    collected.push(batch)
    evaluation.allocate(bytesOf(batch))
    buffered += batch.size
    if (buffered <= to + SLACK) continue
    const all = concatenatedTexts(collected, evaluation)
    for (const before of collected) evaluation.release(bytesOf(before))
    const first = all.rows(order.first(all, to))
    // The concatenated batches no longer count; a single batch was not counted again.
    if (collected.length > 1) evaluation.release(bytesOf(all))
    evaluation.allocate(bytesOf(first))
    collected = [first]
    buffered = first.size
  }
  if (collected.length === 0 || from >= buffered || from >= to) return { batch: null, total }
  const all = concatenatedTexts(collected, evaluation)
  return { batch: all.rows(order.at(all, from, Math.min(to, all.size))), total }
}

/** True where the terms of two batches are compared by their numbers; those of other domains must be read to concatenate them. */
function hasSameDomains(batch: Batch, other: Batch | undefined): boolean {
  if (other === undefined) return true
  return batch.variables.every(name => {
    const [own, before] = [domainOf(batch, name), domainOf(other, name)]
    return own === null || before === null || own === before
  })
}

/** The domain of the terms of a variable; null for numbers, and for deferred variables. */
function domainOf(batch: Batch, name: string): Domain | null {
  if (batch.deferred(name) !== null) return null
  const vector = batch.unread(name)?.vector ?? batch.get(name)
  return vector?.type === 'ids' ? vector.domain : null
}

/** Bytes of the rows of a batch. */
function bytesOf({ size, variables }: Batch): number {
  return 4 * size * variables.length
}

/** Some rows, ascending, that are adjacent in an order, and the number of rows before them. */
interface Section {
  readonly rows: Uint32Array
  readonly before: number
}

/** An order by some keys. */
class Order {
  private readonly keys: readonly SortKey[]
  private readonly vectorOf: VectorOf
  private readonly evaluation: Evaluation

  constructor(conditions: readonly OrderCondition[], vectorOf: VectorOf, evaluation: Evaluation) {
    this.keys = sortKeys(conditions)
    this.vectorOf = vectorOf
    this.evaluation = evaluation
  }

  /** The rows at some places, in order. */
  at(batch: Batch, from: number, to: number): Uint32Array {
    const { rows, before } = this.section(batch, 0, from, to)
    const sorted = this.sorted(rows.length === batch.size ? batch : batch.rows(rows))
    return gathered(rows, sorted.subarray(from - before, to - before))
  }

  /** The first rows of the order, unsorted; slightly more where that is less work. */
  first(batch: Batch, count: number): Uint32Array {
    const { rows } = this.section(batch, 0, 0, Math.min(count, batch.size))
    if (rows.length <= 2 * count + SLACK / 2) return rows
    return gathered(rows, this.sorted(batch.rows(rows)).slice(0, count).sort())
  }

  /**
   * Selects a small set of rows that contains those at some places, without sorting: the values of a key at the first and the
   * last place bound the values of all between them. Rows whose values equal a bound are distinguished by the next key.
   */
  private section(batch: Batch, level: number, from: number, to: number): Section {
    const { size } = batch
    const required = to - from
    const isSelective = (rows: number) => rows <= 2 * required + DIRECT_SORT_LIMIT
    if (isSelective(size)) return { rows: allRows(size), before: 0 }
    const key = this.keys[level]
    if (key === undefined) return { rows: allRows(size).subarray(from, to), before: from }
    this.evaluation.advance(size)
    const beginnings = textNumbers(key, batch)
    const texts = beginnings === null ? null : valuesAround(beginnings, from, to)
    if (texts !== null && SELECTIVE_PART * texts.rows.length < size) return texts
    const nearest = nearestRows(key, batch, to)
    if (nearest !== null) return { rows: nearest, before: 0 }
    const vector = this.vectorOf(key.expression, batch)
    if (vector.type === 'constant') return this.section(batch, level + 1, from, to)
    if (vector.type === 'ids' && vector.domain instanceof PoolDomain && areFewOf(to, size))
      return { rows: firstRows(vector.ids, vector.domain, key, to), before: 0 }
    const values = valuesInOrder(vector, size, key.isAbsentHighest)
    if (values === null) {
      const numbers = orderNumbers(vector, size, key, this.evaluation)
      const found = valuesAround(numbers, from, to)
      if (found === null) return { rows: allRows(size), before: 0 }
      return found.areEqual && !isSelective(found.rows.length)
        ? this.within(batch, found.rows, found.before, level, from, to)
        : found
    }
    const near = this.sectionOfRange(batch, values, level, from, to)
    if (near !== null) return near
    const { numbers } = values
    const counts = countedValues(values)
    const { first, last, before } = boundsOf(counts, from, to, key.descending)
    const between = (low: number, high: number) => rowsInRange(numbers, low, high + 1, true, null)
    if (first === last) {
      const rows = between(first, first)
      return isSelective(rows.length) ? { rows, before } : this.within(batch, rows, before, level, from, to)
    }
    const [low, high] = key.descending ? [last, first] : [first, last]
    const rows = between(low, high)
    if (isSelective(rows.length)) return { rows, before }
    const end = before + rows.length - (counts[last] as number)
    const atFirst = this.within(
      batch,
      between(first, first),
      before,
      level,
      from,
      before + (counts[first] as number),
    )
    const atLast = this.within(batch, between(last, last), end, level, end, to)
    return {
      rows: merged(atFirst.rows, between(low + 1, high - 1), atLast.rows),
      before: atFirst.before,
    }
  }

  /**
   * Selects the rows in the ranges of values that contain such a section, and such a section among them. Counting rows by range
   * stays in the caches of a processor, which counting by value does not. Null where most rows are in those ranges, or there are few
   * values.
   */
  private sectionOfRange(
    batch: Batch,
    values: OrderedValues,
    level: number,
    from: number,
    to: number,
  ): Section | null {
    const ranges = countedRanges(values)
    if (ranges === null) return null
    const { counts, bits } = ranges
    const { first, last, before, count } = boundsOf(
      counts,
      from,
      to,
      (this.keys[level] as SortKey).descending,
    )
    if (2 * count > batch.size) return null
    const [low, high] = [Math.min(first, last), Math.max(first, last)]
    const rows = rowsInRange(values.numbers, low << bits, (high + 1) << bits, true, null)
    // Among these rows, of which there are fewer, the same key is next.
    return this.within(batch, rows, before, level - 1, from, to)
  }

  /** Selects such a section among rows with one value of a key, of which a given number are before. */
  private within(
    batch: Batch,
    rows: Uint32Array,
    before: number,
    level: number,
    from: number,
    to: number,
  ): Section {
    if (rows.length === batch.size) return this.section(batch, level + 1, from, to)
    const inner = this.section(batch.rows(rows), level + 1, from - before, to - before)
    return { rows: gathered(rows, inner.rows), before: before + inner.before }
  }

  /** All rows in order. */
  private sorted(batch: Batch): Uint32Array {
    const { size } = batch
    this.evaluation.advance(size * Math.max(1, this.keys.length))
    const working = 8 * size * this.keys.length
    this.evaluation.allocate(working)
    const numbers = this.keys.map(key =>
      orderNumbers(this.vectorOf(key.expression, batch), size, key, this.evaluation),
    )
    const rows = sortedRows(numbers, size)
    this.evaluation.release(working)
    return rows
  }
}

/** The values at the first and the last of some places, with the numbers of rows before and from one to the other. */
function boundsOf(counts: Uint32Array, from: number, to: number, descending: boolean) {
  const step = descending ? -1 : 1
  let value = descending ? counts.length - 1 : 0
  let passed = 0
  for (; passed + (counts[value] as number) <= from; value += step) passed += counts[value] as number
  const [first, before] = [value, passed]
  for (; passed + (counts[value] as number) < to; value += step) passed += counts[value] as number
  if (counts[value] === undefined) throw new RangeError('there are fewer rows than places')
  return { first, last: value, before, count: passed + (counts[value] as number) - before }
}
