import { LRUCache } from 'lru-cache'
import { isGranted, mayRead, unauthorisedOrForbidden } from '../accounts/authorisation.ts'
import { Fault, GONE, isFault, NOT_FOUND_RESOURCE } from '../errors/errors.ts'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import type { Dataset } from '../model/dataset.ts'
import type { Principal } from '../model/principal.ts'
import { DATASET_ID } from '../publishing/definition.ts'
import { unknownVersion } from '../publishing/versions/roll-back.ts'
import { readManifest, type VersionManifest } from '../publishing/versions/versions.ts'
import { LOAD_REFUSED } from '../store/faults.ts'
import { withSharedGraphs } from '../store/load.ts'
import type { LoadProgress } from '../store/store.ts'
import { CATALOG_ID } from './catalog-dataset.ts'
import { DATASET_DAMAGED, NOT_PUBLISHED_YET } from './faults.ts'
import { catalogGraphs, LateDrops } from './in-memory-dataset.ts'
import { RetainedVersions, type RetainedVersionsOptions } from './retained-versions.ts'
import { graphsOf, type ServedDataset, servedDataset } from './served.ts'
import {
  type DatasetSource,
  type StartProgress,
  type VisibleDatasets,
  VisibleList,
  type VisibleOptions,
} from './visible.ts'

export interface CatalogOptions extends RetainedVersionsOptions {
  /** Milliseconds for which the graphs of a replaced version remain, for responses that are still reading them. */
  readonly grace: number
  readonly onProgress?: (progress: LoadProgress) => void
  /** Notified of each version that is left out because its files are damaged. */
  readonly onDamage?: (left: {
    readonly dataset: string
    readonly version: string
    readonly reason: string
  }) => void
}

/** Maximum number of cached catalogs, one per selection of datasets. */
const MAX_LISTS = 64

/**
 * The datasets that are served. A new version is loaded alongside the old one; a single assignment then replaces it, together
 * with the catalog graph, so that every request sees either the old state or the new one.
 */
export class Catalog implements DatasetSource {
  private readonly options: CatalogOptions
  private served: Served
  private generation = 0
  private refreshing: Promise<boolean> | null = null
  private readonly drops: LateDrops
  /** Versions in force with damaged files: they are left out until another one is in force. */
  private readonly leftOut = new Map<string, VersionManifest>()
  private readonly toRepair = new Set<string>()
  /** The datasets that will be served, with the visibility of each; null for those that lists do not wait for. */
  private expected: ReadonlyMap<string, () => Dataset['visibility'] | null> = new Map()

  readonly retained: RetainedVersions

  constructor(options: CatalogOptions) {
    const store = withSharedGraphs(options.store)
    this.options = { ...options, store }
    this.drops = new LateDrops(store, options.grace)
    this.retained = new RetainedVersions({ ...options, store })
    this.served = servedOf([], 'empty', this.visibleOptions())
  }

  /**
   * Names datasets that will be served once they are published, so that early requests of one get a specific fault, and lists are
   * known to be incomplete.
   *
   * @param visibilityOf called for each of them at most once, if a list is requested early; null if lists do not wait for it
   */
  expect(
    ids: readonly string[],
    visibilityOf: (id: string) => Dataset['visibility'] | null = () => 'public',
  ): void {
    this.expected = new Map(ids.map(id => [id, memoised(() => visibilityOf(id))]))
  }

  /** All datasets in force, whatever their visibility: the same array as long as they are the same. */
  entries(): readonly ServedDataset[] {
    return this.served.entries
  }

  /** The datasets that a principal may see: public ones, and restricted ones with a grant. */
  visibleTo(principal: Principal): VisibleDatasets {
    const { served } = this
    const list = this.listFor(served, principal)
    return {
      current: () => list.current(),
      asDataset: () => list.asDataset(),
      counted: statistics => list.counted(statistics),
      startProgress: () => this.startProgress(served, principal),
      dataset: (id, version = null) => {
        this.refuseLeftOut(served, principal, id)
        const found = this.find(served, id)
        if (!mayRead(principal, found.dataset))
          throw unauthorisedOrForbidden(principal, `The dataset ${id} is not public`)
        if (version === null || version === found.version) return found
        const older = this.retained.find(id, version)
        // A version that was restricted when it was published does not become public later.
        if (older !== undefined && mayRead(principal, older.dataset)) return older
        throw unknownVersion(id, version, this.versionsOf(id, principal))
      },
    }
  }

  /** A dataset, whatever its visibility. Faults: NotFoundResource, NotPublishedYet. */
  dataset(id: string): ServedDataset {
    return this.find(this.served, id)
  }

  /**
   * A dataset as addressed by its linked data IRIs: one that was withdrawn is gone and not unknown. Faults: Gone, and those of
   * {@link VisibleDatasets.dataset}.
   */
  addressed(id: string, principal: Principal, version: string | null = null): ServedDataset {
    if (this.isGone(id)) throw new Fault(GONE, { reason: `The dataset ${id} was withdrawn.`, id })
    return this.visibleTo(principal).dataset(id, version)
  }

