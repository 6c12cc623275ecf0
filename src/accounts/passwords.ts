import { scrypt, timingSafeEqual } from 'node:crypto'
import { Fault } from '../errors/errors.ts'
import { refuseWaiting, takeNext } from '../runtime/fair-queue.ts'
import { currentClient, type WorkClient } from '../runtime/work-client.ts'
import { isCommonPassword } from './common-passwords.ts'
import { TOO_MANY_ATTEMPTS } from './faults.ts'
import { folded, invalidName } from './names.ts'
import type { RandomBytes } from './secrets.ts'

/** Minimum and maximum characters of a password. */
export const PASSWORD_LENGTH = { least: 10, most: 1000 } as const

/** Cost of scrypt (RFC 7914): N is two to this power, 32 MiB a password. */
const COST = { power: 15, blockSize: 8, parallel: 1 } as const
const SALT_BYTES = 16
const HASH_BYTES = 32
const MAX_MEMORY = 256 * 1024 * 1024

/** Maximum passwords that are hashed concurrently, and that may wait. */
const MAX_CONCURRENT = 2
const WAITING = 100

/** Hashes of passwords: `scrypt$power$blockSize$parallel$salt$hash`, the last two in base64url. */
export interface Passwords {
  /** Faults: AccountInvalid for a password that is too short, too long or common; TooManyAttempts. */
  hash(password: string): Promise<string>
  /**
   * True if the password matches the hash. Without a hash it takes as long and is false. Faults: TooManyAttempts if too many
   * wait.
   */
  verify(password: string, stored: string | null): Promise<boolean>
}

/** @param power cost of new hashes, and of comparing without one */
export function createPasswords(randomBytes: RandomBytes, power: number = COST.power): Passwords {
  const queue = createQueue()
  const derive = (password: string, stored: Stored) => queue(() => derived(password, stored))
  const dummy: Stored = {
    ...COST,
    power,
    salt: Buffer.from(randomBytes(SALT_BYTES)),
    hash: Buffer.alloc(HASH_BYTES),
  }
  return {
    hash: async password => {
      checkPasswordStrength(password)
      const fresh = { ...dummy, salt: Buffer.from(randomBytes(SALT_BYTES)) }
      return textOf({ ...fresh, hash: await derive(password, fresh) })
    },
    verify: async (password, stored) => {
      const known = stored === null ? null : parse(stored)
      const possible = password.length <= 2 * PASSWORD_LENGTH.most
      const hash = await derive(possible ? password : '', known ?? dummy)
      return timingSafeEqual(hash, known?.hash ?? dummy.hash) && known !== null && possible
    },
  }
}

/**
 * Refuses passwords that are too short, too long, or common (NIST SP 800-63B, section 3.1.1.2). Faults: AccountInvalid, which
 * never contains the password.
 *
 * @param name of the user, which is refused as a password
 */
export function checkPasswordStrength(password: string, name = ''): void {
  const length = [...password.normalize('NFC')].length
  const { least, most: max } = PASSWORD_LENGTH
  if (length < least || length > max) {
    const found = `${length} ${length === 1 ? 'character was' : 'characters were'} found`
    const reason = `A password has ${least} to ${max} characters: ${found}`
    throw invalidName(reason)
  }
  if (isCommonPassword(password) || folded(password) === folded(name)) {
    const reason =
      'This password is too common: it would be among the first to be guessed. Take several words that do not belong together'
    throw invalidName(reason)
  }
}

interface Stored {
  readonly power: number
  readonly blockSize: number
  readonly parallel: number
  readonly salt: Buffer
  readonly hash: Buffer
}

function textOf({ power, blockSize, parallel, salt, hash }: Stored): string {
  return ['scrypt', power, blockSize, parallel, salt.toString('base64url'), hash.toString('base64url')].join(
    '$',
  )
}

function parse(text: string): Stored {
  const [kind, power, blockSize, parallel, salt, hash] = text.split('$')
  if (kind !== 'scrypt' || salt === undefined || hash === undefined)
    throw new Error('a password was hashed in a way that is not known')
  return {
    power: Number(power),
    blockSize: Number(blockSize),
    parallel: Number(parallel),
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  }
}

function derived(password: string, { power, blockSize, parallel, salt, hash }: Stored): Promise<Buffer> {
  const cost = { N: 2 ** power, r: blockSize, p: parallel, maxmem: MAX_MEMORY }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, hash.length, cost, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}

/** A queue with low concurrency, so that the threads of the process are free for other work; fair between clients. */
function createQueue(): (work: () => Promise<Buffer>) => Promise<Buffer> {
  let running = 0
  const waiting: { readonly client: WorkClient | null; readonly begin: () => void }[] = []
  return async work => {
    const client = currentClient()
    if (running >= MAX_CONCURRENT) {
      try {
        refuseWaiting(waiting, client, WAITING)
      } catch {
        const reason = 'Too many passwords are being checked. Try again in a moment'
        throw new Fault(TOO_MANY_ATTEMPTS, { reason })
      }
      await new Promise<void>(begin => waiting.push({ client, begin }))
    } else running++
    const begun = performance.now()
    try {
      return await work()
    } finally {
      client?.spend(performance.now() - begun)
      const next = takeNext(waiting, () => true)
      if (next === null) running--
      else next.begin()
    }
  }
}
