import { parentPort, workerData } from 'node:worker_threads'
import { Fault, faultText } from '../errors/errors.ts'
import { harvest } from './harvest.ts'
import type { Harvester } from './settings.ts'

/** The input of the thread: one catalog to read. */
export interface HarvestJob {
  readonly portal: string
  readonly harvester: Harvester
}

/** Entry of a thread that reads one catalog, so that large documents do not block the server. */
const { portal, harvester } = workerData as HarvestJob
harvest(harvester, { portal, now: () => new Date(), isDryRun: false }).then(
  outcome => parentPort?.postMessage(outcome),
  (error: unknown) => {
    throw error instanceof Fault ? new Error(faultText(error)) : error
  },
)
