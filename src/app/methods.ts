/** Browsers use TLS alone for a year (RFC 6797, section 6.1); for hosts below this one its owner decides. */
export const STRICT_TRANSPORT = 'max-age=31536000'

/** The methods that routes take, by what their configuration says of them. */
export const METHODS = {
  read: 'GET, HEAD, OPTIONS',
  forms: 'GET, HEAD, POST, OPTIONS',
  edit: 'GET, HEAD, POST, PUT, DELETE, OPTIONS',
} as const

export const EXPOSED =
  'ETag, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy, RateLimit, Server-Timing, Content-Disposition, Link, Retry-After'

/** Headers that clients of the APIs are known to send. */
const ALLOWED =
  'Authorization, If-None-Match, Accept, Accept-Language, Accept-Datetime, Content-Type, ODS-API-Analytics-App, ODS-Widgets-Version'
const ALLOWED_NAMES: ReadonlySet<string> = new Set(ALLOWED.toLowerCase().split(', '))

/** Names that a preflight may ask for beside these, and characters of each. */
const MAX_REQUESTED = 20
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,60}$/

/**
 * The answer to a preflight. Every header may be sent, since no answer is readable by virtue of a cookie: the origin that
 * is allowed is `*`, with which browsers send no credentials of their own (Fetch standard, "CORS protocol and credentials").
 */
export function preflight(requested: string | undefined) {
  const names = (requested ?? '').split(',').map(name => name.trim())
  const others = names.filter(name => HEADER_NAME.test(name) && !ALLOWED_NAMES.has(name.toLowerCase()))
  return {
    'access-control-allow-headers': [ALLOWED, ...others.slice(0, MAX_REQUESTED)].join(', '),
    'access-control-max-age': '86400',
    vary: 'Access-Control-Request-Headers',
  }
}
