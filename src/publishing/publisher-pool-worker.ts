import { parentPort, workerData } from 'node:worker_threads'
import { failureOf, publishDataset } from './publish.ts'
import type { PoolJob, PoolReply, PoolSetup } from './publisher-pool.ts'
import { versionsOf } from './versions/versions.ts'

/** Entry of a thread of {@link PublisherPool}: publishes one dataset after another. */
const { keepVersions, ...setup } = workerData as PoolSetup
const reply = (message: PoolReply): void => parentPort?.postMessage(message)

parentPort?.on('message', async ({ dataset, inForce }: PoolJob) => {
  try {
    const result = await publishDataset(dataset, {
      ...setup,
      inForce,
      versions: versionsOf(setup.portal, keepVersions),
      now: () => new Date(),
      onProgress: progress => reply({ type: 'progress', ...progress }),
    })
    reply({ type: 'result', result })
  } catch (error) {
    reply({ type: 'failed', ...failureOf(error) })
  }
})
