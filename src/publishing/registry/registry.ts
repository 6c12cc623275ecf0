import { statSync } from 'node:fs'
import type { GraphSource } from '../../store/store.ts'
import { damageOf } from '../versions/damage.ts'
import { graphSources } from '../versions/graph-sources.ts'
import { restrictInForce } from '../versions/roll-back.ts'
import {
  currentFile,
  currentManifest,
  currentVersion,
  isSecretlyWithdrawn,
  isWithdrawn,
  storedDatasets,
  type VersionManifest,
  type Versions,
  withdraw,
} from '../versions/versions.ts'
import type { SharedRegistry } from './shared-registry.ts'

/** Which published versions are in force: according to local files, or to a graph of a shared store. */
export interface Registry {
  /** The version in force of each dataset. */
  current(): Promise<ReadonlyMap<string, string>>
  /** The manifest of a version; null if it is no longer in force, or this program cannot read it. */
  manifest(dataset: string, version: string): Promise<VersionManifest | null>
  /** The graphs to load before a version can be served; empty if the store has them already. */
  sources(manifest: VersionManifest): readonly GraphSource[]
  /** True for a dataset in force that is not loaded by this instance yet. */
  isComing(dataset: string): boolean
  /** What is wrong with the files of a version, of which changed ones are read; null for nothing, or if no files are needed. */
  damage(manifest: VersionManifest): Promise<string | null>
  /** How a dataset was withdrawn; null for one that was not. */
  withdrawn(dataset: string): 'open' | 'secret' | null
  /** The ids of the records that were removed from a dataset, if they are not in local files. */
  removed(dataset: string): ReadonlySet<string> | null
}

/** The versions in force according to local files; a file is read again when it changes. */
export function localRegistry(versions: Versions): Registry {
  let known: ReadonlyMap<string, { readonly mark: string; readonly version: string | null }> = new Map()
  return {
    current: async () => {
      const next = new Map<string, { readonly mark: string; readonly version: string | null }>()
      for (const id of storedDatasets(versions).sort()) {
        const file = statSync(currentFile(versions, id), { throwIfNoEntry: false })
        if (file === undefined) continue
        const mark = `${file.mtimeMs} ${file.ctimeMs} ${file.ino}`
        const before = known.get(id)
        next.set(id, before?.mark === mark ? before : { mark, version: currentVersion(versions, id) })
      }
      known = next
      return new Map([...next].flatMap(([id, { version }]) => (version === null ? [] : [[id, version]])))
    },
    manifest: async (dataset, version) => {
      const manifest = currentManifest(versions, dataset)
      return manifest?.version === version ? manifest : null
    },
    sources: manifest => graphSources(versions, manifest),
    isComing: () => false,
    damage: async manifest => (await damageOf(versions, manifest, true))?.reason ?? null,
    withdrawn: dataset =>
      !isWithdrawn(versions, dataset) ? null : isSecretlyWithdrawn(versions, dataset) ? 'secret' : 'open',
    removed: () => null,
  }
}

/**
 * Withdraws a dataset until it is published by name, also from a store that several instances share, where another one may have
 * published it. Resolves to false if it was not published.
 */
export async function withdrawEverywhere(
  versions: Versions,
  shared: Pick<SharedRegistry, 'inForce' | 'withdraw'> | null,
  id: string,
): Promise<boolean> {
  const manifest = currentManifest(versions, id) ?? (await shared?.inForce(id))
  const isShared = await shared?.withdraw(id, manifest?.dataset.visibility === 'public' ? 'open' : 'secret')
  return withdraw(versions, id) || isShared === true
}

/**
 * Restricts the version in force of a dataset whose dataset.yaml requires it; see {@link restrictInForce}. In a store that several
 * instances share only one that this instance has published, or has too.
 *
 * @returns the version in force in the shared store; null for none
 */
export async function restrictEverywhere(
  id: string,
  versions: Versions,
  { portal, now, shared }: RestrictContext,
): Promise<VersionManifest | null> {
  const inForce = (await shared?.inForce(id)) ?? null
  if (shared !== null && inForce?.version !== currentVersion(versions, id)) return inForce
  const restricted = await restrictInForce(portal, id, { versions, now })
  if (restricted === null || shared === null) return inForce
  await shared.release(versions, restricted)
  return restricted
}

interface RestrictContext {
  readonly portal: string
  readonly now: () => Date
  readonly shared: Pick<SharedRegistry, 'inForce' | 'release'> | null
}
