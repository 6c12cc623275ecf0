import type { AggregateCall } from '../../../sparql/algebra.ts'
import type { Aggregator, AggregatorContext } from './aggregates/aggregator.ts'
import { CountRows } from './aggregates/counts.ts'
import { makeAggregator } from './aggregates/make.ts'
import { Batch, numbersFrom } from './batch.ts'
import type { Domain } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import { identifiedInPool } from './join.ts'
import { KeyPlaces } from './key-places.ts'
import { PairTable, SingleTable } from './key-tables.ts'
import { CodedGroups } from './keys-by-code.ts'
import { identified } from './translate.ts'
import { gatherValues, type IdVector, type Vector } from './vector.ts'

/** Determines the group number of each row of a batch. */
interface Grouper {
  /** Number of groups so far. */
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
  const others = aggregators.filter(aggregator => !(aggregator instanceof CountRows))
  /** Counts the rows of groups that are not in the array of places. */
  const rows = new CountRows(context)
  let places: KeyPlaces | null | undefined = keys.length > 0 ? undefined : null
  let coded: CodedGroups | null = null
  let hasEmptyGroups = false
  const assign = (batch: Batch) => grouper.assign(batch)
  for (const batch of batches) {
    if (batch.size === 0) continue
    evaluation.advance(batch.size)
    if (places === undefined) {
      coded = CodedGroups.of(keys, batch)
      places = coded === null ? KeyPlaces.of(keys, batch, others.length === 0) : null
    }
    if (places !== null) {
      if (addPlaced(batch, places, others)) continue
      // Keys of other domains: from now on the places are groups, including those without rows.
      const all = places.keys(numbersFrom(0, places.counts.length))
      rows.addCounts(assign(all), places.counts, grouper.count())
      hasEmptyGroups = true
      places = null
    }
    if (others.length === 0 && coded?.count(batch, assign) === true) continue
    const groups = coded?.assign(batch, assign) ?? assign(batch)
    const count = grouper.count()
    if (hasEmptyGroups || others.length < aggregators.length) rows.add(batch, groups, count)
    for (const aggregator of others) aggregator.add(batch, groups, count)
  }
  if (coded !== null) {
    const { groups, counts } = coded.counted()
    rows.addCounts(groups, counts, grouper.count())
  }
  const count = places?.counts.length ?? grouper.count()
  const results = aggregates.map(({ variable }, at): readonly [string, Vector] => {
    const aggregator = aggregators[at] as Aggregator
    if (!(aggregator instanceof CountRows)) return [variable, aggregator.result(count)]
    return [variable, places ? integers(places.counts) : rows.result(count)]
  })
  if (places) {
    const present = places.present()
    return places
      .keys(present)
      .with(results.map(([variable, vector]) => [variable, gatherValues(vector, present)] as const))
  }
  const all = new Batch(count, new Map([...grouper.keys(), ...results]))
  return hasEmptyGroups ? all.rows(rows.present(count)) : all
}

/** False where the keys of a batch do not fit into the existing places. */
function addPlaced(batch: Batch, places: KeyPlaces, aggregators: readonly Aggregator[]): boolean {
  if (aggregators.length === 0) return places.count(batch)
  const groups = places.assign(batch)
  if (groups === null) return false
  for (const aggregator of aggregators) aggregator.add(batch, groups, places.counts.length)
  return true
}

function integers(counts: Uint32Array): Vector {
  return { type: 'numbers', kind: 'integer', values: Float64Array.from(counts), bound: null }
}

/** Without keys there is one group, even for no solutions. */
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
 * Groups by keys: by the numbers of their terms, in the domain that all batches share, else in the pool of the query. The pair of
 * the first two keys gets a number, the pair of that and the third key gets a number, and so on.
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
