import type { IncomingHttpHeaders } from 'node:http'
import { parse, serialize } from 'cookie'
import { lookup } from '../model/lookup.ts'

/**
 * What a cookie is for: the session of who is signed in, the log-in form of who is not yet, a device where he was, a sign-in
 * at a provider, and one there that succeeded.
 */
export type CookiePurpose = 'session' | 'login' | 'device' | 'openid' | 'saml' | 'saml-end'

/** What our tokens look like; whatever else a cookie carries is none. */
const TOKEN = /^[\w-]{16,200}$/

/** Where a sign-in by SAML leads is in its cookie, for only 80 bytes of it may travel through the provider. */
const LONG_TOKEN = /^[\w-]{16,3000}$/

/**
 * The token that a cookie of ours carries; null for none.
 *
 * @param isSecure true where the portal is reached by TLS: then only a cookie counts that no other host can have set
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

/** The token of a session that a request brings; null for none. */
export function readSessionToken(headers: IncomingHttpHeaders, isSecure: boolean): string | null {
  return readCookie(headers, 'session', isSecure)
}

/**
 * A Set-Cookie header.
 *
 * @param maxAge seconds; without it the cookie lives as long as the browser runs
 */
export function setCookie(
  purpose: CookiePurpose,
  token: string,
  { secure, maxAge }: { readonly secure: boolean; readonly maxAge?: number },
): string {
  return serialize(nameOf(purpose, secure), token, {
    path: '/',
    httpOnly: true,
    // Who follows a link of an application to its consent page brings his session, other sites' forms do not.
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

/** The Set-Cookie header that takes a cookie away. */
export function clearedCookie(secure: boolean, purpose: CookiePurpose = 'session'): string {
  return setCookie(purpose, '', { secure, maxAge: 0 })
}

function nameOf(purpose: CookiePurpose, isSecure: boolean): string {
  return `${isSecure ? '__Host-' : ''}lodestone-${purpose}`
}
