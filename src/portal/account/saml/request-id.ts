import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** Milliseconds that a person has to sign in at the provider. */
export const REQUEST_LIFE = 600_000

/** Names a browser by its cookie, without revealing the cookie. */
export function browserOf(cookie: string): string {
  return createHash('sha256').update(`saml browser\n${cookie}`).digest('base64url').slice(0, 32)
}

/**
 * The ID of a request (SAML 2.0 Core, section 1.3.4): until when it may be answered, and for which browser, sealed. So any of
 * several servers knows its own requests again, and none has to remember them.
 */
export function requestId(secret: Buffer, browser: string, expires: number): string {
  const moment = Math.floor(expires).toString(36)
  return `_${moment}.${browser}.${seal(secret, browser, moment)}`
}

/** What the ID of a request says; null for one that was not made here, or is out of date. */
export function readRequestId(
  secret: Buffer,
  id: string,
  now: number,
): { readonly browser: string; readonly expires: number } | null {
  const [, moment = '', browser = '', given = ''] =
    /^_([0-9a-z]{1,11})\.([\w-]{32})\.([\w-]{43})$/.exec(id) ?? []
  const [found, expected] = [Buffer.from(given), Buffer.from(seal(secret, browser, moment))]
  if (found.length !== expected.length || !timingSafeEqual(found, expected)) return null
  const expires = Number.parseInt(moment, 36)
  return expires > now ? { browser, expires } : null
}

function seal(secret: Buffer, browser: string, moment: string): string {
  return createHmac('sha256', secret).update(`saml request\n${browser}\n${moment}`).digest('base64url')
}
