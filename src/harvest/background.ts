import { startThread } from '../runtime/thread.ts'
import type { HarvestOutcome } from './harvest.ts'
import type { HarvestJob } from './harvest-thread.ts'

/** Reads a catalog in a thread of its own. Rejects for a defect; what is wrong with the catalog is in the outcome. */
export function harvestInThread(job: HarvestJob, signal: AbortSignal): Promise<HarvestOutcome | null> {
  return new Promise((resolve, reject) => {
    const worker = startThread(import.meta.url, './harvest-thread', { workerData: job })
    const stop = () => void worker.terminate()
    signal.addEventListener('abort', stop, { once: true })
    let outcome: HarvestOutcome | null = null
    worker.once('message', (message: HarvestOutcome) => {
      outcome = message
    })
    worker.once('error', reject)
    worker.once('exit', () => {
      signal.removeEventListener('abort', stop)
      resolve(outcome)
    })
  })
}
