import { damageOf } from './damage.ts'
import type { Registry } from './registry.ts'
import { graphSources } from './served.ts'
import {
  currentManifest,
  currentVersion,
  isSecretlyWithdrawn,
  isWithdrawn,
  publishedDatasets,
  type Versions,
} from './versions.ts'

/** The versions in force by the files of this machine. */
export function localRegistry(versions: Versions): Registry {
  return {
    current: async () => {
      const current = new Map<string, string>()
      for (const id of publishedDatasets(versions)) {
        const version = currentVersion(versions, id)
        if (version !== null) current.set(id, version)
      }
      return current
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
