import type { EntityColumn } from '../../model/edm.ts'
import {
  type EntitiesPlan,
  type ODataClauses,
  type ODataPlan,
  resolveOData,
} from '../../query/odata/resolve.ts'
import { answerRows } from '../../query/odata/rows.ts'
import { valuesReader } from '../../query/odata/values.ts'
import { recordIri } from '../../rdf/iris.ts'
import { findGroups } from '../../records/aggregate.ts'
import type { Bookmarks } from '../../records/bookmarks.ts'
import { findEntities } from '../../records/entities.ts'
import { findRecord } from '../../records/find.ts'
import { narrow } from '../../records/narrow.ts'
import type { Asker } from '../../records/trace.ts'
import type { EntityRow } from './format/shape.ts'
import type { ServedSet } from './sets.ts'
import type { Face } from './versions.ts'

/** Entities with their properties, and how many there are on all pages. */
export interface EntityPage {
  readonly columns: readonly EntityColumn[]
  /** What the context names; null for all properties. */
  readonly selected: readonly string[] | null
  readonly rows: readonly EntityRow[]
  /** Where they were not to be counted, at least so many. */
  readonly total: number
}

/** What a question to the entities of a set needs beside its clauses. */
export interface Asking {
  readonly asker: Asker
  readonly bookmarks: Bookmarks
  readonly face: Face
  /** The moment of the request: milliseconds since 1970. */
  readonly now: number
}

/** A page of the entities of a set, or of the rows that `$apply` makes of them. */
export async function askEntities(
  set: ServedSet,
  clauses: ODataClauses,
  asking: Asking,
  isCounted: boolean,
): Promise<EntityPage> {
  const { asker, bookmarks } = asking
  const { target } = set.entry
  const plan = planOf(set, clauses, asking)
  const { columns, selected } = plan
  if (plan.type === 'rows') {
    const groups = await findGroups(plan.query, await narrow(plan.query, target, asker), asker)
    const { rows, total } = asker.watch.time('decode', () => answerRows(plan, groups.rows))
    return { columns, selected, rows: rows.map(values => ({ id: null, values })), total }
  }
  const page = await findEntities(plan.query, target, asker, bookmarks, isCounted)
  const read = valuesReader(plan.columns, set.updated)
  const rows = asker.watch.time('decode', () =>
    page.rows.map(row => ({ id: row.record.id, values: read(row) })),
  )
  return { columns, selected, rows, total: kept(page.total, plan) }
}

/** One entity by its key; null where there is none. Its page has one row. */
export async function askEntity(
  set: ServedSet,
  id: string,
  clauses: ODataClauses,
  asking: Asking,
): Promise<(EntityPage & { readonly row: EntityRow }) | null> {
  const { dataset, target } = set.entry
  const plan = planOf(set, clauses, asking)
  if (plan.type !== 'entities') return null
  const iri = recordIri(target.base, dataset.id, id)
  const found = await findRecord(id, iri, plan.query, target, asking.asker)
  if (found === null) return null
  const row = { id: found.record.id, values: valuesReader(plan.columns, set.updated)(found) }
  return { columns: plan.columns, selected: plan.selected, rows: [row], total: 1, row }
}

function planOf({ model }: ServedSet, clauses: ODataClauses, { asker, face, now }: Asking): ODataPlan {
  const context = { model, now: new Date(now).toISOString(), version: face }
  return asker.watch.time('resolve', () => resolveOData(clauses, context))
}

/** How many of the records that match `$apply` leaves. */
function kept(total: number, { within: { skip, top } }: EntitiesPlan): number {
  const rest = Math.max(0, total - skip)
  return top === null ? rest : Math.min(rest, top)
}
