import type { ServedDataset } from '../../catalog/served.ts'
import type { DatasetList, VisibleDatasets } from '../../catalog/visible.ts'
import { isFault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { type EntityModel, entityModel, namesWithLetter, renamedModel, typeNames } from '../../model/edm.ts'
import { memoised, oncePerObject } from '../../model/memoised.ts'
import { TECHNICAL } from '../../query/find-field.ts'

/** An entity set: a served dataset with its OData model. */
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
  /** By the id of the dataset, and by its identifier for clients that cannot write the id. */
  readonly byName: ReadonlyMap<string, ServedSet>
  /** Identifies the state of all of them. */
  readonly version: string
}

/**
 * The same sets under names that are identifiers of 2.0, which begin with a letter (CSDL 2.0, SimpleIdentifier): sets are
 * named by the identifiers of their datasets.
 */
export const identifiedSets = oncePerObject((sets: ServedSets): ServedSets => {
  const ids = namesWithLetter(sets.all.map(({ model }) => model.name))
  const renamed = (set: ServedSet): ServedSet => {
    const names = namesWithLetter(set.model.properties.map(({ name }) => name))
    return { ...set, model: renamedModel(set.model, ids.get(set.model.name) ?? set.model.name, names) }
  }
  const all = sets.all.map(renamed)
  const byName = new Map([
    ...[...sets.byName].map(([name, set]) => [name, renamed(set)] as const),
    ...all.map(set => [set.model.set, set] as const),
  ])
  return { ...sets, all, byName }
})

/** The same sets, with one of them replaced by an older version of its dataset. */
export function setsWithVersion(sets: ServedSets, entry: ServedDataset, host: string): ServedSets {
  const { id } = entry.dataset
  const name = sets.byName.get(id)?.model.name
  if (name === undefined) return sets
  const older = setOf(entry, host, name)
  const byName = new Map([...sets.byName, [name, older], [id, older]])
  return {
    all: sets.all.map(set => (set.entry.dataset.id === id ? older : set)),
    byName,
    version: `${sets.version},${entry.version}`,
  }
}

function setOf(entry: ServedDataset, host: string, name: string): ServedSet {
  const updated = new Date(entry.published).toISOString().replace(/\.?0*Z$/, 'Z')
  return { entry, model: entityModel(entry.dataset, host, name, TECHNICAL), updated }
}

const known = new WeakMap<DatasetList, ServedSets>()

/**
 * The entity sets that are visible to a caller: one for each dataset.
 *
 * @param host host name of the portal
 */
export function visibleSets(visible: VisibleDatasets, host: string): ServedSets {
  return memoised(known, visible.current(), () => setsOf(visible, host))
}

function setsOf(visible: VisibleDatasets, host: string): ServedSets {
  const { entries } = visible.current()
  const ids = entries.map(({ dataset }) => dataset.id)
  const names = typeNames(ids, id => isHidden(visible, id))
  const all = entries.map(entry => {
    const { id } = entry.dataset
    return setOf(entry, host, names.get(id) ?? id)
  })
  const byName = new Map([
    ...all.map(set => [set.model.name, set] as const),
    ...all.map(set => [set.model.set, set] as const),
  ])
  const version = entries.map(entry => `${entry.dataset.id} ${entry.version}`).join(',')
  return { all, byName, version }
}

/** True for the id of a dataset that the caller does not see: no other set gets its name. */
function isHidden(visible: VisibleDatasets, id: string): boolean {
  try {
    visible.dataset(id)
    return false
  } catch (error) {
    return !isFault(error, NOT_FOUND_RESOURCE)
  }
}
