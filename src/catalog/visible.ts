import { Fault } from '../errors/errors.ts'
import type { Metas } from '../model/metadata.ts'
import type { Principal } from '../model/principal.ts'
import type { Store } from '../store/store.ts'
import type { UsageStatistics } from './catalog-dataset.ts'
import { CATALOG_INCOMPLETE } from './faults.ts'
import { catalogGraphs, type DatasetList, LatestGraphs, type ServedCatalog } from './in-memory-dataset.ts'
import { RecomputedValue } from './recomputed-value.ts'
import type { ServedDataset } from './served.ts'

export type { DatasetList, ServedCatalog } from './in-memory-dataset.ts'

/** A source of datasets: the catalog, the monitoring or the network (REST 7.1). */
export interface DatasetSource {
  /** The datasets that a principal may read (accounts/authorisation.ts), for every endpoint. */
  visibleTo(principal: Principal): VisibleDatasets
}

/** The datasets of a source that a principal may see; the others are not disclosed. */
export interface VisibleDatasets {
  /** The datasets in force: the same object as long as they are the same. */
  current(): DatasetList
  /** The list as a dataset with loaded graphs. */
  asDataset(): Promise<ServedCatalog>
  /**
   * One of them. Faults: NotFoundResource, NotPublishedYet, Unauthorised, ForbiddenAccess, VersionUnknown.
   *
   * @param version the requested one, which is open; null for the one in force
   */
  dataset(id: string, version?: string | null): ServedDataset
  /** The list as a dataset with usage statistics as fields; absent for a source without them. */
  counted?(statistics: UsageStatistics): Promise<ServedCatalog>
  /** Progress of the start of the portal; null once all datasets are served. A source without it is complete. */
  startProgress?(): StartProgress | null
}

/** The number of datasets that are served during the start of a portal, and of those that will be. */
export interface StartProgress {
  readonly served: number
  readonly expected: number
}

/** Throws if the result would be wrong without datasets that are not served yet. Faults: CatalogIncomplete. */
export function requireComplete(datasets: Pick<VisibleDatasets, 'startProgress'>): void {
  const progress = datasets.startProgress?.() ?? null
  if (progress !== null) throw new Fault(CATALOG_INCOMPLETE, { ...progress })
}

/** The datasets that a principal may see, once all of them are served. Faults: CatalogIncomplete. */
export function completeList(datasets: Pick<VisibleDatasets, 'current' | 'startProgress'>): DatasetList {
  requireComplete(datasets)
  return datasets.current()
}

export interface VisibleOptions {
  readonly base: string
  readonly store: Store
  /** Milliseconds for which unneeded graphs remain, for responses that are reading them. */
  readonly grace: number
  /** The id of the list as a queryable dataset. */
  readonly id: string
}

/**
 * A list of datasets with its catalog graphs. They are loaded on demand; since a list contains only what a principal may see, it
 * discloses no field, word, value or count of other datasets.
 */
export class VisibleList {
  private readonly options: VisibleOptions
  private readonly list: DatasetList
  private readonly graphs: LatestGraphs
  private readonly statisticsGraphs: LatestGraphs
  private readonly withStatistics = new RecomputedValue<ServedCatalog>()
  private loading: Promise<ServedCatalog> | null = null
  private countings = 0
  private isReleased = false

  /** @param ready the catalog of these datasets, if its graphs are loaded already */
  constructor(list: DatasetList, options: VisibleOptions, ready?: ServedCatalog) {
    this.list = list
    this.options = options
    this.graphs = new LatestGraphs(options.store, options.grace)
    this.statisticsGraphs = new LatestGraphs(options.store, options.grace)
    if (ready !== undefined) this.setLoaded(ready)
  }

  current(): DatasetList {
    return this.list
  }

  asDataset(): Promise<ServedCatalog> {
    this.loading ??= this.load().catch(error => {
      this.loading = null
      throw error
    })
    return this.loading
  }

  /**
   * The catalog with usage statistics as fields of the explore template. They change with every call, so its graphs are built on
   * demand, and reused for a while.
   */
  counted(statistics: UsageStatistics): Promise<ServedCatalog> {
    const statisticsNow = () =>
      new Map(this.list.entries.map(({ dataset: { id } }) => [id, statistics(id)] as const))
    return this.withStatistics.current({
      basis: () => this.list,
      state: () => JSON.stringify([...statisticsNow()]),
      make: () => this.count(statisticsNow()),
    })
  }

  /** Drops the graphs after the responses that may be reading them have ended. */
  release(): void {
    this.isReleased = true
    this.graphs.release()
    this.statisticsGraphs.release()
  }

  /** Cancels pending clean-ups; the store is not closed. */
  close(): void {
    this.graphs.close()
    this.statisticsGraphs.close()
  }

  private setLoaded(catalog: ServedCatalog): void {
    this.loading = Promise.resolve(catalog)
    this.graphs.setLoaded([catalog.target.graphs.facts])
  }

  private async load(): Promise<ServedCatalog> {
    const { version, entries } = this.list
    const { base, id } = this.options
    const { served, sources } = catalogGraphs(entries, base, version, id)
    await this.graphs.replace(sources)
    if (this.isReleased) this.graphs.release()
    return served
  }

  private async count(statistics: ReadonlyMap<string, Metas[string]>): Promise<ServedCatalog> {
    this.countings += 1
    const { base, id } = this.options
    const { version, entries } = this.list
    const graphs = catalogGraphs(entries, base, `${version}c${this.countings}`, id, statistics)
    await this.statisticsGraphs.replace(graphs.sources)
    if (this.isReleased) this.statisticsGraphs.release()
    return graphs.served
  }
}
