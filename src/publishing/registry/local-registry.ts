import { statSync } from 'node:fs'
import { damageOf } from '../versions/damage.ts'
import { graphSources } from '../versions/graph-sources.ts'
import {
  currentFile,
  currentManifest,
  currentVersion,
  isSecretlyWithdrawn,
  isWithdrawn,
  storedDatasets,
  type Versions,
} from '../versions/versions.ts'
import type { Registry } from './registry.ts'

/** The versions in force according to local files; a file is read again when it changes. */
export function localRegistry(versions: Versions): Registry {
  let known: ReadonlyMap<string, { readonly mark: string; readonly version: string | null }> = new Map()
  return {
    current: async () => {
      const next = new Map<string, { readonly mark: string; readonly version: string | null }>()
      for (const id of [...storedDatasets(versions)].sort()) {
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
    damage: async manifest => (await damageOf(versions, manifest))?.reason ?? null,
    withdrawn: dataset =>
      !isWithdrawn(versions, dataset) ? null : isSecretlyWithdrawn(versions, dataset) ? 'secret' : 'open',
    removed: () => null,
  }
}
