import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Bytes of a salt that makes every token different, so that compression of pages reveals nothing of it (BREACH). */
const SALT = 12

/**
 * The CSRF token of a form: other sites cannot forge one, for they cannot read our pages.
 *
 * @param bound what the form belongs to: the token of a session, or of the cookie of the log-in form
 */
export function formToken(secret: Buffer, bound: string, salt: Buffer = randomBytes(SALT)): string {
  return Buffer.concat([salt, seal(secret, bound, salt)]).toString('base64url')
}

/** True if a token is bound to the same value; compared in constant time. */
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
 * False if a browser reports that a form was sent from another site. Browsers send the origin with every posted form;
 * programs need not. The origin is ours if it is that of the base address, or of the requested address.
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
