import type { IncomingHttpHeaders } from 'node:http'
import { parse, serialize } from 'cookie'
import { lookup } from '../model/lookup.ts'

/**
 * The purpose of a cookie: the session of a signed-in user, the log-in form before that, a device with an earlier sign-in, a
 * sign-in at a provider in progress, and one there that succeeded.
 */
export type CookiePurpose = 'session' | 'login' | 'device' | 'openid' | 'saml' | 'saml-end'

/** The syntax of our tokens; other values of a cookie are ignored. */
const TOKEN = /^[\w-]{16,200}$/

/** The cookie of a SAML sign-in contains its target, for the relay state has only 80 bytes. */
const LONG_TOKEN = /^[\w-]{16,3000}$/

/**
 * The token that a cookie of ours carries; null for none.
 *
 * @param isSecure true if the portal is served by TLS: then only a `__Host-` cookie counts, which no other host can set
 * (RFC 6265bis, section 4.1.3.2)
 */
export function readCookie(
  { cookie }: IncomingHttpHeaders,
  purpose: CookiePurpose,
  isSecure: boolean,
): string | null {
  if (cookie === undefined) return null
  const token = lookup(parse(cookie), nameOf(purpose, isSecure)) ?? ''
  return (purpose === 'saml' ? LONG_TOKEN : TOKEN).test(token) ? token : null
}

/** The session token of a request; null for none. */
export function readSessionToken(headers: IncomingHttpHeaders, isSecure: boolean): string | null {
  return readCookie(headers, 'session', isSecure)
}

/**
 * A Set-Cookie header.
 *
 * @param maxAge seconds; without it the cookie lasts until the browser is closed
 */
export function setCookie(
  purpose: CookiePurpose,
  token: string,
  { secure, maxAge }: { readonly secure: boolean; readonly maxAge?: number },
): string {
  return serialize(nameOf(purpose, secure), token, {
    path: '/',
    httpOnly: true,
    // A link from an application to its consent page carries the session, forms of other sites do not.
    sameSite: 'lax',
    secure,
    ...(maxAge === undefined ? {} : { maxAge: Math.max(0, Math.floor(maxAge)) }),
  })
}

/** The Set-Cookie header of a session. */
export function sessionCookie(
  token: string,
  options: { readonly secure: boolean; readonly maxAge: number },
): string {
  return setCookie('session', token, options)
}

/** The Set-Cookie header that deletes a cookie. */
export function clearedCookie(secure: boolean, purpose: CookiePurpose = 'session'): string {
  return setCookie(purpose, '', { secure, maxAge: 0 })
}

function nameOf(purpose: CookiePurpose, isSecure: boolean): string {
  return `${isSecure ? '__Host-' : ''}lodestone-${purpose}`
}