  /**
   * The versions of a dataset that the principal may query, from the latest to the oldest: those that were restricted when they were
   * published are included only for principals with a grant. Faults: those of {@link addressed}.
   */
  versionsOf(id: string, principal: Principal): readonly VersionManifest[] {
    this.addressed(id, principal)
    return this.retained.list(id).filter(({ dataset }) => mayRead(principal, dataset))
  }

  /** True for a withdrawn dataset: its addresses existed once. */
  isGone(id: string): boolean {
    if (!DATASET_ID.test(id) || this.served.byId.has(id)) return false
    return this.options.registry.withdrawn(id) === 'open'
  }

  /**
   * Serves what is published now: loads new versions and removes withdrawn datasets. True if something changed. Concurrent calls
   * share one refresh.
   */
  refresh(): Promise<boolean> {
    this.refreshing ??= this.load().finally(() => {
      this.refreshing = null
    })
    return this.refreshing
  }

  /**
   * Stops serving a dataset whose graph cannot be loaded again: others are still served. A version that was withdrawn or replaced
   * has lost nothing, since its files are removed with it.
   *
   * @param reason what is wrong with its file
   * @returns false if no served version has the graph
   */
  async loseGraph(graph: string, reason: string): Promise<boolean> {
    // A refresh in progress may have begun before the files were removed, and would serve the dataset again.
    for (let turn = 0; turn < 2 || this.refreshing !== null; turn++)
      await ignoreRejection(this.refresh(), 'the graph is lost all the same')
    const lost = this.served.entries.find(entry => graphsOf(entry).includes(graph))
    if (lost === undefined) return false
    const replaced = this.served
    const entries = replaced.entries.filter(entry => entry !== lost)
    this.generation += 1
    this.served = servedOf(entries, `g${this.generation}`, this.visibleOptions())
    this.drops.drop(graphsOf(lost))
    for (const list of listsOf(replaced)) list.release()
    const { dataset, version } = lost
    const manifest = readManifest(this.options.versions, dataset.id, version)
    if (manifest !== null) this.leaveOut(manifest, reason)
    return true
  }

  /** Returns the datasets that were left out since the previous call, so that they are published again. */
  takeDamaged(): readonly string[] {
    const ids = [...this.toRepair]
    this.toRepair.clear()
    return ids
  }

  /** Cancels pending clean-ups; the store is not closed. */
  close(): void {
    this.drops.close()
    for (const list of listsOf(this.served)) list.close()
  }

  private find({ byId }: Served, id: string): ServedDataset {
    const found = byId.get(id)
    if (found !== undefined) return found
    if (this.expected.has(id) || this.options.registry.isComing(id))
      throw new Fault(NOT_PUBLISHED_YET, { id })
    throw new Fault(NOT_FOUND_RESOURCE, {
      kind: 'dataset',
      id: id.length > 100 ? `${id.slice(0, 100)}…` : id,
    })
  }

  /** Only datasets that the principal may see are counted, so that the number of others is not disclosed. */
  private startProgress({ byId }: Served, principal: Principal): StartProgress | null {
    if ([...this.expected.keys()].every(id => byId.has(id))) return null
    const expected = [...this.expected].filter(([id, visibilityOf]) => {
      const visibility = visibilityOf()
      return visibility !== null && mayRead(principal, { id, visibility })
    })
    const served = expected.filter(([id]) => byId.has(id)).length
    return served === expected.length ? null : { served, expected: expected.length }
  }

  /** The list of the datasets that a principal sees; principals that see the same datasets share one. */
  private listFor(served: Served, principal: Principal): VisibleList {
    if (principal.type === 'anonymous') return served.open
    const granted = served.restricted.filter(({ dataset }) => isGranted(principal, dataset.id))
    if (granted.length === 0) return served.open
    const key = granted.map(({ dataset }) => dataset.id).join(' ')
    const { lists } = served
    const known = lists.get(key)
    if (known !== undefined) return known
    served.count += 1
    const entries = served.entries.filter(({ dataset }) => mayRead(principal, dataset))
    const list = new VisibleList(
      { version: `${served.version}s${served.count}`, entries },
      this.visibleOptions(),
    )
    lists.set(key, list)
    return list
  }

