import { createHash } from 'node:crypto'
import type { Failures } from '../accounts/failures.ts'
import { type MaybePromise, thenMaybe } from '../accounts/maybe-promise.ts'
import { addressSubject } from './client-address.ts'

const MINUTE = 60_000

/** How many failures there may be within so many milliseconds. */
export interface AttemptLimit {
  readonly failures: number
  readonly within: number
}

/** An attempt to be recognised: it counts as failed from the moment it begins until it is known to be none. */
export type Attempt =
  | {
      readonly type: 'allowed'
      /** The secret was right: failures of this account at this address are forgotten, all others stand. */
      readonly succeed: () => MaybePromise<void>
      /** The secret was not looked at. */
      readonly withdraw: () => MaybePromise<void>
    }
  /** Nothing may be tried until then, in milliseconds since 1970. */
  | { readonly type: 'blocked'; readonly until: number }

export interface AttemptLimits {
  /** What is guessed: each is counted for itself. */
  readonly secret: 'password' | 'client secret' | 'second factor' | 'assertion' | 'passkey'
  /** Failures of an account from one address: each limit blocks for longer than the one before. */
  readonly pair: readonly AttemptLimit[]
  /** Failures from one address. */
  readonly address: readonly AttemptLimit[]
}

/** For passwords, which people choose: a minute after five, a quarter of an hour after ten, an hour after twenty. */
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
 * For codes of six digits, of which three are valid at a time: twenty guesses an hour find one in 16,000 hours. Only somebody
 * with the password gets this far.
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
 * Limits how often secrets are guessed: failures are counted by address, and by account and address, by all who share the
 * accounts. What others do with the name of an account never keeps its owner out, so nothing is counted by
 * account alone; and who has signed in before on a device is counted by that device, whatever others do at his address. An
 * attempt counts before the secret is looked at, so that a thousand guesses at once are not
 * tried either. Accounts that do not exist count alike.
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
   * Counts an attempt, where it is allowed. Faults: AccountsUnavailable.
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

/** Digests, so that long names take no more memory and names are not stored. */
function keyOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64')
}
