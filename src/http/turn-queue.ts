import type { ServerResponse } from 'node:http'
import type { MaybePromise } from '../accounts/database.ts'
import { type ClientBudget, onceClosed, onceEnded } from './client-budget.ts'

/** Milliseconds for which an answer delays requests of heavy users: answers that take longer are hardly slowed down by one. */
const PROMPT = 50

/** Milliseconds after which a request of a heavy user is started although others are being answered. */
const TIMEOUT = 20

/** Maximum pause in milliseconds after an answer to a heavy user; otherwise as long as the answer took. */
const MAX_REST = 20

/** Milliseconds after which the next request of a heavy user may start while one is still being answered: a download. */
const LONG_ANSWER = 1000

/** Maximum waiting requests of one client. */
export const MAX_WAITING = 200

interface Line {
  readonly client: ClientBudget
  /** Requests that are being answered, except long ones. */
  running: number
  /** Time at which a request was started last. */
  begun: number
  readonly waiting: (() => void)[]
}

/**
 * Serialises the requests of heavy users while other clients are active. Each of them gets one answer at a time (unless it
 * takes long); of all of them together one request is started at a time, while no other client is being answered, and after a
 * pause as long as the last one took, so that the main thread is free for others at least half of the time.
 */
export class TurnQueue {
  private readonly lines = new Map<string, Line>()
  private readonly begun = new WeakSet<ServerResponse>()
  /** Answers in progress that heavy users wait for. */
  private prompt = 0
  private isBeginning = false
  private resting = 0
  private lastBegun = 0
  private timer: NodeJS.Timeout | undefined

  /** Resolves when a request of a client may be answered; it counts until its response has ended. */
  enter(client: ClientBudget, response: ServerResponse): MaybePromise<void> {
    if (this.begun.has(response)) return undefined
    const line = this.lineOf(client)
    if (line.waiting.length > 0 || client.isPressing()) return this.wait(client, response)
    this.begin(line, response)
    this.delayOthers(response)
    return undefined
  }

  /** True if no further request of a client may wait. */
  isFull({ id }: ClientBudget): boolean {
    return (this.lines.get(id)?.waiting.length ?? 0) >= MAX_WAITING
  }

  /** Queues a request of a heavy user; resolves when it may start. */
  wait(client: ClientBudget, response: ServerResponse): Promise<void> {
    const line = this.lineOf(client)
    return new Promise(resolve => {
      const next = () => {
        stay()
        this.begin(line, response)
        this.rest(response)
        resolve()
      }
      const leave = () => {
        line.waiting.splice(line.waiting.indexOf(next), 1)
        this.forget(line)
      }
      line.waiting.push(next)
      const stay = onceEnded(response, leave)
      this.admit()
    })
  }

  private lineOf(client: ClientBudget): Line {
    const line = this.lines.get(client.id) ?? { client, running: 0, begun: 0, waiting: [] }
    this.lines.set(client.id, line)
    return line
  }

  private begin(line: Line, response: ServerResponse): void {
    line.running += 1
    line.begun = performance.now()
    this.begun.add(response)
    this.onceEndedOr(LONG_ANSWER, response, () => {
      line.running -= 1
      this.forget(line)
      this.admit()
    })
  }

  private forget({ client, running, waiting }: Line): void {
    if (running === 0 && waiting.length === 0) this.lines.delete(client.id)
  }

  /** Delays heavy users until a response has ended, or has taken long. */
  private delayOthers(response: ServerResponse): void {
    this.prompt += 1
    this.onceEndedOr(PROMPT, response, () => {
      this.prompt -= 1
      this.admit()
    })
  }

  /** Delays all heavy users until a response has ended, or has taken long, and then for the same time again. */
  private rest(response: ServerResponse): void {
    this.isBeginning = true
    this.lastBegun = performance.now()
    this.onceEndedOr(PROMPT, response, () => {
      const now = performance.now()
      this.isBeginning = false
      this.resting = now + Math.min(MAX_REST, now - this.lastBegun)
      this.admit()
    })
  }

  private onceEndedOr(milliseconds: number, response: ServerResponse, then: () => void): void {
    const timer = setTimeout(() => {
      forget()
      then()
    }, milliseconds)
    const forget = onceEnded(response, () => {
      clearTimeout(timer)
      then()
    })
  }

  private admit(): void {
    clearTimeout(this.timer)
    for (const line of this.lines.values())
      while (line.waiting.length > 0 && !line.client.isPressing()) line.waiting.shift()?.()
    const line = this.next()
    if (line === null || this.isBeginning) return
    const now = performance.now()
    const moment = Math.max(this.resting, this.prompt > 0 ? this.lastBegun + TIMEOUT : 0)
    if (now >= moment) line.waiting.shift()?.()
    else this.timer = setTimeout(() => this.admit(), Math.ceil(moment - now))
  }

  /** The waiting client whose last start was longest ago: round robin, so that none starves. */
  private next(): Line | null {
    let next: Line | null = null
    for (const line of this.lines.values())
      if (line.waiting.length > 0 && line.running === 0 && (next === null || line.begun < next.begun))
        next = line
    return next
  }
}

/** Maximum number of concurrent answers: of one client, and of all together. */
interface Limit {
  readonly what: string
  readonly own: number
  /** Beyond this total, each client may have only one. */
  readonly all: number
}

const ANSWERS: Limit = { what: 'requests', own: 200, all: 2000 }
const EXPORTS: Limit = { what: 'exports', own: 16, all: 32 }

/** Paths of addresses whose answers stream whole datasets. */
const EXPORT = /\/exports\/|^\/explore\/dataset\/[^/?]+\/download|\/rdf-graph-store/

/** Why a request is not answered now. */
interface Excess extends Readonly<Record<string, string | number>> {
  readonly found: number
  readonly what: string
}

/** Limits the number of concurrent answers: each holds memory until its client has read it. */
export class AnswerLimit {
  private readonly answers = new Counts(ANSWERS)
  private readonly exports = new Counts(EXPORTS)

  /** Counts an answer until its response is closed; returns the excess instead if it exceeds a limit. */
  enter(client: string, url: string, response: ServerResponse): Excess | null {
    const counts = EXPORT.test(url.replace(/\?.*$/s, '')) ? [this.exports, this.answers] : [this.answers]
    for (const count of counts) {
      const excess = count.excess(client)
      if (excess !== null) return excess
    }
    for (const count of counts) count.add(client, 1)
    onceClosed(response, () => {
      for (const count of counts) count.add(client, -1)
    })
    return null
  }
}

class Counts {
  private readonly limit: Limit
  private readonly own = new Map<string, number>()
  private all = 0

  constructor(limit: Limit) {
    this.limit = limit
  }

  excess(client: string): Excess | null {
    const { own, all, what } = this.limit
    const found = this.own.get(client) ?? 0
    return found >= own || (this.all >= all && found > 0) ? { found, what } : null
  }

  add(client: string, change: 1 | -1): void {
    const count = (this.own.get(client) ?? 0) + change
    if (count <= 0) this.own.delete(client)
    else this.own.set(client, count)
    this.all += change
  }
}
