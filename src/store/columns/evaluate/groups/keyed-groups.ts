import type { Evaluation } from '../evaluation.ts'
import { identifiedInPool } from '../patterns/join.ts'
import type { Batch } from '../vectors/batch.ts'
import type { Domain } from '../vectors/domain.ts'
import { PairMap } from '../vectors/pair-map.ts'
import { scratchUint32 } from '../vectors/scratch.ts'
import { identified } from '../vectors/translate.ts'
import { type IdVector, maximum, type Vector } from '../vectors/vector.ts'

/**
 * Groups by keys: by the numbers of their terms, in the domain that all batches share, else in the pool of the query. The pair of
 * the first two keys gets a number, the pair of that and the third key gets a number, and so on.
 */
export class KeyedGroups {
  private readonly names: readonly string[]
  private readonly evaluation: Evaluation
  private readonly domains: (Domain | null)[]
  /** Numbers of the terms of each key by group. */
  private ids: Uint32Array<ArrayBuffer>[]
  private size = 0
  private moves = 0
  private tables: PairTable[]

  constructor(names: readonly string[], evaluation: Evaluation) {
    this.names = names
    this.evaluation = evaluation
    this.domains = names.map(() => null)
    this.ids = names.map(() => new Uint32Array(64))
    this.tables = this.newTables()
  }

  /** Number of groups so far. */
  count(): number {
    return this.size
  }

  /** Numbers of groups, from 0, by row. */
  assign(batch: Batch): Uint32Array {
    const { moves } = this
    const read = () => this.names.map((name, at) => this.inDomain(batch.get(name), batch.size, at))
    const vectors = read()
    // One key of another domain moves all keys to the pool, including those of this batch that were read before.
    return this.groupsOf(moves === this.moves ? vectors : read(), batch.size)
  }

  /** The keys of all groups. */
  keys(): readonly (readonly [string, Vector])[] {
    return this.names.map((name, at) => {
      const domain = this.domains[at] ?? this.evaluation.pool
      return [name, { type: 'ids', domain, ids: (this.ids[at] as Uint32Array).slice(0, this.size) }] as const
    })
  }

  /** Numbers of groups by the numbers of their keys, in order of first occurrence. */
  private groupsOf(vectors: readonly Uint32Array[], size: number): Uint32Array {
    const add = (row: number) => this.addGroup(row, vectors)
    const [first, ...rest] = vectors
    if (first === undefined) {
      if (this.size === 0 && size > 0) add(0)
      return scratchUint32(size).fill(0)
    }
    // A single key is paired with 0.
    let [numbers, count] =
      rest.length > 0 ? [first, this.domains[0]?.size ?? 0] : [scratchUint32(size).fill(0), 0]
    const seconds = rest.length > 0 ? rest : [first]
    for (const [at, second] of seconds.entries()) {
      this.evaluation.advance(size)
      const table = this.tables[at] as PairTable
      const terms = this.domains[rest.length > 0 ? at + 1 : 0]?.size ?? 0
      numbers = table.number(numbers, second, count, terms, at === seconds.length - 1 ? add : () => undefined)
      count = table.count
    }
    return numbers
  }

  private newTables(): PairTable[] {
    return Array.from({ length: Math.max(1, this.names.length - 1) }, () => new PairTable(this.evaluation))
  }

  private addGroup(row: number, vectors: readonly Uint32Array[]): void {
    const group = this.size++
    for (let at = 0; at < vectors.length; at++) {
      const ids = this.evaluation.grown(this.ids[at] as Uint32Array<ArrayBuffer>, group + 1)
      this.ids[at] = ids
      ids[group] = (vectors[at] as Uint32Array)[row] as number
    }
  }

  private inDomain(vector: Vector | undefined, size: number, at: number): Uint32Array {
    if (vector === undefined) return new Uint32Array(size)
    this.evaluation.advance(size)
    const own: IdVector = identified(vector, size, this.evaluation)
    const domain = this.domains[at] ?? null
    if (domain === null) this.domains[at] = own.domain
    else if (domain !== own.domain) {
      if (domain !== this.evaluation.pool) this.moveToPool()
      return identifiedInPool(own, size, this.evaluation).ids
    }
    return own.ids
  }

  /** Converts the keys of all groups so far to numbers of the pool. */
  private moveToPool(): void {
    this.moves += 1
    const { pool } = this.evaluation
    const vectors = this.ids.map((ids, at) => {
      const domain = this.domains[at] ?? pool
      const own = ids.subarray(0, this.size)
      return domain === pool ? own : own.map(id => (id === 0 ? 0 : pool.internOf(domain, id)))
    })
    this.domains.fill(pool)
    const count = this.size
    this.size = 0
    this.tables = this.newTables()
    this.ids = this.names.map(() => new Uint32Array(Math.max(64, count)))
    this.groupsOf(vectors, count)
  }
}

/** Groups of two keys are found with an array where the product of their sizes is at most this. */
const DENSE_PAIRS = 2 ** 22

/** A table as large as a domain is not created for batches with fewer rows than one in this many of its terms. */
const FEW_ROWS = 4

/** Rows that are looked up between two checks of the clock. */
const ROWS_BETWEEN_CHECKS = 2 ** 14

/** Numbers distinct pairs of numbers in order of first occurrence, from 0. */
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

  /** Number of pairs so far. */
  get count(): number {
    return this.size
  }

  /**
   * @param leftTerms the largest possible number on the left side
   * @param terms the largest possible number on the right side
   * @param added called with the row of each new pair
   */
  number(
    left: Uint32Array,
    right: Uint32Array,
    leftTerms: number,
    terms: number,
    added: (row: number) => void,
  ): Uint32Array {
    const numbers = scratchUint32(left.length)
    const isFew = FEW_ROWS * left.length < (leftTerms + 1) * terms
    const fewTerms = isFew ? Math.min(terms, 2 * maximum(right) + 64) : terms
    if ((!isFew && this.fitsDense(leftTerms, terms)) || this.fitsDense(maximum(left), fewTerms)) {
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
      if (row % ROWS_BETWEEN_CHECKS === 0) this.evaluation.check()
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
    const { dense, width: before } = this
    if (dense !== null && maxRight < before && (maxLeft + 1) * before <= dense.length) return true
    let [width, rows] = [
      Math.max(before, maxRight + 1),
      Math.max(maxLeft + 1, dense === null ? 0 : dense.length / before),
    ]
    if (width * rows > DENSE_PAIRS) return false
    // The terms of a query grow from batch to batch: with the room of one batch, each would copy the array.
    if (dense !== null && 2 * width * rows <= DENSE_PAIRS) {
      if (width > before) width *= 2
      else rows *= 2
    }
    const length = width * rows
    this.evaluation.allocate(4 * (length - (dense?.length ?? 0)))
    const larger = new Int32Array(length).fill(-1)
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

/** Assigns known numbers to rows by their pairs; returns the first row whose pair has none. */
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
