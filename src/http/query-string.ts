import { BAD_REQUEST, Fault } from '../errors/errors.ts'
import { lookup, setMember } from '../model/lookup.ts'

/** Query parameters by name, each with all its values in order. */
export type QueryParameters = Readonly<Record<string, string | string[]>>

/** Marks a query that the parser could not decode: it runs where nothing may be thrown. */
const DAMAGED = Symbol('damaged')

interface ParsedQuery {
  [name: string]: string | string[]
  [DAMAGED]?: { readonly piece: string; readonly parameter: string }
}

/**
 * Parses a query string. A percent sign that begins no escape is literal, as in the URL standard: browsers send `like '38%'`
 * unescaped. Escapes that are not UTF-8 are reported by {@link refuseDamaged} instead of being replaced, so that a damaged
 * filter never becomes a different one.
 */
export function parseQueryString(text: string): ParsedQuery {
  return parsePairs(text, parseQueryValue)
}

/** Parses the fields of a form; a percent sign without two digits is reported by {@link refuseDamaged} as well. */
export function parseForm(text: string): ParsedQuery {
  return parsePairs(text, decoded)
}

/** Decodes a name or a value; null if it is damaged. */
type Decode = (text: string) => string | null

function parsePairs(text: string, decode: Decode): ParsedQuery {
  const found: ParsedQuery = Object.create(null)
  for (const part of text.split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const name = at < 0 ? part : part.slice(0, at)
    const written = at < 0 ? '' : part.slice(at + 1)
    const key = decode(name)
    const value = key === null ? null : decode(written)
    if (key === null || value === null) {
      found[DAMAGED] = key === null ? { piece: name, parameter: '' } : { piece: written, parameter: key }
      break
    }
    const before = lookup(found, key)
    if (before === undefined) setMember(found, key, value)
    else if (Array.isArray(before)) before.push(value)
    else setMember(found, key, [before, value])
  }
  return found
}

/** True if a query string could not be decoded: the parsed part is incomplete. */
export function isDamaged(query: object): boolean {
  return DAMAGED in query
}

/** Throws BadRequest if the query string of a request could not be decoded. */
export function refuseDamaged(query: unknown): void {
  const damage = (query as ParsedQuery | null)?.[DAMAGED]
  if (damage === undefined) return
  const { piece, parameter } = damage
  if (isSecret(parameter)) {
    const reason = `The value of the ${parameter} parameter cannot be decoded: percent-encoded UTF-8 is expected.`
    throw new Fault(BAD_REQUEST, { reason })
  }
  const at = Math.max(0, piece.search(/%(?![0-7][0-9a-f])/i) - 20)
  const excerpt = `${at > 0 ? '…' : ''}${piece.slice(at, at + 60)}${piece.length > at + 60 ? '…' : ''}`
  const where = parameter === '' ? 'The address' : `The value of the ${parameter.slice(0, 40)} parameter`
  const reason = `${where} cannot be decoded: ${excerpt} was found but percent-encoded UTF-8 is expected.`
  throw new Fault(BAD_REQUEST, { reason })
}

/** One name or value of a query string; null if its escapes are not UTF-8. */
export function parseQueryValue(text: string): string | null {
  return text.includes('%') ? decoded(text.replace(LONE_PERCENT, '%25')) : decoded(text)
}

function decoded(text: string): string | null {
  if (!ESCAPED.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

const ESCAPED = /[%+]/
const LONE_PERCENT = /%(?![0-9a-f]{2})/gi

/**
 * Parameters of addresses and forms whose values are credentials (Access 1.4; RFC 6749, RFC 7636), and names that users mistake
 * for them: they must not occur in any log, list or message.
 */
const SECRETS: ReadonlySet<string> = new Set([
  'apikey',
  'api_key',
  'api-key',
  'key',
  'authorization',
  'access_token',
  'refresh_token',
  'id_token',
  'token',
  'assertion',
  'client_assertion',
  'client_secret',
  'code',
  'code_verifier',
  'password',
  'session',
])

/** True for the name of a parameter whose value is a credential, in any spelling. */
export function isSecret(name: string): boolean {
  return SECRETS.has(name.trim().toLowerCase())
}

/** A query string without credentials, for everything that is stored, logged or reported. */
export function withoutSecrets(query: string): string {
  return query
    .split('&')
    .map(pair => (isSecretPair(pair) ? `${nameOf(pair)}=redacted` : pair))
    .join('&')
}

/** An address without credentials in its query string. */
export function addressWithoutSecrets(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : `${url.slice(0, at)}?${withoutSecrets(url.slice(at + 1))}`
}

/** An address without the parameters that carry credentials, for links: a value that is redacted would be refused there. */
export function addressForLinks(url: string): string {
  const at = url.indexOf('?')
  if (at < 0) return url
  const others = url
    .slice(at + 1)
    .split('&')
    .filter(pair => !isSecretPair(pair))
  return others.length === 0 ? url.slice(0, at) : `${url.slice(0, at)}?${others.join('&')}`
}

function isSecretPair(pair: string): boolean {
  const name = nameOf(pair)
  return isSecret(decoded(name) ?? name)
}

function nameOf(pair: string): string {
  return pair.split('=', 1)[0] ?? ''
}

/** Addresses whose path has no empty segments with a meaning: those of the REST APIs. */
const REST = /^\/+api\/+(?:explore|v2)(?:\/|$)/

/** Scheme and host of a request target in absolute form (RFC 9112, section 3.2.2), which is answered as the path and query in it. */
const ABSOLUTE = /^https?:\/\/[^/?#]*/i

/**
 * The path and query of a request target, without the slashes that clients repeat where they join a base address that ends
 * with a slash and a path that begins with one: `//api/explore/v2.1/` is `/api/explore/v2.1/`. Elsewhere only leading ones
 * are removed, for the path of a resource may contain an IRI. The query string stays unchanged.
 */
export function plainTarget(target: string): string {
  if (!target.includes('//')) return target
  const local = target.replace(ABSOLUTE, '')
  const end = local.search(/[?#]|$/)
  const path = local.slice(0, end)
  const plain = REST.test(path) ? path.replace(/\/{2,}/g, '/') : path.replace(/^\/*/, '/')
  return plain + local.slice(end)
}
