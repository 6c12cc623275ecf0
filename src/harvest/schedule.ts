import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { withdrawEverywhere } from '../publishing/registry/registry.ts'
import type { SharedRegistry } from '../publishing/registry/shared-registry.ts'
import { isDue } from '../publishing/remote/state.ts'
import { moveAcross } from '../publishing/versions/durable.ts'
import type { Versions } from '../publishing/versions/versions.ts'
import { runJob } from '../runtime/job.ts'
import type { HarvestOutcome } from './harvest.ts'
import type { HarvestJob } from './harvest-worker.ts'
import { type Harvester, readHarvesters } from './settings.ts'
import { harvestState } from './state.ts'

/** The harvesters that are due at a moment: those that never ran, and those whose next run has come. */
export function dueHarvesters(portal: string, now: number): readonly Harvester[] {
  return readHarvesters(portal).filter(harvester => {
    const state = harvestState(portal, harvester)
    return state.asked === undefined || isDue(state, now)
  })
}

/** Seconds since each catalog could last be read, the number of failures since then, and the number of its datasets. */
export function harvestAges(portal: string, moment: number) {
  let harvesters: readonly Harvester[]
  try {
    harvesters = readHarvesters(portal)
  } catch {
    // Errors of harvest.yaml are reported by doctor.
    return []
  }
  return harvesters.map(harvester => {
    const { confirmed, failures, datasets } = harvestState(portal, harvester)
    return {
      harvester: harvester.id,
      age: confirmed === undefined ? null : (moment - Date.parse(confirmed)) / 1000,
      failures,
      datasets: Object.keys(datasets).length,
    }
  })
}

/** Reads a catalog in a separate thread. Rejects for a defect; errors of the catalog are in the outcome. */
export function harvestInThread(job: HarvestJob, signal: AbortSignal): Promise<HarvestOutcome | null> {
  return runJob<HarvestOutcome>(import.meta.url, './harvest-worker', job, {
    name: 'lodestone-harvester',
    signal,
  })
}

/**
 * Withdraws datasets that are gone from their catalog: they are no longer served, and their folders are moved to var/deleted with
 * all local edits.
 */
export async function withdrawHarvested(
  portal: string,
  versions: Versions,
  shared: SharedRegistry | null,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  for (const id of ids) {
    await withdrawEverywhere(versions, shared, id)
    const folder = path.join(portal, 'data', id)
    const away = path.join(portal, 'var', 'deleted', `${id}-${now.toISOString().replaceAll(':', '-')}`)
    mkdirSync(away, { recursive: true })
    if (existsSync(folder)) moveAcross(folder, path.join(away, 'data'))
  }
}
