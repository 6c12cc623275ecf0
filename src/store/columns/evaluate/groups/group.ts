import { type AggregateCall, variablesOfExpression } from '../../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluation.ts'
import { isStable } from '../functions/builtins.ts'
import { Batch, type Deferred, numbersFrom } from '../vectors/batch.ts'
import { ColumnDomain } from '../vectors/domain.ts'
import { countPlaces } from '../vectors/lanes.ts'
import { rowsPresent } from '../vectors/row-filters.ts'
import { gathered, gatherValues, type IdVector, integers, type Vector } from '../vectors/vector.ts'
import { type Aggregator, type AggregatorContext, RowCounts } from './aggregator.ts'
import { KeyPlaces } from './key-places.ts'
import { KeyedGroups } from './keyed-groups.ts'
import { makeAggregator } from './make-aggregator.ts'

/** The solutions of a GROUP BY: one for each group, with its keys and aggregates (SPARQL 1.1 Query, section 18.5). */
export function grouped(
  batches: Iterable<Batch>,
  keys: readonly string[],
  aggregates: readonly { readonly variable: string; readonly aggregate: AggregateCall }[],
  context: AggregatorContext,
): Batch {
  const { evaluation } = context
  const grouper = new KeyedGroups(keys, evaluation)
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
      hasEmptyGroups = coded !== null || places !== null
    }
    if (others.length === 0 && (places ?? coded)?.count(batch) === true) continue
    if (places !== null) {
      if (addToPlaces(others, batch, places, evaluation)) continue
      // Keys of other domains: from now on the places are groups, including those without rows.
      const all = places.keys(numbersFrom(0, places.counts.length))
      rows.addCounts(assign(all), places.counts, grouper.count())
      places = null
    }
    const groups = coded?.assign(batch, assign) ?? assign(batch)
    if (hasEmptyGroups || others.length < aggregators.length) rows.add(groups, grouper.count())
    addToAll(others, batch, groups, grouper.count(), evaluation)
  }
  if (coded !== null && others.length === 0) rows.addCounts(...coded.counted(assign), grouper.count())
  // Without keys there is one group, even for no solutions.
  const count = keys.length === 0 ? 1 : (places?.counts.length ?? grouper.count())
  const counts = places?.counts ?? rows.of(count)
  const results = aggregates.map(({ variable }, at): readonly [string, Vector] => {
    evaluation.check()
    return [variable, aggregators[at]?.result(count) ?? integers(Float64Array.from(counts))]
  })
  if (places) {
    const present = rowsPresent(counts)
    return places
      .keys(present)
      .with(results.map(([variable, vector]) => [variable, gatherValues(vector, present)] as const))
  }
  const all = new Batch(count, new Map([...grouper.keys(), ...results]))
  return hasEmptyGroups ? all.rows(rowsPresent(counts)) : all
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

/** Adds a batch to the groups that are places of its keys. False where its keys have no places there; then nothing is added. */
function addToPlaces(
  aggregators: readonly Aggregator[],
  batch: Batch,
  places: KeyPlaces,
  evaluation: Evaluation,
): boolean {
  const count = places.counts.length
  const selected = places.select(batch)
  const others = aggregators.filter(aggregator => {
    if (selected !== null) evaluation.advance(batch.size)
    return selected === null || aggregator.addSelected?.(batch, selected, count) !== true
  })
  if (selected !== null && others.length === 0) return true
  const groups = selected === null ? places.assign(batch) : gathered(selected.groups, selected.rows)
  if (groups !== null) addToAll(others, batch, groups, count, evaluation)
  return groups !== null
}

/** Keys are computed by code where a batch has at least this many rows per code of the column. */
const ROWS_A_CODE = 4

/** Assigns group numbers to solutions. */
type Assign = (keys: Batch) => Uint32Array

/** Groups by keys that are all computed from one column with few values, such as year and month of a date: once for each code. */
class CodedGroups {
  /** The keys of the first batch. */
  private readonly keys: CodedKeys
  private readonly names: readonly string[]
  /** Rows by code. */
  private readonly counts: Uint32Array
  /** The number of the group by code; null for none yet. */
  private groups: Uint32Array | null = null

  private constructor(names: readonly string[], keys: CodedKeys) {
    this.names = names
    this.keys = keys
    this.counts = new Uint32Array(keys.domain.size + 1)
  }

  /** Creates the groups for batches whose keys are computed from the same column as in this batch; null for other keys. */
  static of(names: readonly string[], batch: Batch): CodedGroups | null {
    const keys = codedKeys(names, batch)
    if (keys === null || ROWS_A_CODE * (keys.domain.size + 1) > batch.size) return null
    return isSoleNumber(keys) ? null : new CodedGroups(names, keys)
  }

  /** Counts the rows of a batch by code. False where its keys are computed from another column; then nothing is counted. */
  count(batch: Batch): boolean {
    const keys = this.keysOf(batch)
    if (keys === null) return false
    countPlaces(this.counts, codesOf(keys))
    return true
  }

  /**
   * The group number of each row of a batch; null where {@link count} would be false. All codes have groups, including those
   * without rows.
   */
  assign(batch: Batch, assign: Assign): Uint32Array | null {
    const keys = this.keysOf(batch)
    if (keys === null) return null
    this.groups ??= assign(keysOfCodes(keys, numbersFrom(0, keys.domain.size + 1))).slice()
    return gathered(this.groups, codesOf(keys))
  }

  private keysOf(batch: Batch): CodedKeys | null {
    const keys = codedKeys(this.names, batch)
    return keys?.domain === this.keys.domain ? keys : null
  }

  /** The groups of the codes that were counted, with the numbers of their rows. */
  counted(assign: Assign): readonly [groups: Uint32Array, counts: Uint32Array] {
    const codes = rowsPresent(this.counts)
    return [assign(keysOfCodes(this.keys, codes)), gathered(this.counts, codes)]
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

/** The code of each row. */
function codesOf({ ids, rows }: CodedKeys): Uint32Array {
  return rows === null ? ids : gathered(ids, rows)
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
