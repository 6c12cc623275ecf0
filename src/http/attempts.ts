import { createHash } from 'node:crypto'
import { type MaybePromise, thenMaybe } from '../accounts/database.ts'
import type { Failures } from '../accounts/failures.ts'
import { addressSubject } from './client-address.ts'

const MINUTE = 60_000

/** The maximum number of failures within a number of milliseconds. */
export interface AttemptLimit {
  readonly failures: number
  readonly within: number
}

/** An attempt to authenticate: it counts as failed from its start until it succeeds or is withdrawn. */
export type Attempt =
  | {
      readonly type: 'allowed'
      /** The secret was right: resets the failures of this account at this address, but no others. */
      readonly succeed: () => MaybePromise<void>
      /** The secret was not checked. */
      readonly withdraw: () => MaybePromise<void>
    }
  /** Attempts are refused until then, in milliseconds since 1970. */
  | { readonly type: 'blocked'; readonly until: number }

export interface AttemptLimits {
  /** The kind of secret; each kind is counted separately. */
  readonly secret: 'password' | 'client secret' | 'second factor' | 'assertion' | 'passkey'
  /** Failures of an account from one address: each limit blocks for longer than the one before. */
  readonly pair: readonly AttemptLimit[]
  /** Failures from one address. */
  readonly address: readonly AttemptLimit[]
}

/** For passwords, which people choose: blocked for a minute after 5 failures, 15 minutes after 10, an hour after 20. */
export const PASSWORD_LIMITS: AttemptLimits = {
  secret: 'password',
  pair: [
    { failures: 5, within: MINUTE },
    { failures: 10, within: 15 * MINUTE },
    { failures: 20, within: 60 * MINUTE },
  ],
  address: [{ failures: 50, within: 15 * MINUTE }],
}

/**
 * For codes of six digits, of which three are valid at a time: twenty guesses an hour find one in 16,000 hours. Only a user
 * who knows the password gets this far.
 */
export const SECOND_FACTOR_LIMITS: AttemptLimits = { ...PASSWORD_LIMITS, secret: 'second factor' }

/** For random secrets of applications, which cannot be guessed. */
export const SECRET_LIMITS: AttemptLimits = {
  secret: 'client secret',
  pair: [{ failures: 20, within: 15 * MINUTE }],
  address: [{ failures: 200, within: 15 * MINUTE }],
}

/** For signed assertions, which cannot be guessed but cost work to check. */
export const ASSERTION_LIMITS: AttemptLimits = { ...SECRET_LIMITS, secret: 'assertion' }

/** For signatures of passkeys, which cannot be guessed either. */
export const PASSKEY_LIMITS: AttemptLimits = { ...SECRET_LIMITS, secret: 'passkey' }

/**
 * Limits how often secrets are guessed: failures are counted by address, and by account and address, across all processes
 * that share the accounts. Nothing is counted by account alone, so that others cannot lock out its owner; on a device where
 * the account was signed in before, failures are counted by that device, independent of the address. An attempt counts before
 * the secret is checked, so that a thousand concurrent guesses are not tried either. Accounts that do not exist are counted in
 * the same way.
 */
export class Attempts {
  private readonly limits: AttemptLimits
  private readonly failures: Failures
  private readonly now: () => number

  constructor(limits: AttemptLimits, failures: Failures, now: () => number) {
    this.limits = limits
    this.failures = failures
    this.now = now
  }

  /**
   * Counts an attempt, if it is allowed. Faults: AccountsUnavailable.
   *
   * @param device names a device on which the account was signed in before; null for any other
   */
  begin(account: string, address: string, device: string | null = null): MaybePromise<Attempt> {
    const now = Math.floor(this.now())
    const network = addressSubject(address)
    const name = account.normalize('NFKC').trim().toLowerCase()
    const { secret, pair, address: anyAccount } = this.limits
    const own = device === null ? keyOf(secret, 'pair', name, network) : keyOf(secret, 'device', name, device)
    const ofAddress = device === null ? anyAccount : []
    const counted = [
      ...pair.map(limit => ({ subject: own, limit: limit.failures, within: limit.within })),
      ...ofAddress.map(limit => ({
        subject: keyOf(secret, 'address', network),
        limit: limit.failures,
        within: limit.within,
      })),
    ]
    const subjects = [...new Set(counted.map(({ subject }) => subject))]
    const withdraw = () => this.failures.withdraw(subjects, now)
    return thenMaybe(this.failures.begin(counted, now), until =>
      until === null
        ? {
            type: 'allowed',
            withdraw,
            succeed: () => thenMaybe(withdraw(), () => this.failures.forget(own)),
          }
        : { type: 'blocked', until },
    )
  }
}

/** A digest, so that long names take no more memory and names are not stored. */
function keyOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64')
}
