import type { AggregateCall } from '../../../sparql/operation.ts'
import type { Aggregator, AggregatorContext } from './aggregates/aggregator.ts'
import { CountRows } from './aggregates/counts.ts'
import { makeAggregator } from './aggregates/make.ts'
import { Batch } from './batch.ts'
import type { Domain } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import { identifiedInPool } from './join.ts'
import { KeyCounts } from './key-counts.ts'
import { PairMap } from './pair-map.ts'
import { scratchUint32 } from './scratch.ts'
import { identified } from './translate.ts'
import type { IdVector, Vector } from './vector.ts'

/** Groups of two keys are found by an array where their numbers multiply to no more than this. */
const DENSE_PAIRS = 2 ** 22

/** Finds for each row of a batch the number of its group. */
interface Grouper {
  /** Groups so far. */
  count(): number
  /** Numbers of groups, from 0, by row. */
  assign(batch: Batch): Uint32Array
  /** The keys of all groups. */
  keys(): readonly (readonly [string, Vector])[]
}

/** The solutions of a GROUP BY: one for each group, with its keys and aggregates (SPARQL 1.1 Query, section 18.5). */
export function grouped(
  batches: Iterable<Batch>,
  keys: readonly string[],
  aggregates: readonly { readonly variable: string; readonly aggregate: AggregateCall }[],
  context: AggregatorContext,
): Batch {
  const { evaluation } = context
  const grouper = keys.length === 0 ? new OneGroup() : new KeyedGroups(keys, evaluation)
  const aggregators: readonly Aggregator[] = aggregates.map(({ aggregate }) =>
    makeAggregator(aggregate, context),
  )
  const counters = aggregators.filter(aggregator => aggregator instanceof CountRows)
  let counts: KeyCounts | null | undefined =
    counters.length === aggregators.length && keys.length > 0 ? undefined : null
  for (const batch of batches) {
    if (batch.size === 0) continue
    evaluation.advance(batch.size)
    if (counts === undefined) counts = KeyCounts.of(keys, batch)
    if (counts?.add(batch) === true) continue
    if (counts !== null) {
      const known = counts.groups()
      const groups = grouper.assign(known.keys)
      for (const counter of counters) counter.addCounts(groups, known.counts, grouper.count())
      counts = null
    }
    const groups = grouper.assign(batch)
    const count = grouper.count()
    for (const aggregator of aggregators) aggregator.add(batch, groups, count)
  }
  if (counts) {
    const known = counts.groups()
    const values: Vector = { type: 'numbers', kind: 'integer', values: known.counts, bound: null }
    return known.keys.with(aggregates.map(({ variable }) => [variable, values] as const))
  }
  const count = grouper.count()
  const results = aggregates.map(({ variable }, at) => {
    const vector = (aggregators[at] as Aggregator).result(count)
    return [variable, vector] as const
  })
  return new Batch(count, new Map([...grouper.keys(), ...results]))
}

/** Without keys there is one group, also of no solutions. */
class OneGroup implements Grouper {
  private zeros = new Uint32Array(0)

  count(): number {
    return 1
  }

  assign(batch: Batch): Uint32Array {
    if (this.zeros.length < batch.size) this.zeros = new Uint32Array(batch.size)
    return this.zeros.subarray(0, batch.size)
  }

  keys(): readonly (readonly [string, Vector])[] {
    return []
  }
}

/**
 * Groups by keys: the numbers of their terms, in the domain that all batches share, else in the pool of the query. What two
 * keys are together gets a number of its own, and so on for further keys.
 */
export class KeyedGroups implements Grouper {
  private readonly names: readonly string[]
  private readonly evaluation: Evaluation
  private readonly domains: (Domain | null)[]
  /** Numbers of the terms of each key by group. */
  private ids: Uint32Array[]
  private size = 0
  private moves = 0
  private tables: PairTable[]
  private single: SingleTable

  constructor(names: readonly string[], evaluation: Evaluation) {
    this.names = names
    this.evaluation = evaluation
    this.domains = names.map(() => null)
    this.ids = names.map(() => new Uint32Array(64))
    this.tables = names.slice(1).map(() => new PairTable(evaluation))
    this.single = new SingleTable(evaluation)
  }

