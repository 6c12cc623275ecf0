import type { DatasetList } from '../../catalog/seen.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { type EntityModel, entityModel, typeNames } from '../../model/edm.ts'
import { TECHNICAL } from '../../query/technical.ts'

/** An entity set: a dataset as it is served, and how OData sees it. */
export interface ServedSet {
  readonly entry: ServedDataset
  readonly model: EntityModel
  /** When it was published: `YYYY-MM-DDTHH:MM:SS[.f…]Z`. */
  readonly updated: string
}

/** The entity sets of a caller. */
export interface ServedSets {
  /** In the order of the catalog. */
  readonly all: readonly ServedSet[]
  /** By the id of the dataset, and by the name of its type for clients that cannot write the id. */
  readonly byName: ReadonlyMap<string, ServedSet>
  /** Names the state of all of them. */
  readonly version: string
}

const made = new WeakMap<DatasetList, ServedSets>()

/**
 * The entity sets that a caller sees: one a dataset.
 *
 * @param host host name of the portal
 */
export function setsSeen(catalog: DatasetList, host: string): ServedSets {
  const known = made.get(catalog)
  if (known !== undefined) return known
  const { entries } = catalog
  const types = typeNames(entries.map(({ dataset }) => dataset.id))
  const all = entries.map(entry => {
    const { id } = entry.dataset
    const updated = new Date(entry.published).toISOString().replace(/\.?0*Z$/, 'Z')
    return { entry, model: entityModel(entry.dataset, host, types.get(id) ?? id, TECHNICAL), updated }
  })
  const byName = new Map([
    ...all.map(set => [set.model.type, set] as const),
    ...all.map(set => [set.model.set, set] as const),
  ])
  const version = entries.map(entry => `${entry.dataset.id} ${entry.version}`).join(',')
  const sets = { all, byName, version }
  made.set(catalog, sets)
  return sets
}
