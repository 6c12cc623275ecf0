import type { IncomingHttpHeaders } from 'node:http'
import { parse, serialize } from 'cookie'
import { lookup } from '../model/lookup.ts'

/**
 * The purpose of a cookie: the session of a signed-in user, the sign-in form before that, a device with an earlier sign-in, a
 * sign-in at a provider in progress, and one there that succeeded.
 */
export type CookiePurpose = 'session' | 'login' | 'device' | 'openid' | 'saml' | 'saml-end'

/** The syntax of our tokens; other values of a cookie are ignored. */
const TOKEN = /^[\w-]{16,200}$/

/** The cookie of a SAML sign-in contains its target, for the relay state has only 80 bytes. */
const LONG_TOKEN = /^[\w-]{16,4000}$/

/** Where the cookies of a portal are sent. */
export interface CookieScope {
  /** True if the portal is served by TLS. */
  readonly secure: boolean
  /** The path of the base address: other applications of the host do not get the cookies (RFC 6265, section 4.1.2.4). */
  readonly path: string
}

export function cookieScope(base: string): CookieScope {
  const { protocol, pathname } = new URL(base)
  return { secure: protocol === 'https:', path: pathname.replace(/\/+$/, '') || '/' }
}

/** The token that a cookie of ours carries; null for none. */
export function readCookie(
  { cookie }: IncomingHttpHeaders,
  purpose: CookiePurpose,
  scope: CookieScope,
): string | null {
  if (cookie === undefined) return null
  const token = lookup(parse(cookie), nameOf(purpose, scope)) ?? ''
  return (purpose === 'saml' ? LONG_TOKEN : TOKEN).test(token) ? token : null
}

/**
 * A Set-Cookie header.
 *
 * @param maxAge seconds; without it the cookie lasts until the browser is closed
 */
export function setCookie(
  purpose: CookiePurpose,
  token: string,
  { scope, maxAge }: { readonly scope: CookieScope; readonly maxAge?: number },
): string {
  return serialize(nameOf(purpose, scope), token, {
    path: scope.path,
    httpOnly: true,
    // A link from an application to its consent page carries the session, forms of other sites do not.
    sameSite: 'lax',
    secure: scope.secure,
    ...(maxAge === undefined ? {} : { maxAge: Math.max(0, Math.floor(maxAge)) }),
  })
}

/** The Set-Cookie header that deletes a cookie. */
export function clearedCookie(scope: CookieScope, purpose: CookiePurpose = 'session'): string {
  return setCookie(purpose, '', { scope, maxAge: 0 })
}

/**
 * With TLS, the name has a prefix that browsers accept with TLS only: `__Host-`, which no other host can set, but which is limited
 * to the path `/`, or `__Secure-` (RFC 6265bis, section 4.1.3).
 */
function nameOf(purpose: CookiePurpose, { secure, path }: CookieScope): string {
  const prefix = path === '/' ? '__Host-' : '__Secure-'
  return `${secure ? prefix : ''}lodestone-${purpose}`
}
