import { existsSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { Fault, faultText } from '../../errors/errors.ts'
import { buildColumnsInThread } from '../../store/columns/build/build-thread.ts'
import { columnsProblem } from '../../store/columns/sections.ts'
import type { FileSource, SharedStore } from '../../store/remote/remote.ts'
import { graphSources } from '../versions/graph-sources.ts'
import type { Manifest, Versions } from '../versions/versions.ts'
import type { Releases } from './releases.ts'

/** Milliseconds after which a failed fetch of columns is retried. */
const PAUSE = 5000

export interface FetchedColumnsOptions {
  readonly store: SharedStore
  readonly releases: Releases
  /** The versions that this instance has published. */
  readonly versions: Versions
  /** Folder of the columns of versions that other instances have published. */
  readonly folder: string
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

  sources(manifest: Manifest): readonly FileSource[] {
    return graphSources(this.versions, manifest).map(source =>
      columnsProblem(source.columns) === null ? source : { ...source, columns: this.fileOf(source.graph) },
    )
  }

  private fileOf(graph: string): string {
    return path.join(this.folder, `${encodeURIComponent(graph)}.columns`)
  }

  /** True if this instance has the columns of a version; otherwise starts fetching them. */
  isHere(manifest: Manifest): boolean {
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
  private async fetch({ dataset, version }: Manifest, missing: readonly FileSource[]): Promise<void> {
    const { versions } = await this.releases.state()
    const mine = versions.find(each => each.dataset === dataset.id && each.version === version)
    for (const { graph, columns, path, isSearched } of missing)
      if (path === null)
        await this.store.fetch({ graph, columns, isSearched, stored: mine?.loaded.get(graph) ?? null })
      else await buildColumnsInThread({ triples: path, columns, isSearched })
  }

  /** Uploads the columns of a version with local files to the engine if it has lost them. */
  async restore(versions: Versions, manifest: Manifest): Promise<void> {
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
