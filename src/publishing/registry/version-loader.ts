import { existsSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { Fault, faultText } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { parseTriples } from '../../rdf/ntriples-reader.ts'
import { inGraph, select, triple, variable } from '../../sparql/build.ts'
import { buildColumnsInThread } from '../../store/columns/build/build-thread.ts'
import { columnsProblem } from '../../store/columns/sections.ts'
import { LOAD_REFUSED } from '../../store/faults.ts'
import { countOf, type FileSource, type SharedStore } from '../../store/remote/remote.ts'
import type { LoadProgress } from '../../store/store.ts'
import { graphSources } from '../versions/graph-sources.ts'
import { removedIds, type VersionManifest, type Versions } from '../versions/versions.ts'
import type { Releases, StoredVersion } from './releases.ts'

/** Milliseconds after which a failed fetch of columns is retried. */
const PAUSE = 5000

export interface FetchedColumnsOptions {
  readonly store: SharedStore
  readonly releases: Releases
  /** The versions that this instance has published. */
  readonly versions: Versions
  /** Folder of the columns of versions that other instances have published. */
  readonly folder: string
  /** Milliseconds since 1970; the clocks of all instances are assumed to agree within some seconds. */
  readonly now: () => number
  readonly onEvent: (event: { readonly event: string; readonly reason: string }) => void
}

/** The columns of versions of a shared store: local files, or files that were fetched from the engine. */
export class FetchedColumns {
  private readonly store: SharedStore
  private readonly releases: Releases
  private readonly versions: Versions
  private readonly folder: string
  private readonly now: () => number
  private readonly onEvent: FetchedColumnsOptions['onEvent']
  /** Versions whose columns are being fetched. */
  private readonly coming = new Map<string, Promise<void>>()
  /** When a failed fetch is retried. */
  private readonly tryAgain = new Map<string, number>()
  /** The graphs whose columns the engine has, fetched once: a publisher needs them once. */
  private withColumns: Promise<ReadonlySet<string>> | null = null

  constructor({ store, releases, versions, folder, now, onEvent }: FetchedColumnsOptions) {
    this.store = store
    this.releases = releases
    this.versions = versions
    this.folder = folder
    this.now = now
    this.onEvent = onEvent
  }

  sources(manifest: VersionManifest): readonly FileSource[] {
    return graphSources(this.versions, manifest).map(source =>
      columnsProblem(source.columns) === null ? source : { ...source, columns: this.fileOf(source.graph) },
    )
  }

  private fileOf(graph: string): string {
    return path.join(this.folder, `${encodeURIComponent(graph)}.columns`)
  }

  /** True if this instance has the columns of a version; otherwise starts fetching them. */
  isHere(manifest: VersionManifest): boolean {
    const { id } = manifest.dataset
    const missing = this.sources(manifest).filter(({ columns }) => columnsProblem(columns) !== null)
    if (missing.length === 0) return true
    // A failed fetch is retried after a while.
    if (!this.coming.has(id) && (this.tryAgain.get(id) ?? 0) <= this.now())
      this.coming.set(
        id,
        this.fetch(manifest, missing).then(
          () => {
            this.coming.delete(id)
            this.tryAgain.delete(id)
          },
          (error: unknown) => {
            this.coming.delete(id)
            this.tryAgain.set(id, this.now() + PAUSE)
            this.onEvent({ event: 'columns not fetched', reason: `${id}: ${errorText(error)}` })
          },
        ),
      )
    return false
  }

  /** Fetches columns, one graph after another: each may be large. */
  private async fetch({ dataset, version }: VersionManifest, missing: readonly FileSource[]): Promise<void> {
    const { versions } = await this.releases.state()
    const mine = versions.find(each => each.dataset === dataset.id && each.version === version)
    for (const { graph, columns, path, isSearched } of missing)
      if (path === null)
        await this.store.fetch({ graph, columns, isSearched, stored: mine?.loaded.get(graph) ?? null })
      else await buildColumnsInThread({ triples: path, columns, isSearched })
  }

  /** Uploads the columns of a version with local files to the engine if it has lost them. */
  async restore(versions: Versions, manifest: VersionManifest): Promise<void> {
    this.withColumns ??= this.store.withColumns()
    const there = await this.withColumns
    for (const source of graphSources(versions, manifest))
      if (source.path !== null && !there.has(source.graph)) await this.store.sendColumns(source)
  }

  /** Drops the columns of graphs that are no longer needed. */
  tidy(needed: ReadonlySet<string>): void {
    if (!existsSync(this.folder)) return
    const files = new Set([...needed].map(graph => path.basename(this.fileOf(graph))))
    for (const file of readdirSync(this.folder))
      if (file.endsWith('.columns') && !files.has(file)) rmSync(path.join(this.folder, file), { force: true })
  }
}

function errorText(error: unknown): string {
  return error instanceof Fault ? faultText(error) : String(error)
}

/** Duration of a lease for loading a version in milliseconds, and interval of its renewal. */
const LEASE = 30_000
const RENEWAL = 10_000
/** Maximum ids of removed records that other instances receive. */
const REMOVED_REPORTED = 20_000
/** Pieces of a load between two progress records. */
const NOTED = 4

/** Timeout in milliseconds for counting a loaded graph. */
const COUNTING = 1_800_000
/** Maximum triples of a graph that are all counted. */
const COUNTED = 2_000_000

/** The document of a version in the store: all that an instance without its files needs. */
export interface VersionDocument {
  readonly manifest: VersionManifest
  readonly removed: readonly string[]
}

/** A version to be loaded, and what of it and of others is already in the store. */
interface VersionLoad {
  readonly versions: Versions
  readonly manifest: VersionManifest
  readonly mine: StoredVersion | undefined
  readonly stored: readonly StoredVersion[]
  readonly onProgress: (progress: LoadProgress) => void
}

/** Loads versions into a shared store, under leases, and verifies that the engine has the triples. */
export class VersionLoader {
  private readonly store: SharedStore
  private readonly releases: Releases
  private readonly now: () => number

  constructor(store: SharedStore, releases: Releases, now: () => number) {
    this.store = store
    this.releases = releases
    this.now = now
  }

  /** Loads a version under a lease that is renewed meanwhile. */
  async load(load: VersionLoad): Promise<void> {
    const { manifest, mine } = load
    const { version } = manifest
    const { id } = manifest.dataset
    const leases = (mine?.triples ?? []).filter(({ predicate }) =>
      /#(?:lease|replaced)$/.test(predicate.value),
    )
    let lease = await this.releases.lease(id, version, this.now() + LEASE, leases)
    let renewing = Promise.resolve()
    const renewal = setInterval(() => {
      renewing = ignoreRejection(
        renewing.then(async () => {
          lease = await this.releases.lease(id, version, this.now() + LEASE, [lease])
        }),
        'the next renewal tries again, and who finds the lease ended goes on',
      )
    }, RENEWAL)
    try {
      await this.fill(load)
    } finally {
      clearInterval(renewal)
      await renewing
    }
  }

  /** Loads the missing graphs of a version, and stores its document. */
  private async fill({ versions, manifest, mine, stored, onProgress }: VersionLoad): Promise<void> {
    const { version } = manifest
    const { id } = manifest.dataset
    const sources = graphSources(versions, manifest)
    const known: Map<string, number> = new Map(
      stored.flatMap(({ dataset, loaded }) => (dataset === id ? [...loaded] : [])),
    )
    const graphs = sources.map(({ graph }) => graph)
    await this.releases.insert(this.releases.graphsOf(id, version, graphs))
    const total = sources.reduce((sum, { triples }) => sum + triples, 0)
    let before = 0
    for (const source of sources) {
      const { graph, triples } = source
      const found = known.get(graph)
      if (found === undefined) {
        const done = before
        const uploaded = await this.store.upload(source, {
          done: mine?.progress.get(graph) ?? 0,
          onPiece: async ({ pieces, lines }) => {
            onProgress({ triples: done + lines, total })
            if (pieces % NOTED === 0)
              await this.releases.insert([this.releases.progress(id, version, graph, pieces)])
          },
        })
        const count = await this.checked(source, uploaded.samples, isRepeating(manifest, graph))
        known.set(graph, count)
        await this.releases.insert([this.releases.loaded(id, version, graph, count)])
      } else await this.releases.insert([this.releases.loaded(id, version, graph, found)])
      before += triples
      onProgress({ triples: before, total })
    }
    const document: VersionDocument = {
      manifest,
      removed: [...removedIds(versions, id)].slice(-REMOVED_REPORTED),
    }
    await this.releases.keepDocument(id, version, JSON.stringify(document))
  }

  /** Verifies that the engine has the loaded triples, and returns their number. Faults: LoadRefused. */
  private async checked(
    { graph, triples }: { readonly graph: string; readonly triples: number },
    samples: readonly string[],
    isRepeated: boolean,
  ): Promise<number> {
    const refuse = (what: string) => {
      throw new Fault(LOAD_REFUSED, { reason: `the engine lacks ${what} of ${graph}` })
    }
    if (triples > COUNTED && !isRepeated) {
      // Counting takes some engines minutes; the end of each piece shows whether it was loaded.
      const object = variable('object')
      for (const { subject, predicate } of parseTriples(samples.join(''))) {
        const where = inGraph(graph, triple(subject, predicate, object))
        if ((await this.store.read(select([object], where, { limit: 1 }))).length === 0) refuse('a piece')
      }
      return triples
    }
    const [row] = await this.store.read(countOf(graph), COUNTING)
    const count = Number(row?.count?.value ?? 0)
    if (count > triples || (count < triples && !isRepeated))
      refuse(`${triples - count} of ${triples} triples`)
    return count
  }
}

/** Files of facts may repeat triples of multivalued fields; all other files have each triple once. */
function isRepeating({ dataset, content }: VersionManifest, graph: string): boolean {
  return (
    content === 'records' && graph.endsWith(':facts') && dataset.fields.some(({ multivalued }) => multivalued)
  )
}
