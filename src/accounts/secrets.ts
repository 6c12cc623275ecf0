import { createHash } from 'node:crypto'
import { change, type Database } from './database.ts'

/** Returns a number of random bytes. */
export type RandomBytes = (count: number) => Uint8Array

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Bytes from here on are rejected, for they would make some digits more likely than others. */
const REJECTION_BOUND = 256 - (256 % DIGITS.length)

/** Maximum length of a secret, so that clients cannot have long texts hashed. */
const MAX_LENGTH = 200

/** A random text of A-Z a-z 0-9: 5.95 bits a character. */
export function randomText(randomBytes: RandomBytes, length: number): string {
  let text = ''
  while (text.length < length)
    for (const byte of randomBytes(length))
      if (byte < REJECTION_BOUND && text.length < length) text += DIGITS.charAt(byte % DIGITS.length)
  return text
}

/** The stored form of a secret that is random: nothing slower is needed, for it cannot be guessed. */
export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** The hash of a secret that a client sent; null if it cannot be a secret that was generated here. */
export function hashOfGiven(given: string): Buffer | null {
  return given.length === 0 || given.length > MAX_LENGTH ? null : hashOf(given)
}

/** Values that are accepted once: assertions of identity providers, challenges. Shared with all processes of the accounts. */
export interface SingleUse {
  /**
   * Consumes a value until it expires; false if it was consumed before.
   *
   * @param what identifies it, with its kind; stored as a hash
   * @param expires milliseconds since 1970: the caller refuses it afterwards, so it may be deleted then
   */
  consume(what: string, expires: number): Promise<boolean>
}

const insert = change('INSERT INTO single_use (hash, expires) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING')

export function createSingleUse(database: Database): SingleUse {
  return {
    consume: async (what, expires) =>
      (await database.writeCounts(() => insert(hashOf(what), Math.ceil(expires)))) > 0,
  }
}
