import type { ServerResponse } from 'node:http'
import type { MaybePromise } from '../accounts/maybe-promise.ts'
import { type ClientBudget, onceEnded } from './budget.ts'

/** Milliseconds for which an answer keeps those of heavy users from being begun: what takes longer is not hindered by one of them. */
const PROMPT = 50

/** Milliseconds after which one of a heavy user is begun though others are being answered. */
const TIMEOUT = 20

/** Milliseconds of rest after an answer to a heavy user, at most; otherwise as long as the answer took. */
const MAX_REST = 20

/** Milliseconds after which the next request of a heavy user may be begun though one is still being answered: a download. */
const LONG = 1000

/** Requests of one client that may wait. */
export const MAX_WAITING = 200

interface Line {
  readonly client: ClientBudget
  /** Requests that are being answered, and not for long. */
  running: number
  /** Moment at which a request was begun last. */
  begun: number
  readonly waiting: (() => void)[]
}

/**
 * Has the requests of those who use the most wait for one another while others ask. Of each of them one is answered at a time
 * (unless that takes long); of all of them together one is begun at a time, while nobody else is being answered, and after a
 * rest as long as the last one took, so that the thread that answers is free for others at least half of the time.
 */
export class TurnQueue {
  private readonly lines = new Map<string, Line>()
  private readonly begun = new WeakSet<ServerResponse>()
  /** Answers under way that heavy users wait for. */
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

  /** True where no further request of a client may wait. */
  isFull({ id }: ClientBudget): boolean {
    return (this.lines.get(id)?.waiting.length ?? 0) >= MAX_WAITING
  }

  /** Resolves when it is the turn of a request of a heavy user. */
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
    this.onceEndedOr(LONG, response, () => {
      line.running -= 1
      this.forget(line)
      this.admit()
    })
  }

  private forget({ client, running, waiting }: Line): void {
    if (running === 0 && waiting.length === 0) this.lines.delete(client.id)
  }

  /** Keeps heavy users waiting until a response has ended, or has taken long. */
  private delayOthers(response: ServerResponse): void {
    this.prompt += 1
    this.onceEndedOr(PROMPT, response, () => {
      this.prompt -= 1
      this.admit()
    })
  }

  /** Lets nobody of the heavy users follow until a response has ended, or has taken long, and as long again. */
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

  /** Begins what may be begun now. */
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

  /** Who of those that wait was last begun longest ago: turn by turn, so that each of them is answered in the end. */
  private next(): Line | null {
    let next: Line | null = null
    for (const line of this.lines.values())
      if (line.waiting.length > 0 && line.running === 0 && (next === null || line.begun < next.begun))
        next = line
    return next
  }
}
