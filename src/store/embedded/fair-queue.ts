import { Fault } from '../../errors/errors.ts'
import { refuseWaiting, STORE_BUSY, takeNext } from '../../runtime/turns.ts'
import type { WorkClient } from '../../runtime/work-client.ts'

interface WaitingWork {
  readonly client: WorkClient | null
  readonly begin: () => Promise<void>
  readonly timer: NodeJS.Timeout
}

export interface FairQueueOptions {
  readonly limit: number
  /** Maximum milliseconds of waiting. */
  readonly timeout: number
}

/** Runs one job at a time, fairly between clients, and charges each client for its time. */
export class FairQueue {
  private readonly options: FairQueueOptions
  private readonly waiting: WaitingWork[] = []
  private isBusy = false

  constructor(options: FairQueueOptions) {
    this.options = options
  }

  /** Resolves with the result of the work. Faults: StoreBusy where too much waits, or it waits too long. */
  run<T>(client: WorkClient | null, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      refuseWaiting(this.waiting, client, this.options.limit)
      const waiting: WaitingWork = {
        client,
        begin: () => work().then(resolve, reject),
        timer: setTimeout(() => {
          const at = this.waiting.indexOf(waiting)
          if (at >= 0) this.waiting.splice(at, 1)
          reject(new Fault(STORE_BUSY))
        }, this.options.timeout),
      }
      this.waiting.push(waiting)
      void this.dispatch()
    })
  }

  private async dispatch(): Promise<void> {
    if (this.isBusy) return
    this.isBusy = true
    for (let next = this.next(); next !== null; next = this.next()) {
      clearTimeout(next.timer)
      const begun = performance.now()
      await next.begin()
      next.client?.spend(performance.now() - begun)
    }
    this.isBusy = false
  }

  private next(): WaitingWork | null {
    return takeNext(this.waiting, () => true)
  }
}
