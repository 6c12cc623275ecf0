import type { Field } from '../model/field.ts'
import type { DatasetRecord, Value } from '../model/value.ts'
import type { VersionDifference } from '../publishing/versions/changes.ts'
import { fieldPredicates, RecordReader } from '../store/record-reader.ts'
import type { Store } from '../store/store.ts'
import type { ServedDataset } from './served.ts'

export const CHANGE_TYPES = ['changed', 'added', 'removed'] as const
export type ChangeType = (typeof CHANGE_TYPES)[number]

/** A field of a record whose value differs, or that one of the versions does not have. */
export interface FieldChange {
  readonly field: Field
  readonly before: Value
  readonly after: Value
}

/** A record that differs between two versions. */
export interface RecordChange {
  readonly type: ChangeType
  readonly id: string
  /** Fields that differ; for a record that was added or removed, all fields with a value. */
  readonly fields: readonly FieldChange[]
}

/** The numbers of records that differ. */
export function changeCounts({
  added,
  removed,
  after,
}: VersionDifference): Readonly<Record<ChangeType, number>> {
  return { changed: after.length, added: added.length, removed: removed.length }
}

/**
 * A page of the records that differ between two versions: changed ones first, then added and removed ones, each in source order.
 *
 * @param types the requested types
 */
export async function changedRecords(
  store: Pick<Store, 'contents'>,
  [earlier, later]: readonly [ServedDataset, ServedDataset],
  difference: VersionDifference,
  types: readonly ChangeType[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<readonly RecordChange[]> {
  const places = placesOf(difference, types, offset, limit)
  if (places.length === 0) return []
  const [old, now] = await Promise.all([readerOf(store, earlier), readerOf(store, later)])
  const fields = fieldPairs(earlier, later)
  return places.map(({ type, before, after }) => {
    const was = before === null ? null : old.record(before)
    const is = after === null ? null : now.record(after)
    return { type, id: (is ?? was)?.id ?? '', fields: fieldChanges(was, is, fields) }
  })
}

interface Place {
  readonly type: ChangeType
  readonly before: number | null
  readonly after: number | null
}

function placesOf(
  { added, removed, before, after }: VersionDifference,
  types: readonly ChangeType[],
  offset: number,
  limit: number,
): readonly Place[] {
  const lists: Readonly<Record<ChangeType, readonly [Uint32Array | null, Uint32Array | null]>> = {
    changed: [before, after],
    added: [null, added],
    removed: [removed, null],
  }
  const places: Place[] = []
  let passed = offset
  for (const type of CHANGE_TYPES) {
    if (!types.includes(type)) continue
    const [old, now] = lists[type]
    const length = (now ?? old)?.length ?? 0
    for (let at = Math.min(passed, length); at < length && places.length < limit; at++)
      places.push({ type, before: old?.[at] ?? null, after: now?.[at] ?? null })
    passed = Math.max(0, passed - length)
  }
  return places
}

async function readerOf(store: Pick<Store, 'contents'>, { target, dataset }: ServedDataset) {
  const of = { base: target.base, dataset }
  return new RecordReader(await store.contents(target.graphs.facts, fieldPredicates(of)), of)
}

interface FieldPair {
  readonly field: Field
  /** The index of the field in each version; -1 if it is missing. */
  readonly before: number
  readonly after: number
}

/** The fields of both versions: those of the later one first. */
function fieldPairs(
  { dataset: earlier }: ServedDataset,
  { dataset: later }: ServedDataset,
): readonly FieldPair[] {
  const placeIn = (fields: readonly Field[], name: string) => fields.findIndex(field => field.name === name)
  const gone = earlier.fields.filter(({ name }) => placeIn(later.fields, name) < 0)
  return [...later.fields, ...gone].map(field => ({
    field,
    before: placeIn(earlier.fields, field.name),
    after: placeIn(later.fields, field.name),
  }))
}

function fieldChanges(
  was: DatasetRecord | null,
  is: DatasetRecord | null,
  pairs: readonly FieldPair[],
): readonly FieldChange[] {
  return pairs.flatMap(({ field, before, after }) => {
    const old = was?.values[before] ?? null
    const now = is?.values[after] ?? null
    return keyOf(old) === keyOf(now) ? [] : [{ field, before: old, after: now }]
  })
}

/** Two values are equal if their keys are. */
function keyOf(value: Value): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part)) ?? 'null'
}
