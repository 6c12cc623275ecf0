import { statSync } from 'node:fs'
import path from 'node:path'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import type { Registry } from '../publishing/registry/registry.ts'
import { hasAllBytes, refuseUnreadable } from '../publishing/versions/damage.ts'
import { unknownVersion } from '../publishing/versions/roll-back.ts'
import { retainedVersions, type VersionManifest, type Versions } from '../publishing/versions/versions.ts'
import type { Store } from '../store/store.ts'
import { graphsOf, type ServedDataset, servedDataset } from './served.ts'

/** Maximum number of unused versions that stay open. */
const MAX_IDLE = 16

/** Milliseconds for which a list is valid while the folder is unchanged: files in its subfolders may be removed meanwhile. */
const LIST_LIFE = 1000

/** A retained version in use: it stays open until it is released. */
export interface OpenVersion {
  readonly entry: ServedDataset
  readonly release: () => void
}

interface Opened {
  readonly entry: ServedDataset
  readonly loading: Promise<void>
  readers: number
}

export interface RetainedVersionsOptions {
  /** Two versions may share graphs: the store loads each once. */
  readonly store: Store
  readonly versions: Versions
  readonly registry: Registry
  readonly base: string
}

/** The versions of datasets that are retained on disk in addition to those in force; their columns are opened on demand. */
export class RetainedVersions {
  private readonly options: RetainedVersionsOptions
  private readonly open = new Map<string, Opened>()
  private readonly lists = new Map<
    string,
    { mark: number; read: number; manifests: readonly VersionManifest[] }
  >()

  constructor(options: RetainedVersionsOptions) {
    this.options = options
  }

  /** The queryable versions of a dataset, the one in force first, then from the latest to the oldest. */
  list(id: string): readonly VersionManifest[] {
    const { versions, base } = this.options
    const mark = statSync(path.join(versions.root, id), { throwIfNoEntry: false })?.mtimeMs ?? 0
    const known = this.lists.get(id)
    const now = performance.now()
    if (known !== undefined && known.mark === mark && now - known.read < LIST_LIFE) return known.manifests
    const manifests = retainedVersions(versions, id).filter(
      each => each.base === base && hasAllBytes(versions, each),
    )
    if (manifests.length === 0) this.lists.delete(id)
    else this.lists.set(id, { mark, read: now, manifests })
    return manifests
  }

  /**
   * Opens one of the versions of a dataset, or of those that a principal sees. Faults: VersionUnknown, which names them; Gone if its
   * files are damaged.
   */
  async opened(id: string, version: string, manifests = this.list(id)): Promise<OpenVersion> {
    const key = `${id} ${version}`
    const manifest = manifests.find(each => each.version === version)
    if (manifest === undefined) throw unknownVersion(id, version, manifests)
    const found = this.open.get(key) ?? this.load(manifest)
    this.open.delete(key)
    this.open.set(key, found)
    found.readers += 1
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      found.readers -= 1
      this.closeIdle()
    }
    try {
      await found.loading
    } catch (error) {
      release()
      throw error
    }
    return { entry: found.entry, release }
  }

  /** An open version; undefined if it is not open. */
  find(id: string, version: string): ServedDataset | undefined {
    return this.open.get(`${id} ${version}`)?.entry
  }

  private load(manifest: VersionManifest): Opened {
    const { store, versions, registry } = this.options
    const key = `${manifest.dataset.id} ${manifest.version}`
    const loading = store.load(registry.sources(manifest)).catch(async error => {
      await refuseUnreadable(versions, manifest)
      throw error
    })
    const opened: Opened = { entry: servedDataset(versions, manifest, registry), loading, readers: 0 }
    loading.catch(() => {
      if (this.open.get(key) === opened) this.open.delete(key)
    })
    this.open.set(key, opened)
    return opened
  }

  private closeIdle(): void {
    let idle = [...this.open.values()].filter(({ readers }) => readers === 0).length
    for (const [key, { readers, entry }] of this.open) {
      if (idle <= MAX_IDLE) return
      if (readers > 0) continue
      this.open.delete(key)
      idle -= 1
      void ignoreRejection(
        this.options.store.drop(graphsOf(entry)),
        'a shared store is swept, one of this process is gone',
      )
    }
  }
}
