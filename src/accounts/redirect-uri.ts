import { invalidName, shownName } from './names.ts'

/** Maximum characters of a redirect URI, and redirect URIs of an application. */
const REDIRECT_URI_LENGTH = 2000
export const MAX_REDIRECT_URIS = 20

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Refuses URIs that no code may be sent to (RFC 6749, section 3.1.2; RFC 8252, sections 7 and 8.3): relative addresses,
 * fragments, user info, http elsewhere than on this machine, and schemes that are not the application's own. Such a
 * scheme contains a dot, as a reversed domain name does, and requires a public application.
 */
export function checkRedirectUri(uri: string, type: 'confidential' | 'public'): void {
  const reason = refusal(uri, type)
  if (reason !== null) throw invalidName(`The redirect URI ${shownName(uri)} ${reason}`)
}

/** An address of this machine, its port apart from the rest. */
const LOOPBACK_ADDRESS = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::(\d{1,5}))?((?:[/?].*)?)$/s

/**
 * True if a code may be sent to a URI: it equals one that the application registered, character by character. For an http
 * address of this machine the port is ignored, for a local application listens on any free one (RFC 8252, section 7.3;
 * RFC 9700, section 4.1.3).
 */
export function isRegisteredUri(given: string, registered: readonly string[]): boolean {
  if (registered.includes(given)) return true
  const required = withoutPort(given)
  return required !== null && registered.some(uri => withoutPort(uri) === required)
}

/** An http address of this machine without its port; null for any other. */
function withoutPort(uri: string): string | null {
  const [, origin, port, rest = ''] = LOOPBACK_ADDRESS.exec(uri) ?? []
  const isPort = port === undefined || (Number(port) > 0 && Number(port) < 65_536)
  return origin === undefined || !isPort ? null : origin + rest
}

function refusal(uri: string, type: 'confidential' | 'public'): string | null {
  if (uri.length > REDIRECT_URI_LENGTH)
    return `has ${uri.length} characters: at most ${REDIRECT_URI_LENGTH} are taken`
  if (!/^[\x21-\x7e]+$/.test(uri) || /[\\"<>^`{|}]/.test(uri)) return 'has characters that a URI cannot have'
  if (uri.includes('#')) return 'has a fragment'
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri))
    return 'is relative: it begins with https:// where it is absolute'
  if (!URL.canParse(uri)) return 'cannot be read'
  const { protocol, hostname, username, password, pathname } = new URL(uri)
  if (username !== '' || password !== '' || /^[^:]+:\/\/[^/?]*@/.test(uri)) return 'has user info'
  if (protocol === 'https:' || protocol === 'http:') {
    if (!/^https?:\/\/[^/?]/i.test(uri) || hostname === '') return 'names no host'
    if (protocol === 'http:' && !LOOPBACK.has(hostname))
      return 'is http, which only localhost may have: use https'
    return null
  }
  if (!protocol.includes('.')) return `has the scheme ${protocol} which is not taken: use https`
  if (type === 'confidential') return 'has a scheme of its own, which only a public application can have'
  return hostname === '' && pathname === '' ? 'names nothing after its scheme' : null
}
