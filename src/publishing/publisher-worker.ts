import { parentPort, workerData } from 'node:worker_threads'
import { publishingShare } from '../runtime/memory.ts'
import { openReleases, type PublisherSettings, type PublishJob, publishAll } from './publish-all.ts'

/** Entry of a thread of {@link PublisherThread}: publishes the job that it receives, once, and ends. */
const settings = workerData as PublisherSettings

parentPort?.once(
  'message',
  async ({
    datasets,
    mappingOnly,
    endsRollBack = false,
    withoutFetching = false,
    unlessWithdrawn = [],
  }: PublishJob) => {
    const { portal, base, keepVersions, memory } = settings
    const { shared, close } = await openReleases(settings)
    await publishAll(
      {
        portal,
        base,
        keepVersions,
        mappingOnly,
        endsRollBack,
        withoutFetching,
        unlessWithdrawn,
        now: () => new Date(),
        shared,
        parallel: publishingShare(memory),
      },
      datasets,
      message => parentPort?.postMessage(message),
    )
    await close()
  },
)
