import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../errors/errors.ts'
import { STORE_UNAVAILABLE } from '../../store/faults.ts'
import type { FileSource, SharedStore } from '../../store/remote/remote.ts'
import type { LoadProgress } from '../../store/store.ts'
import { VERSION_FORMAT, type VersionManifest, type Versions } from '../versions/versions.ts'
import type { Registry } from './registry.ts'
import { type Release, Releases, type StoredVersion } from './releases.ts'
import type { FetchedColumnsOptions } from './version-loader.ts'
import { FetchedColumns, type VersionDocument, VersionLoader } from './version-loader.ts'

/** Milliseconds after which a replaced version is no longer queried, and those after which its graphs are dropped. */
const RETIRED = 60_000
const DROPPED = 90_000
/** Milliseconds for which the state of versions that was read from the store is valid. */
const STALE = 5000
export interface SharedRegistryOptions extends Omit<FetchedColumnsOptions, 'releases' | 'onEvent'> {
  readonly base: string
  readonly onEvent?: FetchedColumnsOptions['onEvent']
}

/**
 * The versions in force in a shared store. Each instance may publish: a version is loaded under names of its own, which no query
 * uses yet, and put in force by one triple. A server that dies while loading leaves a lease that expires; the next one resumes
 * loading where it stopped, or the graphs are dropped.
 */
export class SharedRegistry implements Registry {
  private readonly store: SharedStore
  private readonly releases: Releases
  private readonly now: () => number
  private readonly columns: FetchedColumns
  private readonly loader: VersionLoader
  /** Datasets whose version in force this program cannot read. */
  private readonly unreadable = new Set<string>()
  private read = 0
  private reading: Promise<ReadonlyMap<string, Release>> | null = null
  private known: ReadonlyMap<string, Release> = new Map()
  private hadReleases = false
  private readonly removedByDataset = new Map<string, ReadonlySet<string>>()
  /** When the graphs of versions that this instance served were replaced, by its own observation. */
  private readonly retired = new Map<string, number>()
  private readonly served = new Map<
    string,
    { readonly version: string; readonly graphs: readonly string[] }
  >()

  constructor({ store, base, versions, folder, now, onEvent = () => undefined }: SharedRegistryOptions) {
    const releases = new Releases(store, base)
    this.store = store
    this.releases = releases
    this.now = now
    this.columns = new FetchedColumns({ store, releases, versions, folder, now, onEvent })
    this.loader = new VersionLoader(store, releases, now)
    store.preflight(graphs => this.check(graphs))
  }

  async current(): Promise<ReadonlyMap<string, string>> {
    const current = new Map<string, string>()
    for (const { dataset, version } of (await this.poll()).values())
      if (version !== null) current.set(dataset, version)
    return current
  }

  async manifest(dataset: string, version: string): Promise<VersionManifest | null> {
    const found = await this.document(dataset, version)
    if (found === null || !this.columns.isHere(found.manifest)) return null
    const { manifest, removed } = found
    this.removedByDataset.set(dataset, new Set(removed))
    const graphs = this.sources(manifest).map(({ graph }) => graph)
    this.serves(dataset, version, graphs)
    return manifest
  }

  /** The document of a version; null if there is none, or one of another format. */
  private async document(dataset: string, version: string): Promise<VersionDocument | null> {
    const text = await this.releases.document(dataset, version)
    const found = text === null ? null : (JSON.parse(text) as VersionDocument)
    if (found?.manifest.format === VERSION_FORMAT) {
      this.unreadable.delete(dataset)
      return found
    }
    this.unreadable.add(dataset)
    return null
  }

  sources(manifest: VersionManifest): readonly FileSource[] {
    return this.columns.sources(manifest)
  }

  /** Uploads the columns of a version with local files to the engine if it has lost them. */
  restore(versions: Versions, manifest: VersionManifest): Promise<void> {
    return this.columns.restore(versions, manifest)
  }

  isComing(dataset: string): boolean {
    return (this.known.get(dataset)?.version ?? null) !== null && !this.unreadable.has(dataset)
  }

  damage(): Promise<null> {
    return Promise.resolve(null)
  }

  withdrawn(dataset: string): 'open' | 'secret' | null {
    const withdrawn = this.known.get(dataset)?.withdrawn ?? null
    return withdrawn === 'forgotten' ? null : withdrawn
  }

  removed(dataset: string): ReadonlySet<string> | null {
    return this.removedByDataset.get(dataset) ?? null
  }

  /** The manifest in force, read again; null for none. */
  async inForce(dataset: string): Promise<VersionManifest | null> {
    const version = (await this.poll()).get(dataset)?.version ?? null
    return version === null ? null : ((await this.document(dataset, version))?.manifest ?? null)
  }

  async isWithdrawn(dataset: string): Promise<boolean> {
    const release = (await this.poll()).get(dataset)
    return release?.withdrawn === 'open' || release?.withdrawn === 'secret'
  }

