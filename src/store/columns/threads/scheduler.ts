import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Fault } from '../../../errors/errors.ts'
import { refuseWaiting, STORE_BUSY, takeNext } from '../../../runtime/turns.ts'
import type { WorkClient } from '../../../runtime/work-client.ts'
import { STORE_UNAVAILABLE } from '../../faults.ts'
import type { Job } from './protocol.ts'
import type { ColumnThread } from './thread.ts'

/** A piece of work that wants a thread. */
export interface Turn {
  /** Null for work of the server itself. */
  readonly client: WorkClient | null
  readonly lane: Lane
  /** The one thread that can do it; null for any. */
  readonly pinned: ColumnThread | null
  /** True for questions that may take any time: they go to the last idle thread, and others to the first, whose code is warm. */
  readonly isArbitrary: boolean
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
      if (this.closed) return reject(new Fault(STORE_UNAVAILABLE, { reason: 'the store is closed.' }))
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
          reject(new Fault(STORE_BUSY))
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
      waiting.reject(new Fault(STORE_UNAVAILABLE, { reason: 'the thread of the answer ended.' }))
    }
    this.dispatch()
  }

  close(): void {
    this.closed = true
    clearTimeout(this.look)
    for (const { reject, timer } of this.waiting.splice(0)) {
      clearTimeout(timer)
      reject(new Fault(STORE_UNAVAILABLE, { reason: 'the store is closed.' }))
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

  private idleFor({ lane, pinned, isArbitrary }: WaitingTurn): ColumnThread | undefined {
    if (lane === 'slow' && this.slowRunning() >= this.options.slow) return undefined
    if (pinned !== null) return pinned.busy ? undefined : pinned
    const idle = [...this.threads].filter(thread => !thread.busy)
    return idle.at(isArbitrary ? -1 : 0)
  }

  private slowRunning(): number {
    let slow = 0
    for (const slot of this.running) if (slot.lane === 'slow') slow += 1
    return slow
  }

  private async begin({ lane, client, begin }: WaitingTurn, thread: ColumnThread): Promise<void> {
    const slot = new ThreadSlot(thread, client, lane, () => this.slowRunning() < this.options.slow)
    thread.busy = true
    for (const other of this.running) other.pauseForOthers()
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

/** Jobs that are remembered. */
const REMEMBERED = 1000

/** Remembers which jobs were not quick, so that they are not tried as such again. */
export class KnownSlow {
  private readonly digests = new LRUCache<string, true>({ max: REMEMBERED })

  /** The name of a job by which it is remembered. */
  static digest(job: Job): string {
    return createHash('sha1').update(JSON.stringify(job)).digest('base64')
  }

  has(digest: string): boolean {
    return this.digests.has(digest)
  }

  add(digest: string): void {
    this.digests.set(digest, true)
  }

  delete(digest: string): void {
    this.digests.delete(digest)
  }

  get isEmpty(): boolean {
    return this.digests.size === 0
  }
}

/** Work that is probably short, and work that is known to be long: of that some threads are always free. */
export type Lane = 'quick' | 'slow'

/** Why work was stopped before its deadline: it is longer than quick work may be, or others wait who used less. */
export type StopReason = 'not quick' | 'crowded'

/** Milliseconds that slow work has in any case. */
const LEAST_RUN = 500

/** What the work of a client must weigh, compared with that of one who waits, to be stopped. */
const MUCH_MORE = 2

/** A thread that works for a client. */
export class ThreadSlot {
  readonly thread: ColumnThread
  readonly client: WorkClient | null
  /** Why it had to stop. */
  stopped: StopReason | null = null
  private readonly begun = performance.now()
  private readonly hasSlowRoom: () => boolean
  private stopWork: (() => void) | null = null
  private canBegin = true
  private isBeyondRoom = false
  private currentLane: Lane = 'quick'
  private standsBack = false

  constructor(thread: ColumnThread, client: WorkClient | null, lane: Lane, hasSlowRoom: () => boolean) {
    this.thread = thread
    this.client = client
    if (lane === 'slow') this.slowDown()
    this.hasSlowRoom = hasSlowRoom
  }

  /**
   * Registers how the work can be stopped; without that it runs to its end.
   *
   * @param canBeginAgain false where a part of the answer was given already
   */
  onStop(stop: () => void, canBeginAgain: boolean): void {
    this.stopWork = stop
    this.canBegin = canBeginAgain
  }

  milliseconds(): number {
    return performance.now() - this.begun
  }

  get lane(): Lane {
    return this.currentLane
  }

  /** Called when the work is done. */
  end(): void {
    if (this.standsBack) this.thread.standBack(false)
  }

  /** What its client used lately, this work with it. */
  weight(): number {
    return (this.client?.usage() ?? 0) + this.milliseconds()
  }

  /** Called when quick work has taken its time: it becomes slow work where there is room, and is stopped otherwise. */
  outgrow(): void {
    if (this.lane === 'slow') return
    const hasRoom = this.hasSlowRoom()
    if (!hasRoom && this.stopWork !== null && this.canBegin) this.stop('not quick')
    else {
      this.slowDown()
      this.isBeyondRoom = !hasRoom
    }
  }

  private slowDown(): void {
    this.currentLane = 'slow'
    this.standBack()
  }

  /** Leaves the processors to other threads first, until the work is done. */
  standBack(): void {
    if (this.standsBack) return
    this.standsBack = true
    this.thread.standBack(true)
  }

  /** Called when other work begins. */
  pauseForOthers(): void {
    if (this.standsBack) this.thread.pauseForOthers()
  }

  canStop(): boolean {
    return (
      this.lane === 'slow' &&
      this.stopWork !== null &&
      this.stopped === null &&
      this.milliseconds() > LEAST_RUN &&
      (this.canBegin || this.isBeyondRoom || this.client?.isOverBudget() === true)
    )
  }

  stop(reason: StopReason): void {
    if (this.stopped !== null) return
    this.stopped = reason
    this.stopWork?.()
  }
}

/** True where running work has to make room for a client that waits. */
export function isOutweighed(slot: ThreadSlot, client: WorkClient | null): boolean {
  if (slot.client === null || slot.client.id === client?.id) return false
  return slot.weight() > MUCH_MORE * Math.max(LEAST_RUN, client?.usage() ?? 0)
}