  private async load(): Promise<boolean> {
    const { store, versions, registry, onProgress } = this.options
    const replaced = this.served
    const required = await registry.current()
    const fresh: VersionManifest[] = []
    const unchanged: ServedDataset[] = []
    for (const id of this.leftOut.keys()) if (!required.has(id)) this.leftOut.delete(id)
    for (const [id, version] of required) {
      const served = replaced.byId.get(id)
      if (this.leftOut.get(id)?.version === version) {
        if (served !== undefined) unchanged.push(served)
        continue
      }
      if (this.leftOut.delete(id)) this.toRepair.delete(id)
      if (served !== undefined && served.version === version) {
        unchanged.push(served)
        continue
      }
      const manifest = await registry.manifest(id, version)
      // If another version is in force by now, the next refresh finds it.
      if (manifest === null && served !== undefined) unchanged.push(served)
      if (manifest !== null && manifest.base !== this.options.base) {
        // Published for another address: the served version stays, because its IRIs are right.
        if (served !== undefined) unchanged.push(served)
      } else if (manifest !== null) fresh.push(manifest)
    }
    const gone = replaced.entries.filter(served => !unchanged.includes(served))
    if (fresh.length === 0 && gone.length === 0) return false
    const next = fresh.map(manifest => servedDataset(versions, manifest, registry))
    const loaded = new Set(replaced.entries.flatMap(graphsOf))
    const sources = fresh
      .flatMap(manifest => registry.sources(manifest))
      .filter(({ graph }) => !loaded.has(graph))
    const entries = [...unchanged, ...next].sort((a, b) => (a.dataset.id < b.dataset.id ? -1 : 1))
    this.generation += 1
    const version = `g${this.generation}`
    const open = catalogGraphs(entries.filter(isPublic), this.options.base, version)
    try {
      await store.load([...sources, ...open.sources], onProgress)
    } catch (error) {
      // The files of a version that was meanwhile replaced or withdrawn are not needed any more.
      const now = await registry.current()
      const isInForce = fresh.every(({ dataset, version }) => now.get(dataset.id) === version)
      if (isInForce && !(await this.leaveOutDamaged(fresh, error))) throw error
      return this.load()
    }
    this.served = servedOf(entries, version, this.visibleOptions(), open.served)
    const needed = new Set(entries.flatMap(graphsOf))
    this.drops.drop(gone.flatMap(graphsOf).filter(graph => !needed.has(graph)))
    for (const list of listsOf(replaced)) list.release()
    return true
  }

  /**
   * Leaves out those of the versions whose files are damaged, or else the one whose graph was refused; false if there is none, so
   * that retrying would not help.
   */
  private async leaveOutDamaged(fresh: readonly VersionManifest[], error: unknown): Promise<boolean> {
    if (!isFault(error, LOAD_REFUSED)) return false
    const { registry } = this.options
    const before = this.leftOut.size
    for (const manifest of fresh) {
      const isRefused = registry.sources(manifest).some(({ graph }) => graph === error.parts.graph)
      const reason = (await registry.damage(manifest)) ?? (isRefused ? error.message : null)
      if (reason !== null) this.leaveOut(manifest, reason)
    }
    return this.leftOut.size > before
  }

  private leaveOut(manifest: VersionManifest, reason: string): void {
    const { dataset, version } = manifest
    this.leftOut.set(dataset.id, manifest)
    this.toRepair.add(dataset.id)
    this.options.onDamage?.({ dataset: dataset.id, version, reason })
  }

  /** Faults: DatasetDamaged, if the principal may see the dataset; Unauthorised, ForbiddenAccess. */
  private refuseLeftOut({ byId }: Served, principal: Principal, id: string): void {
    const left = this.leftOut.get(id)
    if (left === undefined || byId.has(id) || this.expected.has(id)) return
    if (!mayRead(principal, left.dataset))
      throw unauthorisedOrForbidden(principal, `The dataset ${id} is not public`)
    throw new Fault(DATASET_DAMAGED, { id })
  }

  private visibleOptions(): VisibleOptions {
    const { base, store, grace } = this.options
    return { base, store, grace, id: CATALOG_ID }
  }
}

function memoised<T>(compute: () => T): () => T {
  let known: { readonly value: T } | null = null
  return () => {
    known ??= { value: compute() }
    return known.value
  }
}

interface Served {
  readonly version: string
  readonly entries: readonly ServedDataset[]
  readonly byId: ReadonlyMap<string, ServedDataset>
  readonly restricted: readonly ServedDataset[]
  readonly open: VisibleList
  /** Lists with restricted datasets, by the ids of these. */
  readonly lists: LRUCache<string, VisibleList>
  /** The number of these lists created so far. */
  count: number
}

function servedOf(
  entries: readonly ServedDataset[],
  version: string,
  options: VisibleOptions,
  ready?: ReturnType<typeof catalogGraphs>['served'],
): Served {
  const list = ready ?? { version, entries: entries.filter(isPublic) }
  return {
    version,
    entries,
    byId: new Map(entries.map(entry => [entry.dataset.id, entry])),
    restricted: entries.filter(entry => !isPublic(entry)),
    open: new VisibleList(list, options, ready),
    lists: new LRUCache({
      max: MAX_LISTS,
      dispose: (list, _, reason) => {
        if (reason === 'evict') list.release()
      },
    }),
    count: 0,
  }
}

function listsOf({ open, lists }: Served): readonly VisibleList[] {
  return [open, ...lists.values()]
}

function isPublic({ dataset }: ServedDataset): boolean {
  return dataset.visibility === 'public'
}
