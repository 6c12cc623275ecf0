import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import type { MaybePromise } from '../database.ts'

/** Milliseconds for which what was read counts as fresh without a query, unless a change was announced. */
const CONFIRMED_FOR = 1000

/** Milliseconds after a failure without a retry. */
const REST = 300

/** A connection that is notified of changes, and can read the current generation. */
export interface Listener {
  /** The generation of the database. */
  readGeneration(): Promise<number>
  close(): Promise<void>
}

/** Events of a listener. */
export interface ListenerEvents {
  /** Something was written that cached values depend on. */
  readonly changed: () => void
  /** The connection is lost: there will be no more notifications. */
  readonly lost: () => void
}

/**
 * Whether cached values are still fresh. It is confirmed at most once a second, on demand, and sooner if the database
 * announces a change; without a connection nothing is fresh. So a revocation takes effect here within a second, even if
 * notifications are lost.
 */
export class Freshness {
  private readonly listen: (heard: ListenerEvents) => Promise<Listener>
  private readonly clock: () => number
  private listener: Listener | null = null
  private currentGeneration = 0
  /** The generation of the database that was read last; null before the first. */
  private latest: number | null = null
  private confirmed = Number.NEGATIVE_INFINITY
  private changes = 0
  private asking: Promise<number> | null = null
  private failure: { readonly moment: number; readonly error: unknown } | null = null
  private isClosed = false

  /**
   * @param listen opens a connection
   * @param clock monotonic milliseconds
   */
  constructor(listen: (heard: ListenerEvents) => Promise<Listener>, clock: () => number) {
    this.listen = listen
    this.clock = clock
  }

  /** A number that changes when cached values may be stale. Fails if the database is unavailable. */
  generation(): MaybePromise<number> {
    if (this.clock() - this.confirmed < CONFIRMED_FOR) return this.currentGeneration
    this.asking ??= this.confirm().finally(() => {
      this.asking = null
    })
    return this.asking
  }

  isCurrent(generation: number): boolean {
    return generation === this.currentGeneration
  }

  /** Records the generation of the database at the time of a read or write. */
  note(latest: number): void {
    if (latest === this.latest) return
    this.latest = latest
    this.currentGeneration++
  }

  /** Marks everything that was read before as stale. */
  distrust(): void {
    this.latest = null
    this.confirmed = Number.NEGATIVE_INFINITY
    this.currentGeneration++
  }

  async close(): Promise<void> {
    this.isClosed = true
    const listener = this.listener
    this.listener = null
    if (this.asking != null) await ignoreRejection(this.asking, 'whoever asked gets it')
    await listener?.close()
  }

  private async confirm(): Promise<number> {
    if (this.failure !== null && this.clock() - this.failure.moment < REST) throw this.failure.error
    const [begun, changes] = [this.clock(), this.changes]
    try {
      this.listener ??= await this.connect()
      this.note(await this.listener.readGeneration())
    } catch (error) {
      this.failure = { moment: this.clock(), error }
      this.drop()
      throw error
    }
    this.failure = null
    // A change that was announced meanwhile may be newer than the answer.
    if (changes === this.changes) this.confirmed = begun
    return this.currentGeneration
  }

  private async connect(): Promise<Listener> {
    let listener: Listener | null = null
    listener = await this.listen({
      changed: () => {
        this.changes++
        this.confirmed = Number.NEGATIVE_INFINITY
      },
      lost: () => {
        if (listener !== null && this.listener === listener) this.drop()
      },
    })
    if (this.isClosed) await listener.close()
    return listener
  }

  private drop(): void {
    const listener = this.listener
    this.listener = null
    this.distrust()
    if (listener !== null) void ignoreRejection(listener.close(), 'it is lost already')
  }
}
