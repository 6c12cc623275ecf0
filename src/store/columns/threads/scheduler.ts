import { Fault } from '../../../errors.ts'
import type { ColumnThread } from './thread.ts'

/** Queries of Lodestone itself go before those that strangers wrote, which leave one thread free. */
export type Lane = 'own' | 'untrusted'

interface Waiting {
  readonly lane: Lane
  /** The one thread that can do it; null for any. */
  readonly pinned: ColumnThread | null
  readonly begin: (thread: ColumnThread) => Promise<void>
  readonly reject: (error: unknown) => void
  timer: NodeJS.Timeout | undefined
}

export interface SchedulerOptions {
  /** Work that may wait in each lane. */
  readonly queue: Readonly<Record<Lane, number>>
  /** Milliseconds that it may wait. */
  readonly patience: number
}

/** Gives work to threads, one at a time to each. */
export class Scheduler {
  readonly threads = new Set<ColumnThread>()
  private readonly options: SchedulerOptions
  private readonly waiting: Waiting[] = []
  private untrusted = 0
  private closed = false

  constructor(options: SchedulerOptions) {
    this.options = options
  }

  /** Resolves with what the work gives. Faults: StoreBusy where too much waits, or it waits too long. */
  run<T>(lane: Lane, pinned: ColumnThread | null, work: (thread: ColumnThread) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(new Fault('StoreUnavailable', { reason: 'the store is closed.' }))
      const isFull = this.waiting.filter(each => each.lane === lane).length >= this.options.queue[lane]
      if (isFull && pinned === null) return reject(new Fault('StoreBusy'))
      const waiting: Waiting = {
        lane,
        pinned,
        begin: async thread => {
          try {
            resolve(await work(thread))
          } catch (error) {
            reject(error)
          }
        },
        reject,
        timer: undefined,
      }
      if (pinned === null)
        waiting.timer = setTimeout(() => {
          const at = this.waiting.indexOf(waiting)
          if (at >= 0) this.waiting.splice(at, 1)
          reject(new Fault('StoreBusy'))
        }, this.options.patience)
      this.waiting.push(waiting)
      this.dispatch()
    })
  }

  add(thread: ColumnThread): void {
    this.threads.add(thread)
    this.dispatch()
  }

  remove(thread: ColumnThread): void {
    this.threads.delete(thread)
    for (const waiting of this.waiting.filter(({ pinned }) => pinned === thread)) {
      this.waiting.splice(this.waiting.indexOf(waiting), 1)
      waiting.reject(new Fault('StoreUnavailable', { reason: 'the thread of the answer ended.' }))
    }
  }

  close(): void {
    this.closed = true
    for (const { reject, timer } of this.waiting.splice(0)) {
      clearTimeout(timer)
      reject(new Fault('StoreUnavailable', { reason: 'the store is closed.' }))
    }
  }

  private dispatch(): void {
    for (const lane of ['own', 'untrusted'] as const)
      for (let at = 0; at < this.waiting.length; ) {
        const waiting = this.waiting[at] as Waiting
        const thread = waiting.lane === lane ? this.idleFor(waiting) : undefined
        if (thread === undefined) {
          at += 1
          continue
        }
        this.waiting.splice(at, 1)
        clearTimeout(waiting.timer)
        void this.begin(waiting, thread)
      }
  }

  private idleFor({ lane, pinned }: Waiting): ColumnThread | undefined {
    if (lane === 'untrusted' && this.untrusted >= Math.max(1, this.threads.size - 1)) return undefined
    if (pinned !== null) return pinned.busy ? undefined : pinned
    for (const thread of this.threads) if (!thread.busy) return thread
    return undefined
  }

  private async begin(waiting: Waiting, thread: ColumnThread): Promise<void> {
    thread.busy = true
    if (waiting.lane === 'untrusted') this.untrusted += 1
    await waiting.begin(thread)
    thread.busy = false
    if (waiting.lane === 'untrusted') this.untrusted -= 1
    this.dispatch()
  }
}
