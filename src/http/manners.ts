import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../errors.ts'
import { compressBody, compressStream, isCompressible, isLongEnough } from './compress.ts'
import { type Coding, preferredCoding } from './encoding.ts'
import { codedTag, knownTag } from './etag.ts'
import { JSON_TYPE, prettyJson } from './json.ts'
import { refuseDamaged } from './query-string.ts'
import { type Quota, quotaBody, tellAllowance } from './quota.ts'

export interface MannersOptions {
  /** True where nobody is answered without credentials. */
  readonly isPrivate: boolean
  readonly quota: Quota
  /** Where addresses begin that take POST beside GET. */
  readonly posts?: string
}

const METHODS = 'GET, HEAD, OPTIONS'
const METHODS_WITH_POST = 'GET, HEAD, POST, OPTIONS'

const EXPOSED =
  'ETag, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Server-Timing, Content-Disposition, Link'

const PREFLIGHT = {
  'access-control-allow-headers':
    'Authorization, If-None-Match, Accept, Accept-Language, Accept-Datetime, Content-Type, ODS-API-Analytics-App',
  'access-control-max-age': '86400',
}

/**
 * Teaches an instance the manners that all of its routes share: the methods, CORS and its preflights, addresses that
 * cannot be decoded, quotas of the APIs, compression, and what 304 and HEAD leave out.
 */
export function addManners(http: FastifyInstance, { isPrivate, quota, posts }: MannersOptions): void {
  http.addHook('onRequest', (request, reply, done) => {
    reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', EXPOSED)
    const { method, url } = request
    const takesPost = posts !== undefined && url.startsWith(posts)
    const methods = takesPost ? METHODS_WITH_POST : METHODS
    if (method === 'OPTIONS') {
      reply.code(204).headers(PREFLIGHT)
      reply.headers({ allow: methods, 'access-control-allow-methods': methods }).send()
      return
    }
    if (method !== 'GET' && method !== 'HEAD' && !(takesPost && method === 'POST')) {
      reply.header('allow', methods)
      throw new Fault('MethodNotAllowed', { method, allowed: takesPost ? 'GET or POST' : 'GET' })
    }
    refuseDamaged(request.query)
    if (isPrivate && !url.startsWith('/healthz'))
      throw new Fault('Unauthorised', { what: 'This portal is private' })
    if (url.startsWith('/api/')) {
      const allowance = quota.take()
      if (allowance.isExceeded) {
        const seconds = Math.ceil((allowance.reset - Date.now()) / 1000)
        reply.code(429).header('retry-after', String(Math.max(1, seconds)))
        reply.type(JSON_TYPE).send(prettyJson(quotaBody(allowance)))
        return
      }
      tellAllowance(reply, allowance)
    }
    done()
  })
  http.addHook<unknown>('onSend', onSend)
}

type Done = (error: Error | null, payload?: unknown) => void

function onSend(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  settleTag(request, reply)
  const isEmpty = reply.statusCode === 304 || payload === undefined || payload === null
  if (!isEmpty) reply.header('x-content-type-options', 'nosniff')
  const coding = isEmpty ? null : settleCoding(request, reply, payload)
  if (isEmpty || (request.method === 'HEAD' && payload instanceof Readable))
    done(null, withoutBody(request, payload))
  else if (coding === null) done(null, payload)
  else if (payload instanceof Readable) done(null, compressStream(payload, coding))
  else compressBody(payload as string | Buffer, coding, done)
}

/** Gives 304 the tag that the client knows the answer by, and answers 304 to who asks for nothing that is there. */
function settleTag(request: FastifyRequest, reply: FastifyReply): void {
  const tag = reply.getHeader('etag')
  const { 'if-none-match': known, 'accept-encoding': codings } = request.headers
  if (typeof tag !== 'string' || known === undefined) return
  if (reply.statusCode === 200 && known === '*') reply.code(304).removeHeader('content-type')
  if (reply.statusCode === 304) reply.header('etag', knownTag(known, tag, codings) ?? tag)
}

/** Chooses the coding of a body, null for none, and says in the headers what was chosen. */
function settleCoding(request: FastifyRequest, reply: FastifyReply, payload: unknown): Coding | null {
  const contentType = reply.getHeader('content-type')
  if (typeof contentType !== 'string' || !isCompressible(contentType)) return null
  if (reply.hasHeader('content-encoding') || !isLong(contentType, payload)) return null
  addVary(reply, 'Accept-Encoding')
  const coding = preferredCoding(request.headers['accept-encoding'])
  if (coding === null) return null
  reply.header('content-encoding', coding).removeHeader('content-length')
  const tag = reply.getHeader('etag')
  if (typeof tag === 'string') reply.header('etag', codedTag(tag, coding))
  return coding
}

function isLong(contentType: string, payload: unknown): boolean {
  if (payload instanceof Readable) return true
  return (typeof payload === 'string' || Buffer.isBuffer(payload)) && isLongEnough(contentType, payload)
}

/** What to send where there are only headers; what would have made a body is left undone. */
function withoutBody(request: FastifyRequest, payload: unknown): Readable | null {
  if (payload instanceof Readable) payload.destroy()
  // To HEAD the framework adds the length of what it is given here, but for that of a stream.
  return request.method === 'HEAD' ? Readable.from([]) : null
}

function addVary(reply: FastifyReply, name: string): void {
  const before = reply.getHeader('vary')
  if (before === undefined) reply.header('vary', name)
  else if (!String(before).includes(name)) reply.header('vary', `${before}, ${name}`)
}
