import { Fault } from '../../../errors/errors.ts'
import { refuseWaiting, takeNext } from '../../../runtime/turns.ts'
import type { WorkClient } from '../../../runtime/work-client.ts'
import { isOutweighed, type Lane, ThreadSlot } from './slot.ts'
import type { ColumnThread } from './thread.ts'

/** A piece of work that wants a thread. */
export interface Turn {
  /** Null for work of the server itself. */
  readonly client: WorkClient | null
  readonly lane: Lane
  /** The one thread that can do it; null for any. */
  readonly pinned: ColumnThread | null
}

interface WaitingTurn extends Turn {
  readonly begin: (thread: ColumnThread, slot: ThreadSlot) => Promise<void>
  readonly reject: (error: unknown) => void
  timer: NodeJS.Timeout | undefined
}

export interface SchedulerOptions {
  /** Turns that may wait. */
  readonly queue: number
  /** Milliseconds that one may wait. */
  readonly timeout: number
  /** Threads that do slow work at a time. */
  readonly slow: number
}

/** Milliseconds between two looks at whether slow work has to make room. */
const LOOK = 100

/** Gives work to threads, one piece at a time to each: fairly between clients, and slow work never to all of them. */
export class Scheduler {
  readonly threads = new Set<ColumnThread>()
  private readonly options: SchedulerOptions
  private readonly waiting: WaitingTurn[] = []
  private readonly running = new Set<ThreadSlot>()
  private look: NodeJS.Timeout | undefined
  private closed = false

  constructor(options: SchedulerOptions) {
    this.options = options
  }

  /** Resolves with what the work gives. Faults: StoreBusy where too much waits, or it waits too long. */
  run<T>(turn: Turn, work: (thread: ColumnThread, slot: ThreadSlot) => Promise<T>): Promise<T> {
    const { client, pinned } = turn
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(new Fault('StoreUnavailable', { reason: 'the store is closed.' }))
      if (pinned === null) refuseWaiting(this.waiting, client, this.options.queue)
      const waiting: WaitingTurn = {
        ...turn,
        // No thread is reserved for the clients that use the most.
        lane: client?.isHeavy() === true ? 'slow' : turn.lane,
        begin: (thread, slot) => work(thread, slot).then(resolve, reject),
        reject,
        timer: undefined,
      }
      if (pinned === null)
        waiting.timer = setTimeout(() => {
          const at = this.waiting.indexOf(waiting)
          if (at >= 0) this.waiting.splice(at, 1)
          reject(new Fault('StoreBusy'))
        }, this.options.timeout)
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
    for (const slot of this.running) if (slot.thread === thread) this.running.delete(slot)
    for (const waiting of this.waiting.filter(({ pinned }) => pinned === thread)) {
      this.waiting.splice(this.waiting.indexOf(waiting), 1)
      waiting.reject(new Fault('StoreUnavailable', { reason: 'the thread of the answer ended.' }))
    }
    this.dispatch()
  }

  close(): void {
    this.closed = true
    clearTimeout(this.look)
    for (const { reject, timer } of this.waiting.splice(0)) {
      clearTimeout(timer)
      reject(new Fault('StoreUnavailable', { reason: 'the store is closed.' }))
    }
  }

  private dispatch(): void {
    for (;;) {
      const waiting = takeNext(this.waiting, each => this.idleFor(each) !== undefined)
      const thread = waiting === null ? undefined : this.idleFor(waiting)
      if (waiting === null || thread === undefined) break
      clearTimeout(waiting.timer)
      void this.begin(waiting, thread)
    }
    if (this.waiting.length > 0 && this.look === undefined && !this.closed) {
      this.look = setTimeout(() => this.makeRoom(), LOOK)
      this.look.unref()
    }
  }

  private idleFor({ lane, pinned }: WaitingTurn): ColumnThread | undefined {
    if (lane === 'slow' && this.slowRunning() >= this.options.slow) return undefined
    if (pinned !== null) return pinned.busy ? undefined : pinned
    for (const thread of this.threads) if (!thread.busy) return thread
    return undefined
  }

  private slowRunning(): number {
    let slow = 0
    for (const slot of this.running) if (slot.lane === 'slow') slow += 1
    return slow
  }

  private async begin({ lane, client, begin }: WaitingTurn, thread: ColumnThread): Promise<void> {
    const slot = new ThreadSlot(thread, client, lane, () => this.slowRunning() < this.options.slow)
    thread.busy = true
    this.running.add(slot)
    try {
      await begin(thread, slot)
    } finally {
      thread.busy = false
      slot.end()
      this.running.delete(slot)
      client?.spend(slot.milliseconds())
      this.dispatch()
    }
  }

  /** Stops the slow work of a client that has used much more than one that waits. */
  private makeRoom(): void {
    this.look = undefined
    for (const { client, pinned } of this.waiting) {
      if (pinned !== null) continue
      const heaviest = [...this.running]
        .filter(slot => slot.canStop() && isOutweighed(slot, client))
        .sort((a, b) => b.weight() - a.weight())[0]
      if (heaviest === undefined) continue
      heaviest.stop('crowded')
      break
    }
    this.dispatch()
  }
}
