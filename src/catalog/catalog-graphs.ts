import type { Field } from '../model/field.ts'
import type { Metas } from '../model/metadata.ts'
import type { CompileTarget } from '../query/compile/target.ts'
import { EMPTY_GRAPH, type GraphSource } from '../store/store.ts'
import { CATALOG_ID, catalogFields, catalogRecord, FIGURE_FIELDS } from './catalog-dataset.ts'
import { inMemoryGraphs } from './in-memory-dataset.ts'
import type { ServedDataset } from './served.ts'

/** Datasets in the order of their ids. */
export interface DatasetList {
  readonly version: string
  readonly entries: readonly ServedDataset[]
}

/** Datasets as a dataset: what catalog queries are asked of. */
export interface ServedCatalog extends DatasetList {
  readonly target: CompileTarget
  /** The figures of use that its records have, by the ids of the entries; it has the fields for them then. */
  readonly figures?: ReadonlyMap<string, Metas[string]>
}

/**
 * The graphs of a catalog: every entry's metadata, one triple each.
 *
 * @param id what the catalog is called where it is asked like a dataset
 * @param figures of the use of each entry, by its id
 */
export function catalogGraphs(
  entries: readonly ServedDataset[],
  base: string,
  version: string,
  id = CATALOG_ID,
  figures?: ReadonlyMap<string, Metas[string]>,
): { readonly served: ServedCatalog; readonly sources: readonly GraphSource[] } {
  const fields = catalogFields(entries, figures === undefined ? [] : FIGURE_FIELDS)
  const records = entries.map((entry, position) =>
    catalogRecord(entry, position, fields, figures?.get(entry.dataset.id)),
  )
  const made = { dataset: { id, fields }, records, base, version, published: EPOCH, isSearched }
  const { target, sources } = inMemoryGraphs(made)
  const counted = figures === undefined ? {} : { figures }
  return { served: { version, entries, target, ...counted }, sources }
}

/** A word of a dataset's mapping is not what somebody looks for who looks for datasets. */
function isSearched({ name }: Field): boolean {
  return !name.startsWith('semantic.')
}

/** The catalog has no timestamp of its own: its queries know no technical fields. */
const EPOCH = '1970-01-01T00:00:00Z'

/** What queries of a catalog without datasets are asked of. */
export function emptyTarget(base: string, id = CATALOG_ID): CompileTarget {
  return {
    base,
    dataset: { id, fields: catalogFields([]) },
    graphs: { facts: EMPTY_GRAPH },
    statistics: { records: 0, fields: {} },
    published: EPOCH,
  }
}
