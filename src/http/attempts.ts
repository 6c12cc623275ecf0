import { createHash } from 'node:crypto'
import type { Failures } from '../accounts/failures.ts'
import { type Soon, soonThen } from '../accounts/soon.ts'
import { addressSubject } from './client-address.ts'

/** Milliseconds for which a failure counts. */
const WINDOW = 15 * 60_000

/** An attempt to be recognised: it counts as failed from the moment it begins until it is known to be none. */
export type Attempt =
  | {
      readonly type: 'allowed'
      /** The secret was right: failures of this account at this address are forgotten, all others stand. */
      readonly succeed: () => Soon<void>
      /** The secret was not looked at. */
      readonly withdraw: () => Soon<void>
    }
  /** Nothing may be tried until then, in milliseconds since 1970. */
  | { readonly type: 'blocked'; readonly until: number }

export interface AttemptLimits {
  /** What is guessed: each is counted for itself. */
  readonly secret: 'password' | 'client secret'
  /** Failures of an account from one address. */
  readonly pair: number
  /** Failures of an account from anywhere. */
  readonly account: number
  /** Failures from one address. */
  readonly address: number
}

/** For passwords, which people choose. */
export const PASSWORD_LIMITS: AttemptLimits = { secret: 'password', pair: 5, account: 20, address: 50 }

/**
 * For random secrets of applications, which cannot be guessed. The identifier of an application is known to everybody, so
 * strangers elsewhere cannot keep it out.
 */
export const SECRET_LIMITS: AttemptLimits = {
  secret: 'client secret',
  pair: 20,
  account: Number.POSITIVE_INFINITY,
  address: 200,
}

/**
 * Limits how often secrets are guessed: failures of the last 15 minutes are counted by account, by address and by both, by
 * all who share the accounts. An attempt counts before the secret is looked at, so that a thousand guesses at once are not
 * tried either. Accounts that do not exist count alike.
 */
export class Attempts {
  readonly #limits: AttemptLimits
  readonly #failures: Failures
  readonly #now: () => number

  constructor(limits: AttemptLimits, failures: Failures, now: () => number) {
    this.#limits = limits
    this.#failures = failures
    this.#now = now
  }

  /** Counts an attempt, where it is allowed. Faults: AccountsUnavailable. */
  begin(account: string, address: string): Soon<Attempt> {
    const now = Math.floor(this.#now())
    const network = addressSubject(address)
    const name = account.normalize('NFKC').trim().toLowerCase()
    const { secret } = this.#limits
    const pair = keyOf(secret, 'pair', name, network)
    const counted = [
      { subject: pair, limit: this.#limits.pair },
      { subject: keyOf(secret, 'account', name), limit: this.#limits.account },
      { subject: keyOf(secret, 'address', network), limit: this.#limits.address },
    ].filter(({ limit }) => Number.isFinite(limit))
    const subjects = counted.map(({ subject }) => subject)
    const withdraw = () => this.#failures.withdraw(subjects, now)
    return soonThen(this.#failures.begin(counted, now, now - WINDOW), last =>
      last === null
        ? {
            type: 'allowed',
            withdraw,
            succeed: () => soonThen(withdraw(), () => this.#failures.forget(pair)),
          }
        : { type: 'blocked', until: last + WINDOW },
    )
  }
}

/** Digests, so that long names take no more memory and names are not kept. */
function keyOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64')
}
