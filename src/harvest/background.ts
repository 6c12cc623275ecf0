import { runJob } from '../runtime/job.ts'
import type { HarvestOutcome } from './harvest.ts'
import type { HarvestJob } from './harvest-worker.ts'

/** Reads a catalog in a thread of its own. Rejects for a defect; what is wrong with the catalog is in the outcome. */
export function harvestInThread(job: HarvestJob, signal: AbortSignal): Promise<HarvestOutcome | null> {
  return runJob<HarvestOutcome>(import.meta.url, './harvest-worker', job, {
    name: 'lodestone-harvester',
    signal,
  })
}
