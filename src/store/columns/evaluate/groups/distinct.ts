import { memoised } from '../../../../model/memoised.ts'
import { shareSubjects } from '../../graph.ts'
import type { Evaluation } from '../evaluation.ts'
import { allRows } from '../vectors/batch.ts'
import { type Domain, SubjectDomain } from '../vectors/domain.ts'
import { identified, pooledIds } from '../vectors/translate.ts'
import { gathered, type IdVector, isBound, type Vector } from '../vectors/vector.ts'
import type { Aggregator, Operand } from './aggregator.ts'
import { DistinctPairs } from './distinct-pairs.ts'

/** Number of the space of groups whose terms are compared in the pool. */
const POOLED = 2 ** 32 - 1

/** Groups that are moved to the pool individually. */
const FEW_MOVED = 4096

/**
 * Calls back for the first row of each term of each group. The terms of a group are compared within one space: a domain, or
 * several that have no term in common; those of a group that has terms of two spaces are compared in the pool.
 */
export class DistinctValues {
  private readonly evaluation: Evaluation
  private readonly pooled: DistinctPairs
  private readonly parts = new Map<Domain, DistinctPairs>()
  private readonly spaces: Domain[][] = []
  /** The space of all terms so far, as in `spaceOf`; 0 once there are several, from when on those of groups are recorded. */
  private onlySpace: number | null = null
  /** One more than the number of the space of each group; 0 for none yet. */
  private spaceOf = new Uint32Array(16)
  /** Groups whose terms were moved to the pool. */
  private moved = 0
  private areAllPooled = false

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
    this.pooled = new DistinctPairs(evaluation)
  }

  forNew(vector: Vector, groups: Uint32Array, count: number, call: (row: number) => void): void {
    for (const { pairs, ids, rows, some } of this.partsOf(vector, groups, count))
      pairs.forNew(some, ids, rows === null ? call : row => call(rows[row] as number))
  }

  /** Counts new terms by group. */
  countNew(vector: Vector, groups: Uint32Array, count: number, counts: Float64Array): void {
    for (const { pairs, ids, terms, some } of this.partsOf(vector, groups, count))
      pairs.countNew(some, ids, { count, terms }, counts)
  }

  /** The rows whose terms are compared in their own domain, and those that are compared in the pool. */
  private partsOf(vector: Vector, groups: Uint32Array, count: number): readonly Part[] {
    const { pool } = this.evaluation
    const own = identified(vector, groups.length, this.evaluation)
    const { domain, ids } = own
    const pooledRows = this.noteSpaces(domain, groups, count)
    if (domain === pool)
      return [{ pairs: this.partOf(pool), ids, some: groups, rows: null, terms: pool.size }]
    const ofOwn = (rows: Uint32Array | null): Part => {
      const pairs = this.partOf(domain)
      pairs.prepare(count, domain.size)
      const some = rows === null ? groups : gathered(groups, rows)
      return { pairs, ids: rows === null ? ids : gathered(ids, rows), some, rows, terms: domain.size }
    }
    if (pooledRows === 0) return [ofOwn(null)]
    const all = allRows(groups.length)
    const isPooled = (row: number) => this.spaceOf[groups[row] as number] === POOLED
    const some = pooledRows === groups.length ? all : all.filter(isPooled)
    const pooledVector: IdVector = { type: 'ids', domain, ids: gathered(ids, some) }
    const part: Part = {
      pairs: this.partOf(pool),
      ids: pooledIds(pooledVector, some.length, this.evaluation),
      some: gathered(groups, some),
      rows: some,
      terms: pool.size,
    }
    return pooledRows === groups.length ? [part] : [part, ofOwn(all.filter(row => !isPooled(row)))]
  }

  private partOf(domain: Domain): DistinctPairs {
    if (domain === this.evaluation.pool) return this.pooled
    return memoised(this.parts, domain, () => new DistinctPairs(this.evaluation))
  }

  /** Records the space of each group; a group with terms of two spaces moves to the pool. Returns the number of rows of such groups. */
  private noteSpaces(domain: Domain, groups: Uint32Array, count: number): number {
    if (this.areAllPooled) return groups.length
    const own = domain === this.evaluation.pool ? POOLED : this.space(domain) + 1
    this.onlySpace ??= own
    if (own === this.onlySpace) return own === POOLED ? groups.length : 0
    this.spaceOf = this.evaluation.grown(this.spaceOf, count)
    if (this.onlySpace !== 0)
      for (const pairs of [this.pooled, ...this.parts.values()])
        for (const [group] of pairs.pairs(null)) this.spaceOf[group] = this.onlySpace
    this.onlySpace = 0
    const { spaceOf } = this
    const moved = new Set<number>()
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      const known = spaceOf[group] as number
      if (known === own) continue
      if (known === 0) spaceOf[group] = own
      else if (known !== POOLED) moved.add(group)
    }
    if (moved.size > 0) this.moveToPool(moved)
    if (own === POOLED) return groups.length
    let pooled = 0
    for (let row = 0; row < groups.length; row++) pooled += Number(spaceOf[groups[row] as number] === POOLED)
    return pooled
  }

  /** The number of the space of mutually disjoint domains to which a domain belongs, or of this domain alone. */
  private space(domain: Domain): number {
    const known = this.spaces.findIndex(domains => domains.includes(domain))
    if (known >= 0) return known
    const apart = this.spaces.findIndex(domains => domains.every(other => areApart(domain, other)))
    if (apart >= 0) this.spaces[apart]?.push(domain)
    else this.spaces.push([domain])
    return apart >= 0 ? apart : this.spaces.length - 1
  }

  /** Moves the terms of some groups to the pool; those of all groups once there are many such groups. */
  private moveToPool(groups: ReadonlySet<number>): void {
    const { pool } = this.evaluation
    this.moved += groups.size
    this.areAllPooled = this.moved > FEW_MOVED
    if (this.areAllPooled) this.spaceOf.fill(POOLED)
    else for (const group of groups) this.spaceOf[group] = POOLED
    for (const [domain, part] of this.parts)
      for (const [group, id] of part.pairs(this.areAllPooled ? null : groups)) {
        this.evaluation.advance(1)
        this.pooled.add(group, pool.internOf(domain, id))
      }
    if (this.areAllPooled) this.parts.clear()
  }
}

