import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Bytes that make every token another one, so that compression of pages tells nothing of it. */
const SALT = 12

/**
 * The token of a form: who did not get the page cannot make one, for other sites cannot read our pages.
 *
 * @param bound what the form belongs to: the token of a session, or of the cookie of the log-in form
 */
export function formToken(secret: Buffer, bound: string, salt: Buffer = randomBytes(SALT)): string {
  return Buffer.concat([salt, seal(secret, bound, salt)]).toString('base64url')
}

/** True for a token of a form that belongs to the same; compared in constant time. */
export function isFormToken(secret: Buffer, bound: string, given: string | undefined): boolean {
  const bytes = Buffer.from(given ?? '', 'base64url')
  const expected = seal(secret, bound, bytes.subarray(0, SALT))
  const found = bytes.subarray(SALT)
  return found.length === expected.length && timingSafeEqual(found, expected)
}

function seal(secret: Buffer, bound: string, salt: Buffer): Buffer {
  return createHmac('sha256', secret).update('form\n').update(salt).update(bound).digest()
}

/**
 * False where a browser says that a form was sent from another site. Browsers tell the origin with every form that is
 * posted; programs need not. The origin is ours where it is that of the base address, or of the address that was asked.
 */
export function isOwnOrigin(headers: IncomingHttpHeaders, base: string): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const url = new URL(origin)
  return (
    url.origin === new URL(base).origin || (host !== undefined && url.host === hostOf(host, url.protocol))
  )
}

function hostOf(host: string, protocol: string): string | null {
  return URL.canParse(`${protocol}//${host}`) ? new URL(`${protocol}//${host}`).host : null
}
