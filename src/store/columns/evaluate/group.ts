import { type AggregateCall, variablesOfExpression } from '../../../sparql/algebra.ts'
import { type Aggregator, type AggregatorContext, RowCounts } from './aggregates/aggregator.ts'
import { makeAggregator } from './aggregates/make.ts'
import { Batch, type Deferred, numbersFrom } from './batch.ts'
import { ColumnDomain } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import { isStable } from './functions/builtins.ts'
import { KeyPlaces } from './key-places.ts'
import { type Grouper, KeyedGroups } from './keyed-groups.ts'
import { countPlaces, countPlacesOf } from './lanes.ts'
import { scratchUint32 } from './scratch.ts'
import { gatherValues, type IdVector, integers, type Vector } from './vector.ts'

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
      if (addPlaced(batch, places, others, evaluation)) continue
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
    addToAll(others, batch, groups, count, evaluation)
  }
  if (coded !== null) {
    const { groups, counts } = coded.counted()
    rows.addCounts(groups, counts, grouper.count())
  }
  const count = places?.counts.length ?? grouper.count()
  const counts = places?.counts ?? rows.of(count)
  const results = aggregates.map(({ variable }, at): readonly [string, Vector] => {
    evaluation.check()
    return [variable, aggregators[at]?.result(count) ?? integers(Float64Array.from(counts))]
  })
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
function addPlaced(
  batch: Batch,
  places: KeyPlaces,
  aggregators: readonly Aggregator[],
  evaluation: Evaluation,
): boolean {
  if (aggregators.length === 0) return places.count(batch)
  const groups = places.assign(batch)
  if (groups === null) return false
  addToAll(aggregators, batch, groups, places.counts.length, evaluation)
  return true
}

