import type { Batch } from './batch.ts'
import type { Domain } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import { identifiedInPool } from './join.ts'
import { PairTable, SingleTable } from './key-tables.ts'
import { identified } from './translate.ts'
import type { IdVector, Vector } from './vector.ts'

/** Determines the group number of each row of a batch. */
export interface Grouper {
  /** Number of groups so far. */
  count(): number
  /** Numbers of groups, from 0, by row. */
  assign(batch: Batch): Uint32Array
  /** The keys of all groups. */
  keys(): readonly (readonly [string, Vector])[]
}

/**
 * Groups by keys: by the numbers of their terms, in the domain that all batches share, else in the pool of the query. The pair of
 * the first two keys gets a number, the pair of that and the third key gets a number, and so on.
 */
export class KeyedGroups implements Grouper {
  private readonly names: readonly string[]
  private readonly evaluation: Evaluation
  private readonly domains: (Domain | null)[]
  /** Numbers of the terms of each key by group. */
  private ids: Uint32Array<ArrayBuffer>[]
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
    // One key of another domain moves all keys to the pool, including those of this batch that were read before.
    return this.groupsOf(moves === this.moves ? vectors : read(), batch.size)
  }

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
      const ids = this.evaluation.grown(this.ids[at] as Uint32Array<ArrayBuffer>, group + 1)
      this.ids[at] = ids
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
    this.tables = this.names.slice(1).map(() => new PairTable(this.evaluation))
    this.single = new SingleTable(this.evaluation)
    this.ids = this.names.map(() => new Uint32Array(Math.max(64, count)))
    this.groupsOf(vectors, count)
  }
}
