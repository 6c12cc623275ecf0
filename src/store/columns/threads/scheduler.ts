import { Fault } from '../../../errors/errors.ts'
import { refuseWaiting, STORE_BUSY, takeNext } from '../../../runtime/fair-queue.ts'
import type { WorkClient } from '../../../runtime/work-client.ts'
import { STORE_UNAVAILABLE } from '../../faults.ts'
import type { ColumnThread } from './thread.ts'

/** A job that needs a thread. */
export interface Turn {
  /** Null for jobs of the server itself. */
  readonly client: WorkClient | null
  readonly lane: Lane
  /** The only thread that can run it; null for any. */
  readonly pinned: ColumnThread | null
  /** True for queries of unlimited cost: they go to the last idle thread, and others to the first, whose code is warm. */
  readonly isUntrusted: boolean
}

interface WaitingTurn extends Turn {
  readonly begin: (thread: ColumnThread, slot: ThreadSlot) => Promise<void>
  readonly reject: (error: unknown) => void
  timer: NodeJS.Timeout | undefined
}

export interface SchedulerOptions {
  /** Maximum number of waiting turns. */
  readonly queue: number
  /** Maximum milliseconds of waiting. */
  readonly timeout: number
  /** Maximum number of threads that run slow jobs at the same time. */
  readonly slow: number
}

/** Milliseconds between two checks whether slow jobs must make room. */
const CHECK_INTERVAL = 100

/** Assigns jobs to threads, one at a time to each: fairly between clients, and slow jobs never to all threads. */
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

  /** Resolves with the result of the work. Faults: StoreBusy where too much waits, or it waits too long. */
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

  /** Number of threads that would begin at once. */
  get idle(): number {
    if (this.waiting.length > 0) return 0
    let idle = 0
    for (const { busy } of this.threads) if (!busy) idle += 1
    return idle
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
      this.look = setTimeout(() => this.makeRoom(), CHECK_INTERVAL)
      this.look.unref()
    }
  }

  private idleFor({ lane, pinned, isUntrusted }: WaitingTurn): ColumnThread | undefined {
    if (lane === 'slow' && this.slowRunning() >= this.options.slow) return undefined
    if (pinned !== null) return pinned.busy ? undefined : pinned
    const idle = [...this.threads].filter(thread => !thread.busy)
    return idle.at(isUntrusted ? -1 : 0)
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

  /** Stops the slow job of a client that has used much more than a waiting one. */
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

/** Jobs that are probably short, and jobs that are known to be long: some threads are always free of the latter. */
export type Lane = 'quick' | 'slow'

/** Why a job was stopped before its deadline: it exceeds the time of quick jobs, or clients wait that used less. */
export type StopReason = 'not quick' | 'crowded'

/** Minimum milliseconds that a slow job runs. */
const LEAST_RUN = 500

/** Minimum weight of a client whose job is stopped, relative to that of a waiting one. */
const MUCH_MORE = 2

/** A thread that runs a job for a client. */
export class ThreadSlot {
  readonly thread: ColumnThread
  readonly client: WorkClient | null
  /** Why the job had to stop. */
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
   * Registers how the job can be stopped; without that it runs to its end.
   *
   * @param canBeginAgain false where a part of the answer was already returned
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

  /** Called when the job is done. */
  end(): void {
    if (this.standsBack) this.thread.standBack(false)
  }

  /** The recent usage of its client, including this job. */
  weight(): number {
    return (this.client?.usage() ?? 0) + this.milliseconds()
  }

  /** Called when a quick job has used its time: it becomes a slow job if there is room, else it is stopped. */
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

  /** Lowers the priority of the thread until the job is done. */
  standBack(): void {
    if (this.standsBack) return
    this.standsBack = true
    this.thread.standBack(true)
  }

  /** Called when other work starts. */
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

/** True where a running job must make room for a waiting client. */
export function isOutweighed(slot: ThreadSlot, client: WorkClient | null): boolean {
  if (slot.client === null || slot.client.id === client?.id) return false
  return slot.weight() > MUCH_MORE * Math.max(LEAST_RUN, client?.usage() ?? 0)
}
