import type { ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { WorkClient } from '../runtime/work-client.ts'

/** What each client may use of the machine. */
export interface BudgetLimits {
  /** Milliseconds of work that a client may have done at once. */
  readonly burst: number
  /** Milliseconds of work that it is given back each second. */
  readonly rate: number
}

/** Milliseconds in which recent work falls to a third (1/e) of its weight. */
const FADING = 10_000

/** Milliseconds for which a client counts as active after its last request. */
const ACTIVE = 5000

/** Milliseconds of recent work below which no client counts as a heavy user, and of one that sends one request after another. */
const [LIGHT, SEQUENTIAL] = [1000, 4000]

/** Milliseconds of recent work below which nobody waits for others. */
const NEGLIGIBLE = 250

/** Milliseconds without a request below which one follows the other without a pause. */
const PAUSE = 2

/** Requests without a pause, of the last moments, of one who keeps asking; and milliseconds in which one falls to a third (1/e) of its weight. */
const [MANY, RATE_FADING] = [5, 200]

/** Milliseconds between two looks at how much active clients use. */
const LOOK = 250

/** Queries that may meet their deadline before the deadlines of a client are halved, and milliseconds that each is remembered. */
const [PARDONED, REMEMBERED] = [2, 60_000]

/** Milliseconds that a query may take in any case. */
const LEAST_DEADLINE = 1000

/** Maximum number of clients; beyond that, the least recently active are dropped. */
const MAX_CLIENTS = 50_000

/** The work of one client: a token bucket, what it used lately, and its offences. */
export class ClientBudget implements WorkClient {
  readonly id: string
  /** Moment of its last request. */
  lastActive = 0
  private readonly budgets: WorkBudgets
  private balance: number
  private settled: number
  private recent = 0
  private offences: number[] = []
  /** Its requests that are being answered or wait for that. */
  private underWay = 0
  /** Its requests that followed others without a pause, older ones counting less. */
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
    this.successive = this.successive * Math.exp((this.arrived - now) / RATE_FADING) + (isSuccessive ? 1 : 0)
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

  /** Milliseconds of work that are left; less than none where it has used more. */
  remaining(): number {
    this.settle()
    return this.balance
  }

  /** Seconds until something of the budget is there again; 0 where something is. */
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

  /** True where it asks for several things at a time, or without a pause, and not for the first time, while others ask. */
  isPressing(): boolean {
    return (this.underWay > 1 && this.isContending()) || this.isFrequent()
  }

  /** True where it asks for one thing after another without a pause, and not for the first time, while others ask. */
  isFrequent(): boolean {
    return this.successive > MANY && this.isContending()
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
    this.recent *= Math.exp(-passed / FADING)
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

  /** @param now a clock in milliseconds that never goes back */
  constructor(limits: BudgetLimits, now: () => number) {
    this.limits = limits
    this.now = now
  }

  /** The budget of a client, which sends a request now. */
  of(id: string): ClientBudget {
    const client = this.clients.get(id) ?? new ClientBudget(id, this)
    this.clients.set(id, client)
    client.lastActive = this.now()
    this.active.add(client)
    return client
  }

  /** True where somebody else is active: without others, nobody takes anything away from anybody. */
  isContended(client: ClientBudget): boolean {
    this.look()
    return this.active.size > (this.active.has(client) ? 1 : 0)
  }

  /** Recent work of an active client, on average. */
  meanUsage(): number {
    this.look()
    return this.mean
  }

  private look(): void {
    const now = this.now()
    if (now - this.looked < LOOK) return
    this.looked = now
    let sum = 0
    for (const client of this.active)
      if (client.lastActive < now - ACTIVE) this.active.delete(client)
      else sum += client.usage()
    this.mean = this.active.size === 0 ? 0 : sum / this.active.size
  }
}

/**
 * Calls back once when a response was written whole, or its connection is closed before.
 *
 * @returns what takes that back
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
  response.once('close', end)
  return forget
}
