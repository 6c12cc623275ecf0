import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { CREDENTIAL_PARAMETERS, namesCredentials } from './credentials.ts'
import { entityTag, isKnown } from './etag.ts'
import type { QueryParameters } from './query-string.ts'
import { varyBy } from './vary.ts'

/** Validators of a response, and its caching directives. */
export interface ComparedAnswer {
  /** The entity tag of the answer (RFC 9110, section 8.8.3). */
  readonly tag: string
  readonly cacheControl: string
  /** Request headers that decide the answer; `Accept-Encoding` is added to all answers with a tag. */
  readonly vary?: readonly string[]
  /** When its data changed; null or absent where more than that decides the answer. */
  readonly modified?: string | null
}

/**
 * The one place that decides 304: sets ETag, Cache-Control and Vary, and tells whether the client has the answer already, so that
 * the route sends 304 and nothing else. If-None-Match counts before If-Modified-Since (RFC 9110, section 13.2.2). Whether anything is
 * there for `*` is known once the answer is: see `settleTag` in app/plugins.ts.
 */
export function isNotModified(
  { headers }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  { tag, cacheControl, vary = [], modified = null }: ComparedAnswer,
): boolean {
  varyBy(reply, ...vary)
  reply.header('etag', tag).header('cache-control', cacheControl)
  const { 'if-none-match': known, 'if-modified-since': since, 'accept-encoding': codings } = headers
  if (known !== undefined) return known !== '*' && isKnown(known, tag, codings)
  if (since === undefined || modified === null) return false
  return Math.floor(Date.parse(modified) / 1000) * 1000 <= Date.parse(since)
}

/** What else than address and version an answer depends on. */
export interface Dependence {
  /** True where the credentials of the caller decide what is in the answer: shared caches leave it alone. */
  readonly isPrivate?: boolean
  /** The media type that was chosen by the Accept header. */
  readonly mediaType?: string
}

const INDEPENDENT: Dependence = {}

/**
 * Makes an answer of an API conditional: sets ETag, Cache-Control and Vary, and tells whether the client has the answer already,
 * so that the route sends 304 and nothing else. Ask once it is known that the caller may see the data; nothing of the
 * query needs to be read before, for who knows the tag was answered 200 to the same address.
 *
 * There is no ETag, and never 304, without a version and for queries that call `now`.
 *
 * @param version names the data that the answer is made of; null where nothing does
 */
export function isFresh(
  request: Pick<FastifyRequest, 'url' | 'query' | 'headers'>,
  reply: FastifyReply,
  version: string | null,
  { isPrivate = false, mediaType = '' }: Dependence = INDEPENDENT,
): boolean {
  const vary = mediaType === '' ? 'Accept-Encoding' : 'Accept-Encoding, Accept'
  reply.header('vary', isPrivate ? `${vary}, Authorization` : vary)
  const tag = version === null ? null : tagOf(request, `${version}\n${mediaType}`)
  if (tag === null) {
    reply.header('cache-control', isPrivate ? 'private, no-cache' : 'no-cache')
    return false
  }
  return isNotModified(request, reply, { tag, cacheControl: isPrivate ? OWN : SHARED })
}

/** Request headers that decide what lists of all datasets tell: caches that keep them for a while tell callers apart. */
export const BY_CALLER = ['Authorization', 'Cookie'] as const

const SHARED = 'public, max-age=0, must-revalidate'
const OWN = 'private, max-age=0, must-revalidate'

/** Tags that were made before, by their input: repeated requests have the same address. */
const tags = new LRUCache<string, string>({ max: 4096 })
/** Longer addresses are not remembered, so that what is stays small. */
const MAX_LENGTH = 1024

/** The tag of an answer; null where its query calls `now`. */
function tagOf({ url, query }: Pick<FastifyRequest, 'url' | 'query'>, basis: string): string | null {
  const key = `${basis}\n${url}`
  const before = tags.get(key)
  if (before !== undefined) return before
  const requested = Object.entries(query as QueryParameters).filter(
    ([name]) => !Object.hasOwn(CREDENTIAL_PARAMETERS, name),
  )
  if (requested.some(([, value]) => (Array.isArray(value) ? value.some(callsNow) : callsNow(value))))
    return null
  const tag = entityTag(basis, pathOf(url), JSON.stringify(requested))
  if (key.length <= MAX_LENGTH && !namesCredentials(query as QueryParameters)) tags.set(key, tag)
  return tag
}

/** Marks an answer as not to be stored (REST 6.6). */
export function keepNowhere(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-cache, no-store')
}

/** True for a call of `now` in any clause: the same address means something else a moment later. */
function callsNow(text: string): boolean {
  return /now\s*\(/i.test(text)
}

function pathOf(url: string): string {
  const end = url.indexOf('?')
  const path = end < 0 ? url : url.slice(0, end)
  return path.endsWith('/') ? path.slice(0, -1) : path
}
