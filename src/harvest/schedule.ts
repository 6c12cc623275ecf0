import { runJob } from '../runtime/job.ts'
import type { HarvestOutcome } from './harvest.ts'
import type { HarvestJob } from './harvest-worker.ts'
import { type Harvester, readHarvesters } from './settings.ts'
import { harvestState } from './state.ts'

/** The harvesters that are to be asked at a moment: those that never were, and those whose time has come. */
export function dueHarvesters(portal: string, now: number): readonly Harvester[] {
  return readHarvesters(portal).filter(harvester => {
    const { asked: requested, next } = harvestState(portal, harvester)
    return requested === undefined || (next !== undefined && Date.parse(next) <= now)
  })
}

/** How long ago catalogs could last be read, in seconds, how often they failed since, and how many datasets come from each. */
export function harvestAges(portal: string, moment: number) {
  let harvesters: readonly Harvester[]
  try {
    harvesters = readHarvesters(portal)
  } catch {
    // What is wrong with harvest.yaml is reported by doctor.
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

/** Reads a catalog in a thread of its own. Rejects for a defect; what is wrong with the catalog is in the outcome. */
export function harvestInThread(job: HarvestJob, signal: AbortSignal): Promise<HarvestOutcome | null> {
  return runJob<HarvestOutcome>(import.meta.url, './harvest-worker', job, {
    name: 'lodestone-harvester',
    signal,
  })
}
