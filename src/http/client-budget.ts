import type { ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { WorkClient } from '../runtime/work-client.ts'

/** Limits of the work that the server does for one client: a token bucket. */
export interface BudgetLimits {
  /** Milliseconds of work that a client may use in one burst: the capacity of the bucket. */
  readonly burst: number
  /** Milliseconds of work that are refilled each second. */
  readonly rate: number
}

/** Milliseconds in which recent work falls to a third (1/e) of its weight. */
const WORK_DECAY = 10_000

/** Milliseconds for which a client counts as active after its last request. */
const ACTIVE = 5000

/** Recent work in milliseconds up to which a client is no heavy user: with concurrent requests, and with one at a time. */
const [LIGHT, SEQUENTIAL] = [1000, 4000]

/** Milliseconds of recent work up to which a client is never delayed. */
const NEGLIGIBLE = 250

/** A shorter time between a response and the next request, in milliseconds, is no pause. */
const PAUSE = 2

/** Weight of recent requests without a pause above which a client is frequent; milliseconds in which one falls to 1/e of its weight. */
const [FREQUENT_RATE, RATE_DECAY] = [5, 200]

/** Milliseconds between two updates of the active clients and their mean usage. */
const UPDATE_INTERVAL = 250

/** Queries at the deadline from which on the deadlines of a client are halved, and milliseconds for which each counts. */
const [PARDONED, REMEMBERED] = [2, 60_000]

/** Minimum deadline of a query in milliseconds. */
const LEAST_DEADLINE = 1000

/** Maximum number of clients; beyond that, the least recently active are dropped. */
const MAX_CLIENTS = 50_000

/** The work of one client: a token bucket, its recent usage, and its queries that reached the deadline. */
export class ClientBudget implements WorkClient {
  readonly id: string
  /** Time of its last request. */
  lastActive = 0
  private readonly budgets: WorkBudgets
  private balance: number
  private settled: number
  private recent = 0
  private offences: number[] = []
  private underWay = 0
  /** Its requests without a pause before them, weighted by age. */
  private successive = 0
  private arrived = 0
  private left = Number.NEGATIVE_INFINITY

  constructor(id: string, budgets: WorkBudgets) {
    this.id = id
    this.budgets = budgets
    this.balance = budgets.limits.burst
    this.settled = budgets.now()
  }

  /** Counts a request until its response has ended. */
  arrive(response: ServerResponse): void {
    const now = this.budgets.now()
    const isSuccessive = this.underWay > 0 || now - this.left < PAUSE
    this.successive = this.successive * Math.exp((this.arrived - now) / RATE_DECAY) + (isSuccessive ? 1 : 0)
    this.arrived = now
    this.underWay += 1
    onceEnded(response, () => {
      this.underWay -= 1
      this.left = this.budgets.now()
    })
  }

  usage(): number {
    this.settle()
    return this.recent
  }

  spend(milliseconds: number): void {
    this.settle()
    this.balance = Math.max(-this.budgets.limits.burst, this.balance - milliseconds)
    this.recent += milliseconds
  }

  /** Milliseconds of work that are left; negative if it is overdrawn. */
  remaining(): number {
    this.settle()
    return this.balance
  }

  /** Seconds until the budget is no longer negative; 0 if it is not. */
  wait(): number {
    return Math.ceil(Math.max(0, -this.remaining()) / this.budgets.limits.rate)
  }

  isOverBudget(): boolean {
    return this.remaining() < 0 && this.budgets.isContended(this)
  }

  isHeavy(): boolean {
    const least = this.underWay > 1 ? LIGHT : SEQUENTIAL
    return this.budgets.isContended(this) && this.usage() > Math.max(least, this.budgets.meanUsage())
  }

  /** True if it sends requests concurrently or without a pause, has used more than a negligible amount, and others are active. */
  isPressing(): boolean {
    return (this.underWay > 1 && this.isContending()) || this.isFrequent()
  }

  /** True if it sends requests without a pause, has used more than a negligible amount, and others are active. */
  isFrequent(): boolean {
    return this.successive > FREQUENT_RATE && this.isContending()
  }

  private isContending(): boolean {
    return this.usage() > NEGLIGIBLE && this.budgets.isContended(this)
  }

  offend(): void {
    this.offences.push(this.budgets.now())
  }

  deadline(milliseconds: number): number {
    const since = this.budgets.now() - REMEMBERED
    this.offences = this.offences.filter(moment => moment > since)
    const halvings = Math.max(0, this.offences.length - PARDONED + 1)
    const shortened = milliseconds / 2 ** halvings
    const limit = this.isOverBudget() ? Math.min(LEAST_DEADLINE, shortened) : shortened
    return Math.min(milliseconds, Math.max(LEAST_DEADLINE, limit))
  }

  private settle(): void {
    const now = this.budgets.now()
    const passed = now - this.settled
    if (passed <= 0) return
    this.settled = now
    const { burst, rate } = this.budgets.limits
    this.balance = Math.min(burst, this.balance + (passed * rate) / 1000)
    this.recent *= Math.exp(-passed / WORK_DECAY)
  }
}

/** The budgets of all clients. */
export class WorkBudgets {
  readonly limits: BudgetLimits
  readonly now: () => number
  private readonly clients = new LRUCache<string, ClientBudget>({ max: MAX_CLIENTS })
  private readonly active = new Set<ClientBudget>()
  private mean = 0
  private looked = Number.NEGATIVE_INFINITY

  /** @param now a monotonic clock in milliseconds */
  constructor(limits: BudgetLimits, now: () => number) {
    this.limits = limits
    this.now = now
  }

  find(id: string): ClientBudget {
    const client = this.clients.get(id) ?? new ClientBudget(id, this)
    this.clients.set(id, client)
    return client
  }

  /** The budget of a client; marks it as active now. */
  of(id: string): ClientBudget {
    const client = this.find(id)
    client.lastActive = this.now()
    this.active.add(client)
    return client
  }

  /** True if another client is active: without contention there is nothing to share. */
  isContended(client: ClientBudget): boolean {
    this.look()
    return this.active.size > (this.active.has(client) ? 1 : 0)
  }

  meanUsage(): number {
    this.look()
    return this.mean
  }

  private look(): void {
    const now = this.now()
    if (now - this.looked < UPDATE_INTERVAL) return
    this.looked = now
    let sum = 0
    for (const client of this.active)
      if (client.lastActive < now - ACTIVE) this.active.delete(client)
      else sum += client.usage()
    this.mean = this.active.size === 0 ? 0 : sum / this.active.size
  }
}

/**
 * Calls back once when a response is finished, or its connection is closed before, at once if it is closed already.
 *
 * @returns a function that removes the callback
 */
export function onceEnded(response: ServerResponse, then: () => void): () => void {
  const end = () => {
    forget()
    then()
  }
  const forget = () => {
    response.off('finish', end)
    response.off('close', end)
  }
  response.once('finish', end)
  onceClosed(response, end)
  return forget
}

/** Calls back when a response is closed, at once if it is closed already: its client may leave while something is awaited. */
export function onceClosed(response: ServerResponse, then: () => void): void {
  if (response.destroyed) then()
  else response.once('close', then)
}

/** A signal that is aborted where the client leaves before it has its answer. */
export function hangUpSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  onceClosed(response, () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}
