import { createHash } from 'node:crypto'
import type { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { ignoreRejection } from '../../../errors/ignore-rejection.ts'
import { isOutOfMemory } from '../../../runtime/job.ts'
import { startThread } from '../../../runtime/thread.ts'
import { standBack } from '../../../runtime/thread-priority.ts'
import type {
  ColumnReply,
  ColumnRequest,
  Failure,
  Job,
  JobLimits,
  SharedPart,
  ThreadSetup,
} from './protocol.ts'

type Answer = Exclude<ColumnReply, { readonly type: 'up' | 'part' | 'damaged' }>

/**
 * Megabytes of the young generation of a thread, three times a semi-space: a semi-space of 4 MB fits into the caches of a
 * processor, and garbage collections delay an answer less than with the default of 16 MB.
 */
const YOUNG_GENERATION = 12

/** Events of a thread in addition to its answers. */
interface ThreadListener {
  readonly onPart: (graph: string, part: SharedPart) => void
  readonly onDamage: (graph: string, reason: string) => void
  /** Called once, with the reason. */
  readonly onDeath: (thread: ColumnThread, reason: string) => void
}

/** A thread that answers from columns. */
export class ColumnThread {
  /** True while it runs a job. */
  busy = false
  /** Revisions of the graphs that it has received. */
  readonly revisions = new Map<string, number>()
  readonly up: Promise<void>
  private readonly worker: Worker
  private readonly signal = new Int32Array(new SharedArrayBuffer(8))
  private readonly waiting = new Map<number, (answer: Answer) => void>()
  private dead = false
  private ending: Failure = { reason: 'error', message: 'the thread was ended' }
  private thread: number | null = null

  /** @param heap megabytes of its heap: a query that needs more ends the thread, not the process */
  constructor(listener: ThreadListener, heap: number) {
    const setup: ThreadSetup = { signal: this.signal.buffer as SharedArrayBuffer }
    this.worker = startThread(import.meta.url, './worker', {
      workerData: setup,
      name: 'lodestone-columns',
      resourceLimits: { maxOldGenerationSizeMb: heap, maxYoungGenerationSizeMb: YOUNG_GENERATION },
    })
    let reason = 'the thread was ended'
    this.up = new Promise((resolve, reject) => {
      this.worker.on('message', (reply: ColumnReply) => {
        switch (reply.type) {
          case 'up':
            this.thread = reply.thread
            this.rest()
            return resolve()
          case 'part':
            return listener.onPart(reply.graph, reply.part)
          case 'damaged':
            return listener.onDamage(reply.graph, reply.reason)
          default:
            return this.settle(reply.id, reply)
        }
      })
      this.worker.once('error', error => {
        reason = String(error)
        this.ending = isOutOfMemory(error) ? { reason: 'memory' } : { reason: 'error', message: reason }
      })
      this.worker.once('exit', () => {
        reject(new Error(reason))
        this.dead = true
        for (const id of [...this.waiting.keys()])
          this.settle(id, { type: 'failed', id, failure: this.ending })
        listener.onDeath(this, reason)
      })
    })
    void ignoreRejection(this.up, 'onDeath is called with it')
  }

  send(request: Exclude<ColumnRequest, { readonly type: 'run' | 'next' }>): void {
    if (!this.dead) this.worker.postMessage(request)
  }

  /** @param job a {@link Job} as JSON */
  run(id: number, job: string, limits: JobLimits): Promise<Answer> {
    return this.execute({ type: 'run', id, job, limits })
  }

  /** The next chunk of a job that answers in chunks. */
  next(id: number): Promise<Answer> {
    return this.execute({ type: 'next', id })
  }

  /** Ends a job at its next look, if it is the one that it works on: there is one signal, which another job may need. */
  cancel(id: number): void {
    if (this.waiting.has(id)) Atomics.store(this.signal, 0, id)
  }

  /** Revokes a cancellation, where the job has answered meanwhile. */
  uncancel(id: number): void {
    Atomics.compareExchange(this.signal, 0, id, 0)
  }

  /** Lowers the priority of the thread, or restores it. */
  standBack(stands: boolean): void {
    if (!stands) Atomics.store(this.signal, 1, 0)
    if (!this.dead) standBack(this.thread, stands)
  }

  /** Makes a job of low priority pause regularly for a while, because other work has started. */
  pauseForOthers(): void {
    Atomics.add(this.signal, 1, 1)
  }

  /**
   * Terminates the thread, even during a job; late replies no longer let the process exit before that.
   *
   * @param ending why the job fails
   */
  async end(ending = this.ending): Promise<void> {
    this.dead = true
    this.ending = ending
    await this.worker.terminate()
  }

  private execute(request: Extract<ColumnRequest, { readonly type: 'run' | 'next' }>): Promise<Answer> {
    const { id } = request
    return new Promise(resolve => {
      if (this.dead) return resolve({ type: 'failed', id, failure: this.ending })
      this.worker.ref()
      this.waiting.set(id, resolve)
      this.worker.postMessage(request)
    })
  }

  private settle(id: number, answer: Answer): void {
    const resolve = this.waiting.get(id)
    this.waiting.delete(id)
    this.rest()
    resolve?.(answer)
  }

  /** Lets the process exit while the thread is idle. */
  private rest(): void {
    if (this.waiting.size === 0 && !this.dead) this.worker.unref()
  }
}

/** Maximum number of remembered jobs. */
const REMEMBERED = 1000

/** Remembers which jobs were slow, by their JSON, so that they are not started as quick ones again. */
export class KnownSlow {
  private readonly digests = new LRUCache<string, true>({ max: REMEMBERED })

  has(job: string): boolean {
    return this.digests.size > 0 && this.digests.has(digestOf(job))
  }

  add(job: string): void {
    this.digests.set(digestOf(job), true)
  }

  delete(job: string): void {
    this.digests.delete(digestOf(job))
  }
}

function digestOf(job: string): string {
  return createHash('sha1').update(job).digest('base64')
}
