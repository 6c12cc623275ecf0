import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { RELEASE } from '../config/release.ts'
import { CREDENTIAL_PARAMETERS, namesCredentials } from './authenticate.ts'
import { acceptsCoding, CODINGS, type Coding } from './content-coding.ts'
import type { QueryParameters } from './query-string.ts'

/** Validators of a response, and its caching directives. */
interface ComparedAnswer {
  /** The entity tag of the answer (RFC 9110, section 8.8.3). */
  readonly tag: string
  readonly cacheControl: string
  /** Request headers that the answer depends on; `Accept-Encoding` is added to all answers with a tag. */
  readonly vary?: readonly string[]
}

/**
 * The one place that decides 304: sets ETag, Cache-Control and Vary, and returns true if the client has the answer already, so
 * that the route sends 304 without a body. Only If-None-Match decides, for no answer depends on one moment alone;
 * `If-None-Match: *` is decided when the status of the answer is known: see {@link finishConditional}.
 */
export function isNotModified(
  { headers }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  { tag, cacheControl, vary = [] }: ComparedAnswer,
): boolean {
  varyBy(reply, ...vary)
  reply.header('etag', tag).header('cache-control', cacheControl)
  const { 'if-none-match': known, 'accept-encoding': codings } = headers
  return known !== undefined && known !== '*' && knownTag(known, tag, codings) !== null
}

/**
 * Gives 304 the tag by which the client knows the answer, and turns 200 into 304 for `If-None-Match: *`. Every answer with a
 * tag varies by coding, also one too short to compress, so that 304 has the Vary of its 200 (RFC 9110, section 15.4.5).
 */
export function finishConditional({ headers }: FastifyRequest, reply: FastifyReply): void {
  const tag = reply.getHeader('etag')
  if (typeof tag !== 'string') return
  if (reply.statusCode === 200 || reply.statusCode === 304) varyBy(reply, 'Accept-Encoding')
  const { 'if-none-match': known, 'accept-encoding': codings } = headers
  if (known === undefined) return
  if (reply.statusCode === 200 && known === '*') reply.code(304).removeHeader('content-type')
  if (reply.statusCode === 304) reply.header('etag', knownTag(known, tag, codings) ?? tag)
}

/**
 * Makes an answer of an API conditional: sets ETag, Cache-Control and Vary, and returns true if the client has the answer
 * already, so that the route sends 304 without a body. Call it after the check that the caller may see the data; the query need
 * not be parsed before, for a client that knows the tag got 200 from the same address.
 *
 * Without a version, and for queries that call `now`, there is no ETag and no 304.
 *
 * @param version identifies the data of the answer; null if nothing does
 * @param mediaType the type that was negotiated by the Accept header
 */
export function isFresh(
  request: Pick<FastifyRequest, 'url' | 'query' | 'headers'>,
  reply: FastifyReply,
  version: string | null,
  mediaType = '',
): boolean {
  reply.header('vary', mediaType === '' ? 'Accept-Encoding' : 'Accept-Encoding, Accept')
  const tag = version === null ? null : tagOf(request, `${version}\n${mediaType}`)
  if (tag === null) {
    reply.header('cache-control', 'no-cache')
    return false
  }
  return isNotModified(request, reply, { tag, cacheControl: 'public, max-age=0, must-revalidate' })
}

/** Request headers that lists of all datasets depend on, for Vary: caches must distinguish callers. */
export const BY_CALLER = ['Authorization', 'Cookie'] as const

/** Tags by their input, memoised: repeated requests have the same address. */
const tags = new LRUCache<string, string>({ max: 4096 })
/** Longer keys are not memoised, to bound memory. */
const MAX_LENGTH = 1024

/** The tag of an answer; null if its query calls `now`. */
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
export function setNoStore(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-cache, no-store')
}

/** True for a call of `now` in any clause: the result of the same address changes with time. */
function callsNow(text: string): boolean {
  return /now\s*\(/i.test(text)
}

function pathOf(url: string): string {
  const end = url.indexOf('?')
  const path = end < 0 ? url : url.slice(0, end)
  return path.endsWith('/') ? path.slice(0, -1) : path
}

/**
 * A strong entity tag from everything that determines the bytes of an answer (RFC 9110, section 8.8.3), including the release
 * of Lodestone: another release may serialise the same data differently.
 */
export function entityTag(...parts: readonly string[]): string {
  return `"${createHash('sha1')
    .update(JSON.stringify([RELEASE, ...parts]))
    .digest('base64url')}"`
}

/** The tag of the same answer in a content coding: its bytes differ, so its strong tag must differ. */
export function codedTag(tag: string, coding: Coding): string {
  return `${tag.slice(0, -1)}-${coding}"`
}

/**
 * True if If-Match lists the tag, is `*` or absent, so that the request is answered (RFC 9110, section 13.1.1). A tag in any
 * coding means the same data; a proxy that compresses makes it weak.
 *
 * @param tag the tag of the answer; undefined if it has none
 */
export function isMatched(ifMatch: string | undefined, tag: string | undefined): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true
  if (tag === undefined) return false
  const tags = [tag, ...CODINGS.map(coding => codedTag(tag, coding))]
  return ifMatch.split(',').some(part => tags.includes(part.trim().replace(/^W\//, '')))
}

/**
 * The tag in If-None-Match that matches an answer (RFC 9110, section 13.1.2): its own, or its own in a coding that the client
 * accepts. Null if none matches.
 */
export function knownTag(ifNoneMatch: string, tag: string, acceptEncoding?: string): string | null {
  if (ifNoneMatch === tag) return tag
  for (const part of ifNoneMatch.split(',')) {
    const named = part.trim().replace(/^W\//, '')
    if (named === tag) return tag
    const coding = CODINGS.find(known => named === codedTag(tag, known))
    if (coding !== undefined && acceptsCoding(acceptEncoding, coding)) return named
  }
  return null
}

/** Adds request headers to Vary, each once (RFC 9110, section 12.5.5). */
export function varyBy(reply: FastifyReply, ...names: readonly string[]): void {
  const before = reply.getHeader('vary')
  const known = before === undefined ? [] : String(before).split(/, */)
  const all = new Set([...known, ...names])
  if (all.size > known.length) reply.header('vary', [...all].join(', '))
}

/**
 * Bodies of answers by their strong entity tags, so that the same request on the same version is answered without
 * querying the store. The least recently used body is evicted first. A tag identifies version, address and query, so a cached
 * body is never stale; after {@link isFresh} returned false, `find` returns the body, and `keep` stores one. All routes share
 * one cache, so that its memory is bounded for the whole process.
 */
export class AnswerCache {
  private readonly bodies: LRUCache<string, string>

  /** @param max characters of all bodies together; one body may have at most an eighth of them */
  constructor(max: number) {
    this.bodies = new LRUCache({
      maxSize: max,
      maxEntrySize: Math.floor(max / 8),
      sizeCalculation: ({ length }) => Math.max(1, length),
    })
  }

  /** The cached body for the ETag of the reply. */
  find(reply: FastifyReply): string | undefined {
    const tag = reply.getHeader('etag')
    return typeof tag === 'string' ? this.bodies.get(tag) : undefined
  }

  /** Caches a body, if the reply has a tag. */
  keep(reply: FastifyReply, body: string): void {
    this.keeper(reply)(body)
  }

  /** Returns a function that caches a body under the present tag of the reply, for bodies that are complete only later. */
  keeper(reply: FastifyReply): (body: string) => void {
    const tag = reply.getHeader('etag')
    return body => {
      if (typeof tag === 'string' && !this.bodies.has(tag)) this.bodies.set(tag, body)
    }
  }
}
