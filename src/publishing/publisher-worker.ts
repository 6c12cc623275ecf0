import { parentPort, workerData } from 'node:worker_threads'
import { publishingShare } from '../runtime/memory.ts'
import { openReleases, type PublisherSettings, type PublishJob, publishAll } from './publish-all.ts'

/** Entry of a thread of {@link PublisherThread}: publishes the job that it receives, once, and ends. */
const settings = workerData as PublisherSettings

parentPort?.once('message', async ({ datasets, ...job }: PublishJob) => {
  const { portal, base, keepVersions, memory } = settings
  const { shared, close } = await openReleases(settings)
  const parallel = publishingShare(memory)
  await publishAll(
    { portal, base, keepVersions, ...job, now: () => new Date(), shared, parallel },
    datasets,
    message => parentPort?.postMessage(message),
  )
  await close()
})
