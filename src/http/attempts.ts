import { createHash } from 'node:crypto'
import { addressSubject } from './client-address.ts'

const MINUTE = 60_000

/** An attempt to be recognised: it counts as failed from the moment it begins until it is known to be none. */
export type Attempt =
  | {
      readonly type: 'allowed'
      /** The secret was right: failures of this account at this address are forgotten, all others stand. */
      readonly succeed: () => void
      /** The secret was not looked at. */
      readonly withdraw: () => void
    }
  /** Nothing may be tried until then, in milliseconds since 1970. */
  | { readonly type: 'blocked'; readonly until: number }

export interface AttemptLimits {
  /** Failures of an account from one address. */
  readonly pair: number
  /** Failures of an account from anywhere. */
  readonly account: number
  /** Failures from one address. */
  readonly address: number
}

/** For passwords, which people choose. */
export const PASSWORD_LIMITS: AttemptLimits = { pair: 5, account: 20, address: 50 }

/**
 * For random secrets of applications, which cannot be guessed. The identifier of an application is known to everybody, so
 * strangers elsewhere cannot keep it out.
 */
export const SECRET_LIMITS: AttemptLimits = { pair: 20, account: Number.POSITIVE_INFINITY, address: 200 }

/** Accounts and addresses that are remembered; of more, those that were longest not seen are forgotten. */
const MOST_REMEMBERED = 100_000

/**
 * Limits how often secrets are guessed, in memory: failures of the last 15 minutes are counted by account, by address and
 * by both. An attempt counts before the secret is looked at, so that a thousand guesses at once are not tried either.
 * Accounts that do not exist count alike.
 */
export class Attempts {
  private readonly limits: AttemptLimits
  private readonly now: () => number
  private readonly window: number
  private readonly most: number
  /** Moments of failures by what they count for, least recently touched first. */
  private readonly failures = new Map<string, number[]>()

  constructor(
    limits: AttemptLimits,
    now: () => number,
    {
      window = 15 * MINUTE,
      most = MOST_REMEMBERED,
    }: { readonly window?: number; readonly most?: number } = {},
  ) {
    this.limits = limits
    this.now = now
    this.window = window
    this.most = most
  }

  /** Counts an attempt, where it is allowed. */
  begin(account: string, address: string): Attempt {
    const now = this.now()
    const network = addressSubject(address)
    const name = account.normalize('NFKC').trim().toLowerCase()
    const pair = keyOf('pair', name, network)
    const limits: readonly (readonly [string, number])[] = [
      [pair, this.limits.pair],
      [keyOf('account', name), this.limits.account],
      [keyOf('address', network), this.limits.address],
    ]
    const counted = limits.filter(([, limit]) => Number.isFinite(limit))
    const blocked = counted.flatMap(([key, limit]) => {
      const moments = this.recent(key, now)
      return moments.length < limit ? [] : [(moments[moments.length - limit] ?? now) + this.window]
    })
    if (blocked.length > 0) return { type: 'blocked', until: Math.max(...blocked) }
    for (const [key] of counted) this.note(key, now)
    const withdraw = () => {
      for (const [key] of counted) this.forget(key, now)
    }
    return {
      type: 'allowed',
      withdraw,
      succeed: () => {
        withdraw()
        this.failures.delete(pair)
      },
    }
  }

  private recent(key: string, now: number): readonly number[] {
    const moments = this.failures.get(key)?.filter(moment => moment > now - this.window) ?? []
    if (moments.length === 0) this.failures.delete(key)
    else this.failures.set(key, moments)
    return moments
  }

  private note(key: string, now: number): void {
    const moments = this.failures.get(key) ?? []
    this.failures.delete(key)
    this.failures.set(key, [...moments, now])
    if (this.failures.size <= this.most) return
    const [oldest] = this.failures.keys()
    if (oldest !== undefined) this.failures.delete(oldest)
  }

  private forget(key: string, moment: number): void {
    const moments = this.failures.get(key) ?? []
    const at = moments.lastIndexOf(moment)
    if (at < 0) return
    if (moments.length === 1) this.failures.delete(key)
    else this.failures.set(key, moments.toSpliced(at, 1))
  }
}

/** Digests, so that long names take no more memory and names are not kept. */
function keyOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64')
}
