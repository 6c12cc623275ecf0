import type { AggregateCall } from '../../../sparql/algebra.ts'
import { type Aggregator, type AggregatorContext, RowCounts } from './aggregates/aggregator.ts'
import { makeAggregator } from './aggregates/make.ts'
import { Batch, numbersFrom } from './batch.ts'
import { KeyPlaces } from './key-places.ts'
import { type Grouper, KeyedGroups } from './keyed-groups.ts'
import { CodedGroups } from './keys-by-code.ts'
import { gatherValues, integers, type Vector } from './vector.ts'

/** The solutions of a GROUP BY: one for each group, with its keys and aggregates (SPARQL 1.1 Query, section 18.5). */
export function grouped(
  batches: Iterable<Batch>,
  keys: readonly string[],
  aggregates: readonly { readonly variable: string; readonly aggregate: AggregateCall }[],
  context: AggregatorContext,
): Batch {
  const { evaluation } = context
  const grouper = keys.length === 0 ? new OneGroup() : new KeyedGroups(keys, evaluation)
  /** Aggregates other than COUNT(*). */
  const aggregators = aggregates.map(({ aggregate }) =>
    aggregate.operand === null && !aggregate.distinct ? null : makeAggregator(aggregate, context),
  )
  const others = aggregators.filter(aggregator => aggregator !== null)
  /** Counts the rows of groups that are not in the array of places. */
  const rows = new RowCounts(evaluation)
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
    if (hasEmptyGroups || others.length < aggregators.length) rows.add(groups, count)
    for (const aggregator of others) aggregator.add(batch, groups, count)
  }
  if (coded !== null) {
    const { groups, counts } = coded.counted()
    rows.addCounts(groups, counts, grouper.count())
  }
  const count = places?.counts.length ?? grouper.count()
  const counts = places?.counts ?? rows.of(count)
  const results = aggregates.map(({ variable }, at): readonly [string, Vector] => [
    variable,
    aggregators[at]?.result(count) ?? integers(Float64Array.from(counts)),
  ])
  if (places) {
    const present = places.present()
    return places
      .keys(present)
      .with(results.map(([variable, vector]) => [variable, gatherValues(vector, present)] as const))
  }
  const all = new Batch(count, new Map([...grouper.keys(), ...results]))
  return hasEmptyGroups ? all.rows(numbersFrom(0, count).filter(group => counts[group] !== 0)) : all
}

/** False where the keys of a batch do not fit into the existing places. */
function addPlaced(batch: Batch, places: KeyPlaces, aggregators: readonly Aggregator[]): boolean {
  if (aggregators.length === 0) return places.count(batch)
  const groups = places.assign(batch)
  if (groups === null) return false
  for (const aggregator of aggregators) aggregator.add(batch, groups, places.counts.length)
  return true
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