function addToAll(
  aggregators: readonly Aggregator[],
  batch: Batch,
  groups: Uint32Array,
  count: number,
  evaluation: Evaluation,
): void {
  for (const aggregator of aggregators) {
    evaluation.advance(batch.size)
    aggregator.add(batch, groups, count)
  }
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

/** Keys are computed by code where a batch has at least this many rows per code of the column. */
const ROWS_A_CODE = 4

/** Assigns group numbers to solutions. */
type Assign = (keys: Batch) => Uint32Array

/** Groups by keys that are all computed from one column with few values, such as year and month of a date: once for each code. */
class CodedGroups {
  private readonly names: readonly string[]
  private readonly domain: ColumnDomain
  /** Rows by code. */
  private readonly counts: Uint32Array
  /** The number of the group by code; -1 for none yet. */
  private readonly groups: Int32Array
  private areAssigned = false

  private constructor(names: readonly string[], domain: ColumnDomain) {
    this.names = names
    this.domain = domain
    this.counts = new Uint32Array(domain.size + 1)
    this.groups = new Int32Array(domain.size + 1).fill(-1)
  }

  /** Creates the groups for batches whose keys are computed from the same column as in this batch; null for other keys. */
  static of(names: readonly string[], batch: Batch): CodedGroups | null {
    const keys = codedKeys(names, batch)
    if (keys === null || ROWS_A_CODE * (keys.domain.size + 1) > batch.size) return null
    return isSoleNumber(keys) ? null : new CodedGroups(names, keys.domain)
  }

  /** Counts the rows of a batch by code. False where its keys are computed from another column; then nothing is counted. */
  count(batch: Batch, assign: Assign): boolean {
    const keys = this.keysOf(batch)
    if (keys === null) return false
    const { counts } = this
    if (keys.rows === null) countPlaces(counts, keys.ids)
    else countPlacesOf(counts, keys.ids, keys.rows)
    this.assignFresh(keys, counts, assign)
    return true
  }

  /** The group number of each row of a batch; null where {@link count} would be false. */
  assign(batch: Batch, assign: Assign): Uint32Array | null {
    const keys = this.keysOf(batch)
    if (keys === null) return null
    const byRow = scratchUint32(batch.size)
    if (this.areAssigned && this.lookUp(keys, byRow)) return byRow
    const present = scratchUint32(this.groups.length).fill(0)
    const { ids, rows } = keys
    if (rows === null) for (let at = 0; at < ids.length; at++) present[ids[at] as number] = 1
    else for (let at = 0; at < rows.length; at++) present[ids[rows[at] as number] as number] = 1
    this.assignFresh(keys, present, assign)
    this.lookUp(keys, byRow)
    return byRow
  }

  private keysOf(batch: Batch): CodedKeys | null {
    const keys = codedKeys(this.names, batch)
    return keys?.domain === this.domain ? keys : null
  }

  /** Writes the groups of rows. False where a code has none yet. */
  private lookUp({ ids, rows }: CodedKeys, byRow: Uint32Array): boolean {
    const { groups } = this
    const length = byRow.length | 0
    let sign = 0
    if (rows === null)
      for (let at = 0; at < length; at++) {
        const group = groups[ids[at] as number] as number
        sign |= group
        byRow[at] = group
      }
    else
      for (let at = 0; at < length; at++) {
        const group = groups[ids[rows[at] as number] as number] as number
        sign |= group
        byRow[at] = group
      }
    return sign >= 0
  }

  /** Assigns groups to codes that occur and have none yet. */
  private assignFresh(keys: CodedKeys, present: Uint32Array, assign: Assign): void {
    const { groups } = this
    const fresh = placesOf(present, code => present[code] !== 0 && groups[code] === -1)
    if (fresh.length === 0) return
    const assigned = assign(keysOfCodes(keys, fresh))
    for (let at = 0; at < fresh.length; at++) groups[fresh[at] as number] = assigned[at] as number
    this.areAssigned = true
  }

  /** The groups of the codes, with the numbers of rows that were counted by code. */
  counted(): { readonly groups: Uint32Array; readonly counts: Uint32Array } {
    const codes = placesOf(this.counts, code => this.counts[code] !== 0)
    return {
      groups: codes.map(code => this.groups[code] as number),
      counts: codes.map(code => this.counts[code] as number),
    }
  }
}

/** The keys of a batch, and the codes from which they are computed: all, or those of selected rows. */
interface CodedKeys {
  readonly keys: readonly (readonly [name: string, key: Deferred])[]
  readonly variable: string
  readonly domain: ColumnDomain
  readonly ids: Uint32Array
  readonly rows: Uint32Array | null
}

function codedKeys(names: readonly string[], batch: Batch): CodedKeys | null {
  const keys: (readonly [string, Deferred])[] = []
  for (const name of names) {
    const key = batch.deferred(name)
    if (key === null) return null
    keys.push([name, key])
  }
  const [first] = keys
  const variable = first === undefined ? null : soleVariable(first[1])
  if (first === undefined || variable === null) return null
  const { vector, rows } = valuesIn(first[1].input, variable)
  if (vector?.type !== 'ids' || !(vector.domain instanceof ColumnDomain)) return null
  for (const [, key] of keys) {
    if (soleVariable(key) !== variable) return null
    const own = valuesIn(key.input, variable)
    if (own.vector !== vector || own.rows !== rows) return null
  }
  return { keys, variable, domain: vector.domain, ids: vector.ids, rows }
}

/** The keys of some codes. */
function keysOfCodes({ keys, variable, domain }: CodedKeys, codes: Uint32Array): Batch {
  const values: IdVector = { type: 'ids', domain, ids: codes }
  const input = new Batch(codes.length, new Map([[variable, values]]))
  return new Batch(codes.length, new Map(keys.map(([name, key]) => [name, key.of(input)])))
}

/** True for a single key that is a number: its numbers are looked up by code directly. */
function isSoleNumber(keys: CodedKeys): boolean {
  const [first, ...others] = keys.keys
  if (first === undefined || others.length > 0) return false
  return keysOfCodes(keys, Uint32Array.of(1)).get(first[0])?.type === 'numbers'
}

/** The values of a variable, or the values from which it selects rows. */
function valuesIn(
  batch: Batch,
  variable: string,
): { readonly vector: Vector | undefined; readonly rows: Uint32Array | null } {
  return batch.unread(variable) ?? { vector: batch.get(variable), rows: null }
}

/** The single variable that a deferred expression reads; null for several, or for an expression that is not stable. */
function soleVariable({ expression }: Deferred): string | null {
  const [name, ...others] = variablesOfExpression(expression)
  return name === undefined || others.length > 0 || !isStable(expression) ? null : name
}

/** The indexes of counts for which a test holds. */
function placesOf(counts: Uint32Array, test: (place: number) => boolean): Uint32Array {
  const places = scratchUint32(counts.length)
  let next = 0
  for (let place = 0; place < counts.length; place++) if (test(place)) places[next++] = place
  return places.slice(0, next)
}
