import { createHmac } from 'node:crypto'
import type { CallCounts } from '../accounts/accounts.ts'
import type { Principal } from '../model/principal.ts'
import { addressSubject } from './client-address.ts'

/** Calls of a day for the whole portal where nothing else is said. */
export const DAILY_CALLS = 10_000_000

/** Calls of a day in UTC, of the whole portal, of an anonymous address and of a user; null for no limit of their own. */
export interface QuotaLimits {
  readonly domain: number
  readonly anonymous: number | null
  readonly user: number | null
}

/** The limits, from the settings of a portal. */
export function quotaLimits(settings: Partial<Record<keyof QuotaLimits, number>> = {}): QuotaLimits {
  const { domain = DAILY_CALLS, anonymous = null, user = null } = settings
  return { domain, anonymous, user }
}

/** What is left, after a call, of the limit that is nearest to its end among those that apply. */
export interface Allowance {
  readonly kind: keyof QuotaLimits
  /** Calls of a day. */
  readonly limit: number
  readonly remaining: number
  /** Milliseconds since 1970 at which the day begins anew. */
  readonly reset: number
  /** Seconds until then, at least one. */
  readonly wait: number
  /** True where this call is one too many; then it is not counted. */
  readonly isExceeded: boolean
}

export interface QuotasOptions {
  readonly limits: QuotaLimits
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Where counts are stored; null where they last as long as the process. */
  readonly counts: CallCounts | null
  /** What addresses are hashed with before they are stored. */
  readonly secret: Buffer
  /** Called once when reading or writing counts begins to fail, and why; the calls are answered all the same. */
  readonly onFailure?: (error: unknown) => void
  /** Addresses of a day that are distinguished. */
  readonly maxAddresses?: number
}

interface Counter {
  readonly name: string
  /** As far as it is known here: what others counted is added when ours is written. */
  taken: number
  /** Ours that are not written yet. */
  unwritten: number
}

const DAY = 86_400_000
/** Milliseconds from a call until its count is written: with the lateness of a timer less than a second. */
const WRITTEN_WITHIN = 800
const MAX_ADDRESSES = 200_000
const ADDRESS = 'address:'

/**
 * Counts the calls of a day, from one midnight UTC to the next: of the portal, of each user, and of each anonymous address
 * where those have a limit (REST 8.1). Counts are exact in memory and are added to what is
 * stored soon after, so that a restart goes on where it was and a crash loses a second. Where several processes count in the
 * same place, each gets the sum when it adds its own: a limit may be overrun by what they take within that second.
 *
 * Addresses are stored as names that only this portal can make of them, and 200,000 of them a day; those that come later
 * share one count. Where the clock is put back by less than a day, the day that has begun goes on.
 */
export class Quotas {
  private readonly options: QuotasOptions
  /** Days since 1970. */
  private day = Number.NaN
  private domain: Counter = { name: 'domain', taken: 0, unwritten: 0 }
  private readonly counters = new Map<string, Counter>()
  /** The counters of addresses that have called since the process began, by whom they stand for. */
  private readonly addresses = new Map<string, Counter>()
  private addressCount = 0
  private readonly changed = new Set<Counter>()
  private timer: NodeJS.Timeout | undefined
  /** The last that was begun; one write after the other. */
  private writing: Promise<void> = Promise.resolve()
  private reading: Promise<void> = Promise.resolve()
  private isClosed = false
  private isFailing = false

  constructor(options: QuotasOptions) {
    this.options = options
  }

  /**
   * Counts one call, if it may be made, and tells what is left.
   *
   * @param address the address of an anonymous caller
   */
  take(principal: Principal, address: string): Allowance {
    const moment = this.options.now()
    this.settleDay(moment)
    const { domain } = this
    const { limits } = this.options
    const own = this.ownCounter(principal, address)
    const ownLimit = this.ownLimit(principal)
    const domainLeft = Math.max(0, limits.domain - domain.taken)
    const ownLeft =
      own === null || ownLimit === null ? Number.POSITIVE_INFINITY : Math.max(0, ownLimit - own.taken)
    const isOwn = ownLeft < domainLeft
    const left = isOwn ? ownLeft : domainLeft
    if (left > 0) {
      this.count(domain)
      if (own !== null) this.count(own)
    }
    const reset = (this.day + 1) * DAY
    return {
      kind: !isOwn ? 'domain' : principal.type === 'user' ? 'user' : 'anonymous',
      limit: isOwn ? (ownLimit ?? 0) : limits.domain,
      remaining: Math.max(0, left - 1),
      reset,
      wait: Math.max(1, Math.ceil((reset - moment) / 1000)),
      isExceeded: left === 0,
    }
  }

