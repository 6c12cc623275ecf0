import { createHmac } from 'node:crypto'
import type { CallCounts } from '../accounts/accounts.ts'
import { memoised } from '../model/memoised.ts'
import type { Principal } from '../model/principal.ts'
import { addressSubject } from './client-address.ts'

/** Default calls a day of the whole portal. */
export const DAILY_CALLS = 10_000_000

/** Maximum calls a UTC day: of the whole portal, of an anonymous address and of a user; null for no limit of their own. */
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

/** What remains, after a call, of the applicable limit that is nearest to exhaustion. */
export interface Allowance {
  readonly kind: keyof QuotaLimits
  /** Maximum calls a day. */
  readonly limit: number
  readonly remaining: number
  /** Milliseconds since 1970 at which the next day begins. */
  readonly reset: number
  /** Seconds until then, at least one. */
  readonly wait: number
  /** True if this call exceeds the limit; then it is not counted. */
  readonly isExceeded: boolean
}

export interface QuotasOptions {
  readonly limits: QuotaLimits
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Where counts are stored; null if they last only as long as the process. */
  readonly counts: CallCounts | null
  /** The secret that addresses are hashed with before they are stored. */
  readonly secret: Buffer
  /** Called once with the error when reading or writing counts begins to fail; calls are still answered. */
  readonly onFailure?: (error: unknown) => void
  /** Maximum number of addresses that are distinguished in a day. */
  readonly maxAddresses?: number
}

interface Counter {
  readonly name: string
  /** The count known to this process: counts of others are added when ours are written. */
  taken: number
  /** Calls of this process that are not written yet. */
  unwritten: number
}

const DAY = 86_400_000
/** Milliseconds from a call until its count is written: less than a second including the delay of a timer. */
const WRITTEN_WITHIN = 800
const MAX_ADDRESSES = 200_000
const ADDRESS = 'address:'

/**
 * Counts the calls of a day, from one midnight UTC to the next: of the portal, of each user, and of each anonymous address
 * if those have a limit (REST 8.1). Counts are exact in memory and are added to the stored counts soon after, so that a restart
 * continues with them and a crash loses a second. If several processes share the stored counts, each gets the sum when it adds
 * its own: a limit may be exceeded by the calls of others within that second.
 *
 * Addresses are stored as keyed pseudonyms, at most 200,000 of them a day; later ones share one count. If the clock is
 * set back by less than a day, the current day continues.
 */
export class Quotas {
  private readonly options: QuotasOptions
  /** Days since 1970. */
  private day = Number.NaN
  private domain: Counter = { name: 'domain', taken: 0, unwritten: 0 }
  private readonly counters = new Map<string, Counter>()
  /** The counters of addresses that have called since the process started, by address subject. */
  private readonly addresses = new Map<string, Counter>()
  private addressCount = 0
  private readonly changed = new Set<Counter>()
  private timer: NodeJS.Timeout | undefined
  /** The last write that was begun; writes are sequential. */
  private writing: Promise<void> = Promise.resolve()
  private reading: Promise<void> = Promise.resolve()
  private isClosed = false
  private isFailing = false

  constructor(options: QuotasOptions) {
    this.options = options
  }

  /**
   * Counts one call, if the limits permit it, and returns what remains.
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

  /** Uncounts a call; calls of a day that has ended are ignored. */
  giveBack(principal: Principal, address: string, { reset }: Allowance): void {
    if (reset !== (this.day + 1) * DAY) return
    for (const counter of [this.domain, this.ownCounter(principal, address)])
      if (counter !== null && counter.taken > 0) this.count(counter, -1)
  }

  /** Loads the stored counts of the day, before the first call. */
  async begin(): Promise<void> {
    this.settleDay(this.options.now())
    await this.reading
  }

  /** Writes the calls counted since the last write. */
  flush(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    this.writing = this.writing.then(() => this.write())
    return this.writing
  }

  /** Writes the remaining counts; calls counted afterwards are not written. */
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
      // Counts of a day that has ended meanwhile are dropped.
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

  /** Adds the stored counts, of earlier and other processes, to those of this process. */
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

  /** Users are always counted, for a limit may be configured for them at any time. */
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
    return memoised(this.counters, name, () => ({ name, taken: 0, unwritten: 0 }))
  }

  /** 128 bits that distinguish the addresses of a day, and differ from day to day. */
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

/** The part of the quotas that counts calls. */
export type CallTaker = Pick<Quotas, 'take' | 'giveBack'>
