import { refuseExcess, takeNext } from '../../model/turns.ts'
import type { WorkClient } from '../../model/work-client.ts'

interface WaitingWork {
  readonly client: WorkClient | null
  readonly begin: () => Promise<void>
}

/** Does one piece of work after the other, fairly between clients, and charges each its time. */
export class FairQueue {
  private readonly limit: number
  private readonly waiting: WaitingWork[] = []
  private isBusy = false

  /** @param limit how much may wait */
  constructor(limit: number) {
    this.limit = limit
  }

  /** Resolves with what the work gives. Faults: StoreBusy where too much waits. */
  run<T>(client: WorkClient | null, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      refuseExcess(this.waiting, client, this.limit)
      this.waiting.push({ client, begin: () => work().then(resolve, reject) })
      void this.dispatch()
    })
  }

  private async dispatch(): Promise<void> {
    if (this.isBusy) return
    this.isBusy = true
    for (let next = this.next(); next !== null; next = this.next()) {
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
