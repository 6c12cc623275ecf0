import { existsSync, mkdirSync, renameSync } from 'node:fs'
import path from 'node:path'
import type { SharedRegistry } from '../publishing/registry/shared-registry.ts'
import { currentManifest, type Versions, withdraw } from '../publishing/versions/versions.ts'

/**
 * Withdraws datasets that are gone from their catalog: they are no longer served, and their folders are moved to var/deleted with
 * all local edits.
 */
export async function withdrawHarvested(
  portal: string,
  versions: Versions,
  shared: Pick<SharedRegistry, 'withdraw'> | null,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  for (const id of ids) {
    const isOpen = currentManifest(versions, id)?.dataset.visibility === 'public'
    await shared?.withdraw(id, isOpen ? 'open' : 'secret')
    withdraw(versions, id)
    const folder = path.join(portal, 'data', id)
    const away = path.join(portal, 'var', 'deleted', `${id}-${now.toISOString().replaceAll(':', '-')}`)
    mkdirSync(away, { recursive: true })
    if (existsSync(folder)) renameSync(folder, path.join(away, 'data'))
  }
}
