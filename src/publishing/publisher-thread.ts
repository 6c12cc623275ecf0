import type { Worker } from 'node:worker_threads'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { startThread } from '../runtime/thread.ts'
import type { PublisherSettings, PublishJob, PublishMessage } from './publish-all.ts'
import { isWithdrawn, versionsOf } from './versions/versions.ts'

/**
 * Publishes in separate threads: requests are answered meanwhile, and the memory of a publication is freed at its end. One idle
 * thread stays ready, so that a saved change need not wait for one to start.
 */
export class PublisherThread {
  private readonly settings: PublisherSettings
  private ready: Worker | null = null
  private busy: Worker | null = null
  private isClosed = false
  private turn: Promise<unknown> = Promise.resolve()

  constructor(settings: PublisherSettings) {
    this.settings = settings
    this.stand()
  }

  /**
   * Resolves when all datasets are published that can be: one job after another. What is withdrawn while its job waits stays
   * withdrawn. Rejects where the thread dies: what it had not published then is reported as failed.
   */
  publish(job: PublishJob, onMessage: (message: PublishMessage) => void): Promise<void> {
    const versions = versionsOf(this.settings.portal)
    const unlessWithdrawn = job.datasets?.filter(id => !isWithdrawn(versions, id)) ?? []
    const published = this.turn.then(() =>
      this.isClosed ? undefined : this.run({ ...job, unlessWithdrawn }, onMessage),
    )
    this.turn = ignoreRejection(published, 'whoever gave the job gets it')
    return published
  }

  private async run(job: PublishJob, onMessage: (message: PublishMessage) => void): Promise<void> {
    const worker = this.ready ?? this.start()
    this.ready = null
    this.busy = worker
    worker.ref()
    const unfinished = new Set(job.datasets)
    try {
      await new Promise<void>((resolve, reject) => {
        worker.on('message', (message: PublishMessage) => {
          if (message.type === 'progress' || message.type === 'loading') unfinished.add(message.dataset)
          else unfinished.delete(message.dataset)
          onMessage(message)
        })
        worker.once('error', reject)
        worker.once('exit', code => {
          if (code === 0 || this.isClosed) resolve()
          else reject(new Error(`the publisher ended with ${code}`))
        })
        worker.postMessage(job)
      })
    } catch (error) {
      const reason = `the thread that published it ended: ${error instanceof Error ? error.message : error}`
      for (const dataset of unfinished)
        onMessage({ type: 'failed', dataset, reason, isDiskFull: false, seconds: 0 })
      throw error
    } finally {
      this.busy = null
      if (!this.isClosed) this.stand()
    }
  }

  /** Abandons unfinished jobs: the versions in force stay. */
  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all([this.ready?.terminate(), this.busy?.terminate()])
  }

  private stand(): void {
    const worker = this.start()
    this.ready = worker
    worker.unref()
    // A thread that ends before its first job is replaced when there is one.
    worker.once('error', () => undefined)
    worker.once('exit', () => {
      if (this.ready === worker) this.ready = null
    })
  }

  private start(): Worker {
    return startThread(import.meta.url, './publisher-worker', {
      workerData: this.settings,
      name: 'lodestone-publisher',
    })
  }
}
