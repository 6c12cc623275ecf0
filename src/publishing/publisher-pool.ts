import type { Worker } from 'node:worker_threads'
import { startThread } from '../runtime/thread.ts'
import type { PublicationFailure, PublishProgress, PublishResult } from './publish-types.ts'
import type { VersionManifest } from './versions/versions.ts'

/** The settings of the threads of a pool. */
export interface PoolSetup {
  readonly portal: string
  readonly base: string
  readonly mappingOnly: boolean
  /** Retained versions of a dataset. */
  readonly keepVersions: number
  readonly endsRollBack: boolean
  readonly withoutFetching: boolean
}

/** A dataset to be published. */
export interface PoolJob {
  readonly dataset: string
  readonly inForce: VersionManifest | null
}

/** A reply of a thread of the pool; all but progress end the job. */
export type PoolReply =
  | ({ readonly type: 'progress' } & PublishProgress)
  | { readonly type: 'result'; readonly result: PublishResult }
  | ({ readonly type: 'failed' } & PublicationFailure)

/** A publication that failed in its thread. */
export class PublicationFailed extends Error {
  readonly failure: PublicationFailure

  constructor({ reason, isDiskFull }: PublicationFailure, options?: ErrorOptions) {
    super(reason, options)
    this.failure = { reason, isDiskFull }
  }
}

/** Bytes of memory that a publication takes independently of the size of its source, and for each byte of the source. */
const FIXED_BYTES = 100e6
const BYTES_A_BYTE = 3

/** Maximum bytes of memory for publishing a source of a given size. */
function memoryOfPublishing(sourceBytes: number): number {
  return FIXED_BYTES + BYTES_A_BYTE * sourceBytes
}

/**
 * Publishes datasets in threads: as many in parallel as there are threads and memory for; one that needs more than all of the
 * memory is published alone.
 */
export class PublisherPool {
  private readonly setup: PoolSetup
  private readonly idle: Worker[] = []
  private readonly limits: { readonly threads: number; readonly memory: number }

  /** @param limits threads, and bytes that all of them may use */
  constructor(setup: PoolSetup, limits: { readonly threads: number; readonly memory: number }) {
    this.setup = setup
    this.limits = limits
  }

  /** Runs work for each dataset, as many in parallel as there is room for; in order, but the next one that fits. */
  async each(
    datasets: readonly { readonly id: string; readonly bytes: number }[],
    work: (dataset: string) => Promise<void>,
  ): Promise<void> {
    const waiting = [...datasets]
    const running = new Set<Promise<void>>()
    let used = 0
    try {
      while (waiting.length + running.size > 0) {
        const next = this.nextOf(waiting, running.size, used)
        if (next === null) {
          await Promise.race(running)
          continue
        }
        const bytes = memoryOfPublishing(next.bytes)
        used += bytes
        const done: Promise<void> = work(next.id).finally(() => {
          used -= bytes
          running.delete(done)
        })
        running.add(done)
      }
    } finally {
      await Promise.allSettled(running)
    }
  }

  /** Publishes a dataset in a thread. Rejects with {@link PublicationFailed}. */
  async publish(job: PoolJob, onProgress: (progress: PublishProgress) => void): Promise<PublishResult> {
    const worker = this.idle.pop() ?? this.start()
    try {
      const result = await run(worker, job, onProgress)
      this.idle.push(worker)
      return result
    } catch (error) {
      if (error instanceof PublicationFailed && error.cause === undefined) this.idle.push(worker)
      else await worker.terminate()
      throw error
    }
  }

  /** Ends the threads, which are idle. */
  async close(): Promise<void> {
    await Promise.all(this.idle.splice(0).map(worker => worker.terminate()))
  }

  private nextOf(
    waiting: { readonly id: string; readonly bytes: number }[],
    running: number,
    used: number,
  ): { readonly id: string; readonly bytes: number } | null {
    if (running >= this.limits.threads) return null
    const at = waiting.findIndex(
      ({ bytes }) => running === 0 || used + memoryOfPublishing(bytes) <= this.limits.memory,
    )
    return at < 0 ? null : (waiting.splice(at, 1)[0] ?? null)
  }

  private start(): Worker {
    return startThread(import.meta.url, './publisher-pool-worker', {
      workerData: this.setup,
      name: 'lodestone-publisher',
    })
  }
}

function run(
  worker: Worker,
  job: PoolJob,
  onProgress: (progress: PublishProgress) => void,
): Promise<PublishResult> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      worker.off('message', onReply).off('error', onDeath).off('exit', onDeath)
      end()
    }
    const onDeath = (cause: unknown) =>
      settle(() => {
        const reason = cause instanceof Error ? cause.message : `it ended with ${cause}`
        const failure = { reason: `the thread that published it ended: ${reason}`, isDiskFull: false }
        reject(new PublicationFailed(failure, { cause }))
      })
    const onReply = (reply: PoolReply) => {
      switch (reply.type) {
        case 'progress':
          return onProgress({ dataset: reply.dataset, records: reply.records })
        case 'result':
          return settle(() => resolve(reply.result))
        case 'failed':
          return settle(() => reject(new PublicationFailed(reply)))
        default:
          return reply satisfies never
      }
    }
    worker.on('message', onReply).on('error', onDeath).on('exit', onDeath)
    worker.postMessage(job)
  })
}
