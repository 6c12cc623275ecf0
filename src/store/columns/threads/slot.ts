import type { WorkClient } from '../../../runtime/work-client.ts'
import type { ColumnThread } from './thread.ts'

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
