import type { Field } from '../model/field.ts'
import type { Metas } from '../model/metadata.ts'
import type { CompileTarget } from '../query/compile/target.ts'
import { EMPTY_GRAPH, type GraphSource } from '../store/store.ts'
import { CATALOG_ID, catalogFields, catalogRecord, USAGE_FIELDS } from './catalog-dataset.ts'
import { inMemoryGraphs } from './in-memory-dataset.ts'
import type { ServedDataset } from './served.ts'

/** Datasets sorted by id. */
export interface DatasetList {
  readonly version: string
  readonly entries: readonly ServedDataset[]
}

/** A list of datasets as a dataset: the target of catalog queries. */
export interface ServedCatalog extends DatasetList {
  readonly target: CompileTarget
  /** The usage statistics in its records, by the ids of the entries; if present, it has fields for them. */
  readonly statistics?: ReadonlyMap<string, Metas[string]>
}

/**
 * The graphs of a catalog: every entry's metadata, one triple each.
 *
 * @param id the id of the catalog as a queryable dataset
 * @param statistics usage statistics of each entry, by its id
 */
export function catalogGraphs(
  entries: readonly ServedDataset[],
  base: string,
  version: string,
  id = CATALOG_ID,
  statistics?: ReadonlyMap<string, Metas[string]>,
): { readonly served: ServedCatalog; readonly sources: readonly GraphSource[] } {
  const fields = catalogFields(entries, statistics === undefined ? [] : USAGE_FIELDS)
  const records = entries.map((entry, position) =>
    catalogRecord(entry, position, fields, statistics?.get(entry.dataset.id)),
  )
  const content = { dataset: { id, fields }, records, base, version, published: EPOCH, isSearched }
  const { target, sources } = inMemoryGraphs(content)
  const served: ServedCatalog = { version, entries, target }
  return { served: statistics === undefined ? served : { ...served, statistics }, sources }
}

/** Words of a dataset's mapping are irrelevant to a search for datasets. */
function isSearched({ name }: Field): boolean {
  return !name.startsWith('semantic.')
}

/** The catalog has no timestamp of its own: its queries know no technical fields. */
const EPOCH = '1970-01-01T00:00:00Z'

/** The target of queries of a catalog without datasets. */
export function emptyTarget(base: string, id = CATALOG_ID): CompileTarget {
  return {
    base,
    dataset: { id, fields: catalogFields([]) },
    graphs: { facts: EMPTY_GRAPH },
    statistics: { records: 0, fields: {} },
    published: EPOCH,
  }
}
