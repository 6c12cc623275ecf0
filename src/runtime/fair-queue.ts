import { declareFault, Fault } from '../errors/errors.ts'
import type { WorkClient } from './work-client.ts'

export const STORE_BUSY = declareFault(
  'StoreBusy',
  503,
  'The store cannot take more queries now. Try again in a moment.',
)

/** An entry of a queue. */
export interface Waiting {
  /** Null for work of the server itself, which has priority. */
  readonly client: WorkClient | null
}

/** Maximum share of a queue that one client may occupy. */
const CLIENT_SHARE = 0.5

/**
 * Takes the next entry of a queue: that of the client with the least recent work, for one client the oldest (fair queueing).
 *
 * @param canBegin whether an entry can be started now
 */
export function takeNext<W extends Waiting>(queue: W[], canBegin: (waiting: W) => boolean): W | null {
  let best = -1
  let least = Number.POSITIVE_INFINITY
  for (const [at, waiting] of queue.entries()) {
    const usage = waiting.client?.usage() ?? -1
    if (usage >= least || !canBegin(waiting)) continue
    best = at
    least = usage
  }
  return best < 0 ? null : (queue.splice(best, 1)[0] ?? null)
}

/** Refuses an entry if the queue is full, or the client has its share of it: no client fills it alone. Throws StoreBusy. */
export function refuseWaiting(queue: readonly Waiting[], client: WorkClient | null, limit: number): void {
  if (queue.length >= limit) throw new Fault(STORE_BUSY)
  if (client === null) return
  let own = 0
  for (const waiting of queue) if (waiting.client?.id === client.id) own += 1
  if (own >= Math.max(1, limit * CLIENT_SHARE)) throw new Fault(STORE_BUSY)
}

interface WaitingWork extends Waiting {
  readonly begin: () => Promise<void>
  readonly timer: NodeJS.Timeout
}

interface FairQueueOptions {
  /** Maximum number of jobs that run at the same time, one by default. */
  readonly concurrency?: number
  /** Maximum number of waiting jobs. */
  readonly limit: number
  /** Maximum milliseconds of waiting. */
  readonly timeout: number
}

/** Runs few jobs at a time, fairly between clients, and charges each client for its time. */
export class FairQueue {
  private readonly options: FairQueueOptions
  private readonly waiting: WaitingWork[] = []
  private running = 0

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
      this.dispatch()
    })
  }

  private dispatch(): void {
    const { concurrency = 1 } = this.options
    while (this.running < concurrency) {
      const next = takeNext(this.waiting, () => true)
      if (next === null) return
      clearTimeout(next.timer)
      this.running += 1
      void this.begin(next)
    }
  }

  private async begin({ client, begin }: WaitingWork): Promise<void> {
    const begun = performance.now()
    await begin()
    client?.spend(performance.now() - begun)
    this.running -= 1
    this.dispatch()
  }
}
