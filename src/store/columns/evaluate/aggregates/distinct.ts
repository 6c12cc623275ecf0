import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { Batch } from '../batch.ts'
import type { Domain } from '../domain.ts'
import type { Evaluation } from '../evaluation.ts'
import { countUnmarked } from '../lanes.ts'
import { PairMap } from '../pair-map.ts'
import { scratchUint8 } from '../scratch.ts'
import { identified, pooledIds } from '../translate.ts'
import { isBound, type Vector } from '../vector.ts'
import type { Aggregator, AggregatorContext } from './aggregator.ts'

/** Pairs of a group and the number of a term, each once. */
class DistinctPairs {
  private readonly known: PairMap
  private dense: Uint8Array | null = null
  private width = 0

  private readonly allocate: (bytes: number) => void

  constructor(evaluation: Evaluation) {
    this.allocate = bytes => evaluation.allocate(bytes)
    this.known = new PairMap(this.allocate)
  }

  /**
   * Counts by group the pairs that come for the first time; 0 is no term.
   *
   * @param count groups that there are
   * @param terms the largest number of a term
   */
  countNew(
    groups: Uint32Array,
    ids: Uint32Array,
    { count, terms }: { readonly count: number; readonly terms: number },
    counts: Float64Array,
  ): void {
    const { dense, width } = this
    if (dense !== null && count * width <= dense.length && terms < width)
      countUnmarked({ flags: dense, width }, groups, ids, counts, count)
    else
      this.forNew(groups, ids, row => {
        const group = groups[row] as number
        counts[group] = (counts[group] as number) + 1
      })
  }

  /** Calls back for the first row of each pair; 0 is no term. */
  forNew(groups: Uint32Array, ids: Uint32Array, call: (row: number) => void): void {
    const { dense, width } = this
    // Pairs of a group that has no place in the array are found one by one.
    const end = dense === null ? 0 : Math.floor(dense.length / width)
    for (let row = 0; row < groups.length; row++) {
      if (dense !== null) row = nextNew(dense, width, end, groups, ids, row)
      if (row >= groups.length) return
      if (this.add(groups[row] as number, ids[row] as number)) call(row)
    }
  }

  /** True the first time that a pair comes. */
  add(group: number, id: number): boolean {
    if (id === 0) return false
    const { dense, width } = this
    if (dense !== null && id < width) {
      const place = group * width + id
      if (place < dense.length) {
        if (dense[place] === 1) return false
        dense[place] = 1
        return true
      }
    }
    const known = this.known.size
    return this.known.add(group, id, known) === known
  }

  *pairs(): Generator<readonly [number, number]> {
    const { dense, width } = this
    if (dense !== null)
      for (let place = 0; place < dense.length; place++) {
        const group = Math.floor(place / width)
        if (dense[place] === 1) yield [group, place - group * width]
      }
    for (const [group, id] of this.known.entries()) yield [group, id]
  }

  /** Of few groups and few terms an array is quicker. */
  prepare(groups: number, terms: number): void {
    const places = (groups + 1) * (terms + 1)
    if (this.dense === null && this.known.size === 0 && places <= MAX_DENSE) {
      this.width = terms + 1
      // Further groups may come.
      const length = Math.min(MAX_DENSE, 2 * places)
      this.allocate(length)
      this.dense = scratchUint8(length).fill(0)
    }
  }
}

const MAX_DENSE = 2 ** 22

/** The first row from one on whose pair is not marked in an array of groups below an end. */
function nextNew(
  dense: Uint8Array,
  width: number,
  end: number,
  groups: Uint32Array,
  ids: Uint32Array,
  from: number,
): number {
  const length = groups.length | 0
  for (let row = from; row < length; row++) {
    const group = groups[row] as number
    const id = ids[row] as number
    if (id === 0) continue
    if (group >= end || id >= width || dense[Math.imul(group, width) + id] === 0) return row
  }
  return length
}

/** Calls back for the first row of each term of each group; terms of several domains are compared in the pool. */
export class DistinctValues {
  private readonly evaluation: Evaluation
  private pairs: DistinctPairs
  private domain: Domain | null = null

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
    this.pairs = new DistinctPairs(evaluation)
  }

  forNew(vector: Vector, groups: Uint32Array, count: number, call: (row: number) => void): void {
    // First the numbers: they may be of other pairs from now on.
    const ids = this.idsOf(vector, groups.length, count)
    this.pairs.forNew(groups, ids, call)
  }

  /** Counts by group the terms that come for the first time. */
  countNew(vector: Vector, groups: Uint32Array, count: number, counts: Float64Array): void {
    const ids = this.idsOf(vector, groups.length, count)
    this.pairs.countNew(groups, ids, { count, terms: this.domain?.size ?? 0 }, counts)
  }

  private idsOf(vector: Vector, size: number, count: number): Uint32Array {
    const { pool } = this.evaluation
    const own = identified(vector, size, this.evaluation)
    if (this.domain !== null && this.domain !== pool && this.domain !== own.domain)
      this.moveToPool(this.domain)
    this.domain ??= own.domain
    if (this.domain === pool) return pooledIds(own, size, this.evaluation)
    this.pairs.prepare(count, own.domain.size)
    return own.ids
  }

  private moveToPool(domain: Domain): void {
    const { pool } = this.evaluation
    const pairs = new DistinctPairs(this.evaluation)
    for (const [group, id] of this.pairs.pairs()) pairs.add(group, pool.intern(domain.term(id)))
    this.pairs = pairs
    this.domain = pool
  }
}

/** Gives another aggregate each value of a group once. */
export class Distinct implements Aggregator {
  private readonly operand: AlgebraExpression
  private readonly inner: Aggregator
  private readonly context: AggregatorContext
  private readonly distinct: DistinctValues

  constructor(operand: AlgebraExpression, inner: Aggregator, context: AggregatorContext) {
    this.operand = operand
    this.inner = inner
    this.context = context
    this.distinct = new DistinctValues(context.evaluation)
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const vector = this.context.vectorOf(this.operand, batch)
    const rows: number[] = []
    // An error makes one of the aggregate, also where only distinct values are aggregated.
    const errors = new Set<number>()
    for (let row = 0; row < groups.length; row++)
      if (!isBound(vector, row) && !errors.has(groups[row] as number)) {
        errors.add(groups[row] as number)
        rows.push(row)
      }
    this.distinct.forNew(vector, groups, count, row => rows.push(row))
    const some = Uint32Array.from(rows).sort()
    this.inner.add(
      batch.rows(some),
      some.map(row => groups[row] as number),
      count,
    )
  }

  result(count: number): Vector {
    return this.inner.result(count)
  }
}