/** Rows whose terms are compared within one set of pairs. */
interface Part {
  readonly pairs: DistinctPairs
  /** Groups and numbers of terms, by row; where `rows` is null, all rows of a batch. */
  readonly some: Uint32Array
  readonly ids: Uint32Array
  readonly rows: Uint32Array | null
  /** The largest number of a term. */
  readonly terms: number
}

/** True for the subjects of graphs that have none in common. */
function areApart(left: Domain, right: Domain): boolean {
  return (
    left instanceof SubjectDomain && right instanceof SubjectDomain && !shareSubjects(left.graph, right.graph)
  )
}

/** Passes each distinct value of a group to another aggregate once. */
export function distinctOf(valuesOf: Operand, evaluation: Evaluation, inner: Aggregator): Aggregator {
  const distinct = new DistinctValues(evaluation)
  return {
    add: (batch, groups, count) => {
      const vector = valuesOf(batch)
      const rows: number[] = []
      // An error makes the aggregate an error, even where only distinct values are aggregated.
      const errors = new Set<number>()
      for (let row = 0; row < groups.length; row++)
        if (!isBound(vector, row) && !errors.has(groups[row] as number)) {
          errors.add(groups[row] as number)
          rows.push(row)
        }
      distinct.forNew(vector, groups, count, row => rows.push(row))
      const some = Uint32Array.from(rows).sort()
      inner.add(batch.rows(some), gathered(groups, some), count)
    },
    result: count => inner.result(count),
  }
}