  /** Takes a call back that was counted and is not to be; nothing of a day that has ended. */
  giveBack(principal: Principal, address: string, { reset }: Allowance): void {
    if (reset !== (this.day + 1) * DAY) return
    for (const counter of [this.domain, this.ownCounter(principal, address)])
      if (counter !== null && counter.taken > 0) this.count(counter, -1)
  }

  /** Begins the day where counts are stored, before the first call comes. */
  async begin(): Promise<void> {
    this.settleDay(this.options.now())
    await this.reading
  }

  /** Writes what was counted since it was last written. */
  flush(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    this.writing = this.writing.then(() => this.write())
    return this.writing
  }

  /** Writes what is not written yet; what is counted afterwards is written no more. */
  close(): Promise<void> {
    this.isClosed = true
    return this.flush()
  }

  private async write(): Promise<void> {
    const { day } = this
    const written = [...this.changed].map(counter => ({ counter, calls: counter.unwritten }))
    this.changed.clear()
    if (written.length === 0) return
    for (const { counter, calls } of written) counter.unwritten -= calls
    try {
      const calls = new Map(written.map(each => [each.counter.name, each.calls]))
      const totals = await this.options.counts?.add(dayText(day), calls)
      this.isFailing = false
      for (const { counter } of written)
        counter.taken = (totals?.get(counter.name) ?? counter.taken) + counter.unwritten
    } catch (error) {
      for (const { counter, calls } of written) counter.unwritten += calls
      // What belongs to a day that has ended meanwhile matters no more.
      if (day === this.day) for (const { counter } of written) this.changed.add(counter)
      this.reportFailure(error)
      this.scheduleWrite()
    }
  }

  private count(counter: Counter, calls = 1): void {
    counter.taken += calls
    if (this.options.counts === null) return
    counter.unwritten += calls
    this.changed.add(counter)
    if (this.timer === undefined) this.scheduleWrite()
  }

  private scheduleWrite(): void {
    if (this.isClosed || this.timer !== undefined) return
    this.timer = setTimeout(() => this.flush(), WRITTEN_WITHIN)
    this.timer.unref()
  }

  private settleDay(moment: number): void {
    const day = Math.floor(moment / DAY)
    if (day === this.day || day === this.day - 1) return
    this.day = day
    for (const each of [this.counters, this.addresses, this.changed]) each.clear()
    this.addressCount = 0
    this.domain = this.named('domain')
    this.reading = this.read(day)
  }

  /** Adds what was counted before this process began, or by others, to what it counts already. */
  private async read(day: number): Promise<void> {
    try {
      const cached = await this.options.counts?.read(dayText(day))
      if (day !== this.day) return
      for (const [name, calls] of cached ?? []) {
        if (name.startsWith(ADDRESS) && !this.counters.has(name)) this.addressCount++
        const counter = this.named(name)
        counter.taken = Math.max(counter.taken, calls + counter.unwritten)
      }
    } catch (error) {
      this.reportFailure(error)
    }
  }

  private reportFailure(error: unknown): void {
    if (!this.isFailing) this.options.onFailure?.(error)
    this.isFailing = true
  }

  private ownLimit(principal: Principal): number | null {
    const { anonymous, user } = this.options.limits
    return principal.type === 'user' ? (principal.quota ?? user) : anonymous
  }

  /** Users are counted in any case, for a limit may be given to them at any time. */
  private ownCounter(principal: Principal, address: string): Counter | null {
    if (principal.type === 'user') return this.named(`user:${principal.id}`)
    return this.options.limits.anonymous === null ? null : this.addressCounter(addressSubject(address))
  }

  private addressCounter(subject: string): Counter {
    const known = this.addresses.get(subject)
    if (known !== undefined) return known
    const name = `${ADDRESS}${this.pseudonym(subject)}`
    if (!this.counters.has(name)) {
      if (this.addressCount >= (this.options.maxAddresses ?? MAX_ADDRESSES)) return this.named('addresses')
      this.addressCount++
    }
    const counter = this.named(name)
    this.addresses.set(subject, counter)
    return counter
  }

  private named(name: string): Counter {
    const known = this.counters.get(name)
    if (known !== undefined) return known
    const counter = { name, taken: 0, unwritten: 0 }
    this.counters.set(name, counter)
    return counter
  }

  /** 128 bits that tell addresses of a day apart, and are others on another day. */
  private pseudonym(subject: string): string {
    const hash = createHmac('sha256', this.options.secret).update(
      `calls of ${dayText(this.day)} by ${subject}`,
    )
    return hash.digest().subarray(0, 16).toString('base64url')
  }
}

function dayText(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10)
}

/** What counts calls. */
export type CallTaker = Pick<Quotas, 'take' | 'giveBack'>