  count(): number {
    return this.size
  }

  assign(batch: Batch): Uint32Array {
    const { moves } = this
    const read = () => this.names.map((name, at) => this.inDomain(batch.get(name), batch.size, at))
    const vectors = read()
    // One key that is of another domain moves all of them to the pool, also those of this batch that were read before.
    return this.groupsOf(moves === this.moves ? vectors : read(), batch.size)
  }

  keys(): readonly (readonly [string, Vector])[] {
    return this.names.map((name, at) => {
      const domain = this.domains[at] ?? this.evaluation.pool
      return [name, { type: 'ids', domain, ids: (this.ids[at] as Uint32Array).slice(0, this.size) }] as const
    })
  }

  /** Numbers of groups by the numbers of their keys, in the order in which groups come. */
  private groupsOf(vectors: readonly Uint32Array[], size: number): Uint32Array {
    const add = (row: number) => this.addGroup(row, vectors)
    const [first, ...rest] = vectors
    if (first === undefined) {
      if (this.size === 0 && size > 0) add(0)
      return new Uint32Array(size)
    }
    if (rest.length === 0) return this.single.number(first, this.domains[0]?.size ?? 0, add)
    let numbers = first
    for (let at = 0; at < rest.length; at++)
      numbers = (this.tables[at] as PairTable).number(
        numbers,
        rest[at] as Uint32Array,
        at === 0 ? (this.domains[0]?.size ?? 0) : (this.tables[at - 1] as PairTable).count,
        this.domains[at + 1]?.size ?? 0,
        at === rest.length - 1 ? add : () => undefined,
      )
    return numbers
  }

  private addGroup(row: number, vectors: readonly Uint32Array[]): void {
    const group = this.size++
    for (let at = 0; at < vectors.length; at++) {
      let ids = this.ids[at] as Uint32Array
      if (group >= ids.length) {
        this.evaluation.allocate(8 * group - 4 * ids.length)
        ids = new Uint32Array(2 * group)
        ids.set(this.ids[at] as Uint32Array)
        this.ids[at] = ids
      }
      ids[group] = (vectors[at] as Uint32Array)[row] as number
    }
  }

  private inDomain(vector: Vector | undefined, size: number, at: number): Uint32Array {
    if (vector === undefined) return new Uint32Array(size)
    const own: IdVector = identified(vector, size, this.evaluation)
    const domain = this.domains[at] ?? null
    if (domain === null) this.domains[at] = own.domain
    else if (domain !== own.domain) {
      if (domain !== this.evaluation.pool) this.moveToPool()
      return identifiedInPool(own, size, this.evaluation).ids
    }
    return own.ids
  }

  /** Gives the keys of all groups so far the numbers of the pool. */
  private moveToPool(): void {
    this.moves += 1
    const { pool } = this.evaluation
    const vectors = this.ids.map((ids, at) => {
      const domain = this.domains[at] ?? pool
      const own = ids.subarray(0, this.size)
      return domain === pool ? own : own.map(id => (id === 0 ? 0 : pool.intern(domain.term(id))))
    })
    this.domains.fill(pool)
    const count = this.size
    this.size = 0
    this.tables = this.names.slice(1).map(() => new PairTable(this.evaluation))
    this.single = new SingleTable(this.evaluation)
    this.ids = this.names.map(() => new Uint32Array(Math.max(64, count)))
    this.groupsOf(vectors, count)
  }
}

/** Numbers numbers as they come, from 0. */
class SingleTable {
  private readonly evaluation: Evaluation
  private known = new Int32Array(0)
  private size = 0

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
  }

  /**
   * @param terms the largest number that there may be
   * @param added is called with the row of each number that is new
   */
  number(ids: Uint32Array, terms: number, added: (row: number) => void): Uint32Array {
    const max = FEW_ROWS * ids.length < terms ? maximum(ids) : terms
    if (max >= this.known.length) {
      const length = Math.max(2 * this.known.length, max + 1)
      this.evaluation.allocate(4 * (length - this.known.length))
      const larger = new Int32Array(length).fill(-1)
      larger.set(this.known)
      this.known = larger
    }
    const { known } = this
    const numbers = scratchUint32(ids.length)
    for (let row = 0; row < ids.length; row++) {
      row = lookUp(known, ids, numbers, row)
      if (row === ids.length) break
      numbers[row] = this.size
      known[ids[row] as number] = this.size++
      added(row)
    }
    return numbers
  }
}