  /**
   * Loads a version with local files and puts it in force. If the one in force was built from the same input, nothing is done; if
   * another server is loading the same, it waits for that. Faults: LoadRefused, StoreUnavailable; the next attempt then resumes
   * loading.
   */
  async release(
    versions: Versions,
    manifest: VersionManifest,
    onProgress: (progress: LoadProgress) => void = () => undefined,
  ): Promise<'released' | 'unchanged'> {
    const { id } = manifest.dataset
    for (;;) {
      const { releases, versions: stored } = await this.releases.state()
      const inForce = releases.get(id)
      if (inForce?.version != null && sameContent(inForce.version, manifest.version)) return 'unchanged'
      const other = stored.find(
        each =>
          each.dataset === id &&
          each.version !== manifest.version &&
          sameContent(each.version, manifest.version) &&
          each.lease > this.now(),
      )
      if (other === undefined) {
        const mine = stored.find(each => each.dataset === id && each.version === manifest.version)
        await this.loader.load({ versions, manifest, mine, stored, onProgress })
        await this.noteRelease(id, manifest.version)
        return 'released'
      }
      await sleep(1000)
    }
  }

  /** Withdraws a dataset. */
  async withdraw(dataset: string, withdrawn: NonNullable<Release['withdrawn']>): Promise<boolean> {
    const before = (await this.releases.current()).get(dataset)
    if (before === undefined || before.version === null) return false
    await this.releases.release({ dataset, number: before.number + 1, version: null, withdrawn })
    await this.markReplaced(dataset, before.version)
    return true
  }

  /**
   * Drops data that are no longer needed: versions that were replaced a while ago, and those whose loading was abandoned. Every
   * instance does it; repeating it is harmless.
   */
  async sweep(): Promise<readonly string[]> {
    const { releases, versions, outdated } = await this.releases.state()
    const now = this.now()
    const isInForce = ({ dataset, version }: StoredVersion) => releases.get(dataset)?.version === version
    const isOver = (each: StoredVersion) =>
      !isInForce(each) && each.lease < now && each.replaced !== null && each.replaced + DROPPED < now
    for (const each of versions)
      if (!isInForce(each) && each.lease < now && each.replaced === null)
        await this.releases.insert([this.releases.replaced(each.dataset, each.version, now)])
    const over = versions.filter(isOver)
    const needed = new Set(versions.filter(each => !isOver(each)).flatMap(({ graphs }) => graphs))
    for (const each of over) {
      await this.store.dropShared(each.graphs.filter(graph => !needed.has(graph)))
      await this.releases.forget(each)
    }
    await this.releases.remove(outdated)
    this.columns.tidy(needed)
    return over.map(({ dataset, version }) => `${dataset} ${version}`)
  }

  /** True if the store no longer has any data of this portal: it was emptied, or is another one. */
  isLost(): boolean {
    return this.hadReleases && this.known.size === 0
  }

  /** The number of versions that are in force, are being loaded, or are replaced but not dropped yet. */
  async counts(): Promise<{ readonly inForce: number; readonly loading: number; readonly over: number }> {
    const { releases, versions } = await this.releases.state()
    const others = versions.filter(each => releases.get(each.dataset)?.version !== each.version)
    const loading = others.filter(({ lease }) => lease > this.now()).length
    const inForce = [...releases.values()].filter(({ version }) => version !== null).length
    return { inForce, loading, over: others.length - loading }
  }

  /** The state in the store; concurrent callers share one request. */
  private poll(): Promise<ReadonlyMap<string, Release>> {
    this.reading ??= this.releases
      .current()
      .then(releases => {
        this.read = this.now()
        for (const [dataset, { version, graphs }] of this.served)
          if (releases.get(dataset)?.version !== version) {
            for (const graph of graphs) if (!this.retired.has(graph)) this.retired.set(graph, this.read)
            this.served.delete(dataset)
          }
        this.known = releases
        if (releases.size > 0) this.hadReleases = true
        return releases
      })
      .finally(() => {
        this.reading = null
      })
    return this.reading
  }

  /** Rejects queries of graphs that may be dropped: an instance whose state is stale reads it again first. */
  private check(graphs: ReadonlySet<string>): Promise<void> | void {
    if (graphs.has(this.releases.graph)) return
    const refuse = () => {
      const now = this.now()
      for (const graph of graphs)
        if (now > (this.retired.get(graph) ?? Number.POSITIVE_INFINITY) + RETIRED - 2 * STALE)
          throw new Fault(STORE_UNAVAILABLE, {
            reason: 'another version has taken the place of this one. Try again in a moment.',
          })
    }
    if (this.now() - this.read < STALE) return refuse()
    return this.poll().then(refuse)
  }

  private serves(dataset: string, version: string, graphs: readonly string[]): void {
    this.served.set(dataset, { version, graphs })
    for (const graph of graphs) this.retired.delete(graph)
    for (const [graph, since] of this.retired)
      if (since + 10 * DROPPED < this.now()) this.retired.delete(graph)
  }

  private async noteRelease(dataset: string, version: string): Promise<void> {
    const before = (await this.releases.current()).get(dataset)
    await this.releases.release({ dataset, number: (before?.number ?? 0) + 1, version, withdrawn: null })
    if (before?.version != null) await this.markReplaced(dataset, before.version)
    const { versions } = await this.releases.state()
    const mine = versions.find(each => each.dataset === dataset && each.version === version)
    // Loading is complete: lease and progress are obsolete.
    const over = (mine?.triples ?? []).filter(({ predicate }) => /#(?:lease|progress)$/.test(predicate.value))
    await this.releases.remove(over)
  }

  private markReplaced(dataset: string, version: string): Promise<void> {
    return this.releases.insert([this.releases.replaced(dataset, version, this.now())])
  }
}

/** Two version names have the same content if they end in the same digest. */
function sameContent(a: string, b: string): boolean {
  return a.slice(a.indexOf('-')) === b.slice(b.indexOf('-'))
}
