import type { Worker } from 'node:worker_threads'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { startThread } from '../../runtime/thread.ts'
import type { EngineJob, EngineReply, WorkerSetup } from './protocol.ts'

/** A reply that ends a request. */
export type FinalReply = Exclude<EngineReply, { readonly type: 'up' | 'progress' }>

type RequestWithoutId = EngineJob extends infer R ? (R extends EngineJob ? Omit<R, 'id'> : never) : never

/** Reason of a trap that the engine did not cause: the thread was terminated. */
const THREAD_ENDED = 'the thread was ended'

/** One thread with an engine, from its start to its end. A request ends with a reply, or with a trap if the thread ends first. */
export class EngineThread {
  /** Bytes of its WebAssembly memory. */
  memory = 0
  dead = false
  readonly up: Promise<void>
  private readonly worker: Worker
  private readonly open = new Map<
    number,
    { readonly resolve: (reply: FinalReply) => void; readonly onProgress: (lines: number) => void }
  >()
  private nextId = 1

  constructor(module: WebAssembly.Module, onDeath: (reason: string) => void) {
    const setup: WorkerSetup = { module }
    this.worker = startThread(import.meta.url, './worker', { workerData: setup, name: 'lodestone-engine' })
    let reason = THREAD_ENDED
    this.up = new Promise((resolve, reject) => {
      this.worker.on('message', (reply: EngineReply) => {
        if ('memory' in reply) this.memory = reply.memory
        if (reply.type === 'up') {
          this.rest()
          return resolve()
        }
        if (reply.type === 'progress') return this.open.get(reply.id)?.onProgress(reply.lines)
        if (reply.type === 'trap') {
          reason = reply.reason
          void this.end()
        }
        this.settle(reply)
      })
      this.worker.once('error', error => {
        reason = String(error)
      })
      this.worker.once('exit', () => {
        reject(new Error(reason))
        this.dead = true
        for (const id of [...this.open.keys()]) this.settle({ type: 'trap', id, reason })
        onDeath(reason)
      })
    })
    void ignoreRejection(this.up, 'onDeath is called with it')
  }

  send(
    request: RequestWithoutId,
    onProgress: (lines: number) => void = () => undefined,
  ): Promise<FinalReply> {
    const id = this.nextId++
    return new Promise(resolve => {
      if (this.dead) return resolve({ type: 'trap', id, reason: THREAD_ENDED })
      this.worker.ref()
      this.open.set(id, { resolve, onProgress })
      this.worker.postMessage({ ...request, id } as EngineJob)
    })
  }

  /** Terminates the thread, even during a query. */
  async end(): Promise<void> {
    this.dead = true
    await this.worker.terminate()
  }

  private settle(reply: FinalReply): void {
    const open = this.open.get(reply.id)
    this.open.delete(reply.id)
    this.rest()
    open?.resolve(reply)
  }

  /** Lets the process exit while the thread is idle. */
  private rest(): void {
    if (this.open.size === 0 && !this.dead) this.worker.unref()
  }
}
