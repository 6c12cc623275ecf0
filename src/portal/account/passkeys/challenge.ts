import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Milliseconds that a page with a challenge may be open. */
const LIFE = 15 * 60_000

/** Bytes of a challenge: random ones (Web Authentication, section 13.4.3), until when it holds, and the seal. */
const [SALT, MOMENT, SEAL] = [16, 6, 32]

/**
 * A challenge that is known again without being stored; in base64url.
 *
 * @param bound what it is for: the session of who registers a passkey, or the cookie of the log-in form
 */
export function makeChallenge(secret: Buffer, bound: string, now: number): string {
  const head = Buffer.alloc(SALT + MOMENT)
  randomBytes(SALT).copy(head)
  head.writeUIntBE(Math.floor(now) + LIFE, SALT, MOMENT)
  return Buffer.concat([head, seal(secret, bound, head)]).toString('base64url')
}

/** Until when a challenge holds, in milliseconds since 1970; null for one of another place, or that holds no more. */
export function readChallenge(secret: Buffer, bound: string, given: string, now: number): number | null {
  const bytes = Buffer.from(given, 'base64url')
  if (bytes.length !== SALT + MOMENT + SEAL) return null
  const head = bytes.subarray(0, SALT + MOMENT)
  if (!timingSafeEqual(bytes.subarray(SALT + MOMENT), seal(secret, bound, head))) return null
  const expires = head.readUIntBE(SALT, MOMENT)
  return expires > now ? expires : null
}

function seal(secret: Buffer, bound: string, head: Buffer): Buffer {
  return createHmac('sha256', secret).update('passkey challenge\n').update(head).update(bound).digest()
}