/** A table as large as a domain is not made for batches with less than one of so many of its terms. */
const FEW_ROWS = 4

/** Gives rows the numbers that are known of their ids; the first row whose id has none. */
function lookUp(known: Int32Array, ids: Uint32Array, numbers: Uint32Array, from: number): number {
  const length = ids.length | 0
  for (let row = from; row < length; row++) {
    const number = known[ids[row] as number] as number
    if (number < 0) return row
    numbers[row] = number
  }
  return length
}

/** Numbers pairs of numbers as they come, from 0. */
class PairTable {
  private readonly evaluation: Evaluation
  private readonly table: PairMap
  private dense: Int32Array | null = null
  private width = 0
  private size = 0

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
    this.table = new PairMap(bytes => evaluation.allocate(bytes))
  }

  /** Pairs so far. */
  get count(): number {
    return this.size
  }

  /**
   * @param leftTerms the largest number that the left side may have
   * @param terms the same of the right side
   * @param added is called with the row of each pair that is new
   */
  number(
    left: Uint32Array,
    right: Uint32Array,
    leftTerms: number,
    terms: number,
    added: (row: number) => void,
  ): Uint32Array {
    const numbers = scratchUint32(left.length)
    const isFew = FEW_ROWS * left.length < leftTerms * terms
    if ((!isFew && this.fitsDense(leftTerms, terms)) || this.fitsDense(maximum(left), terms)) {
      const dense = this.dense as Int32Array
      const { width } = this
      for (let row = 0; row < left.length; row++) {
        row = lookUpPairs(dense, width, left, right, numbers, row)
        if (row === left.length) break
        numbers[row] = this.size
        dense[(left[row] as number) * width + (right[row] as number)] = this.size++
        added(row)
      }
      return numbers
    }
    let { size } = this
    this.leaveDense()
    for (let row = 0; row < left.length; row++) {
      const known = this.table.add(left[row] as number, right[row] as number, size)
      numbers[row] = known
      if (known < size) continue
      size += 1
      added(row)
    }
    this.size = size
    return numbers
  }

  private fitsDense(maxLeft: number, maxRight: number): boolean {
    if (this.table.size > 0) return false
    if (this.dense !== null && maxRight < this.width && (maxLeft + 1) * this.width <= this.dense.length)
      return true
    const width = Math.max(this.width, maxRight + 1)
    const length = width * Math.max(maxLeft + 1, this.dense === null ? 0 : this.dense.length / this.width)
    if (length > DENSE_PAIRS) return false
    this.evaluation.allocate(4 * (length - (this.dense?.length ?? 0)))
    const larger = new Int32Array(length).fill(-1)
    const { dense, width: before } = this
    if (dense !== null)
      for (let place = 0; place < dense.length; place++) {
        const left = Math.floor(place / before)
        larger[left * width + (place - left * before)] = dense[place] as number
      }
    this.dense = larger
    this.width = width
    return true
  }

  private leaveDense(): void {
    const { dense, width } = this
    if (dense === null) return
    for (let place = 0; place < dense.length; place++) {
      const known = dense[place] as number
      if (known < 0) continue
      const left = Math.floor(place / width)
      this.table.add(left, place - left * width, known)
    }
    this.evaluation.release(4 * dense.length)
    this.dense = null
  }
}

/** Gives rows the numbers that are known of their pairs; the first row whose pair has none. */
function lookUpPairs(
  dense: Int32Array,
  width: number,
  left: Uint32Array,
  right: Uint32Array,
  numbers: Uint32Array,
  from: number,
): number {
  const length = left.length | 0
  for (let row = from; row < length; row++) {
    const number = dense[Math.imul(left[row] as number, width) + (right[row] as number)] as number
    if (number < 0) return row
    numbers[row] = number
  }
  return length
}

export function maximum(numbers: Uint32Array): number {
  let max = 0
  for (let at = 0; at < numbers.length; at++) if ((numbers[at] as number) > max) max = numbers[at] as number
  return max
}
