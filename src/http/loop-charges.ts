import type { ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { WorkClient } from '../runtime/work-client.ts'

/** Milliseconds between two charges. */
const INTERVAL = 200

/** Bytes of an answer that weigh as much as a request. */
const BYTES_OF_REQUEST = 30_000

/** Milliseconds that may be charged for a request at most: what was done for nobody is charged to nobody. */
const MAX_CHARGE = 25

interface OpenAnswer {
  readonly response: ServerResponse
  readonly context: { readonly client: WorkClient }
  /** Bytes that its connection had written when last looked at. */
  written: number
}

/**
 * Charges clients for the thread that answers requests: the time that it is busy, by the number of their requests and the
 * bytes of their answers.
 */
export class LoopCharges {
  private readonly open = new Set<OpenAnswer>()
  private readonly weights = new Map<WorkClient, number>()
  private before = performance.eventLoopUtilization()
  private readonly timer: NodeJS.Timeout

  constructor() {
    this.timer = setInterval(() => this.charge(), INTERVAL)
    this.timer.unref()
  }

  /** Counts an answer that begins; its context tells whose it is when it is charged. */
  begin(context: { readonly client: WorkClient }, response: ServerResponse): void {
    const answer = { response, context, written: response.socket?.bytesWritten ?? 0 }
    this.open.add(answer)
    response.once('close', () => {
      this.open.delete(answer)
      this.weigh(answer)
      this.add(context.client, 1)
    })
  }

  close(): void {
    clearInterval(this.timer)
  }

  private charge(): void {
    const now = performance.eventLoopUtilization()
    const { active } = performance.eventLoopUtilization(now, this.before)
    this.before = now
    for (const answer of this.open) this.weigh(answer)
    let all = 0
    for (const weight of this.weights.values()) all += weight
    const each = Math.min(MAX_CHARGE, active / Math.max(all, 0.1))
    for (const [client, weight] of this.weights) client.spend(weight * each)
    this.weights.clear()
  }

  private weigh(answer: OpenAnswer): void {
    const written = answer.response.socket?.bytesWritten ?? answer.written
    if (written > answer.written)
      this.add(answer.context.client, (written - answer.written) / BYTES_OF_REQUEST)
    answer.written = written
  }

  private add(client: WorkClient, weight: number): void {
    this.weights.set(client, (this.weights.get(client) ?? 0) + weight)
  }
}
