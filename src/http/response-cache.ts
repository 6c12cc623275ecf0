import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { ANONYMOUS } from '../model/principal.ts'
import { namesCredentials } from './authenticate.ts'
import { clientAddress } from './client-address.ts'
import type { CallTaker } from './daily-quota.ts'
import { ALLOWANCE_HEADERS, allowanceTexts, REQUEST_ID } from './observe.ts'
import type { QueryParameters } from './query-string.ts'
import { BUDGET_HEADERS } from './rate-limit.ts'

/** Records one more call that gets a cached answer, under its request identifier. */
export type NoteCall = (message: IncomingMessage, id: string) => void

export interface ResponseCacheOptions {
  /**
   * The state that all answers depend on: if it changes, the whole cache is dropped.
   */
  readonly state: () => unknown
  readonly quota: Pick<CallTaker, 'take'>
  /** Returns the identifier of a request. */
  readonly requestId: (message: IncomingMessage) => string
  /** Number of trusted proxies in front: 0 by default. */
  readonly proxies?: number
  /**
   * Returns a function that records further calls of an answer.
   *
   * @param body before it is compressed; empty for 304
   */
  readonly noteCall: (request: FastifyRequest, reply: FastifyReply, body: string) => NoteCall
  /** Maximum bytes of all bodies together; one body may have at most an eighth of them. */
  readonly max: number
}

/** Approximate bytes of an answer in addition to its body. */
const OVERHEAD = 4000
/** Answers to requests with a longer address, or a longer header of those that select a variant, are not cached. */
const MAX_LENGTH = 1024
/** Maximum cached answers of one address: each for another coding, tag or Accept header. */
const MAX_VARIANTS = 8

/** Headers of requests that are not answered from the cache: credentials, conditions and bodies. */
const UNUSUAL = [
  'authorization',
  'cookie',
  'accept-datetime',
  'range',
  'if-match',
  'if-range',
  'if-modified-since',
  'if-unmodified-since',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
] as const

/** What answers may vary by: headers that select a variant, or that requests answered from the cache have not. */
const COMPARED: ReadonlySet<string> = new Set(['accept-encoding', 'accept', 'accept-datetime'])

/** Headers of requests that are cached with their answers, to be compared. */
const SELECTING = ['accept', 'accept-encoding', 'if-none-match'] as const

/** An answer with the request headers that select it among those of its address. */
interface Variant {
  readonly codings: string | string[] | undefined
  readonly known: string | undefined
  /** The Accept header that selects it; null if the answer does not vary by it. */
  readonly accept: string | undefined | null
  readonly status: number
  /** Names and values alternately; the request identifier and the quota are overwritten before each use. */
  readonly headers: string[]
  /** Index of the header with the request identifier. */
  readonly idAt: number
  /** Index of the first header of the quota. */
  readonly allowanceAt: number
  readonly body: string | Buffer | undefined
  /** Bytes of the body. */
  readonly length: number
  readonly noteCall: NoteCall
}

/** A response that a route marked as cacheable. */
interface Cacheable {
  readonly state: unknown
  readonly body: string
}

/**
 * Sends cached answers, with their headers and compressed, before a request reaches the routes. A route marks answers as
 * cacheable that do not depend on the principal; a request gets one if its address, codings, known tag and, if the answer
 * varies by it, Accept are the same, while the state is unchanged. Quota and usage are counted as for other answers.
 */
export class ResponseCache {
  private readonly options: ResponseCacheOptions
  /** By address; the least recently used is evicted first. */
  private readonly variants: LRUCache<string, readonly Variant[]>
  private readonly cacheables = new WeakMap<FastifyReply, Cacheable>()
  private state: unknown = undefined
  private isClosing = false

  constructor(options: ResponseCacheOptions) {
    this.options = options
    this.variants = new LRUCache({
      maxSize: options.max,
      sizeCalculation: each => each.reduce((sum, { length }) => sum + length + OVERHEAD, 0),
    })
  }

  /**
   * Puts the cache before the routes of an instance. Call it after the hooks that set headers and compress are added; injected
   * requests bypass it.
   */
  install(http: FastifyInstance): void {
    http.addHook<unknown>('onSend', (request, reply, payload, done) => {
      const cacheable = this.cacheables.get(reply)
      if (cacheable !== undefined) this.keep(request, reply, payload, cacheable)
      done(null, payload)
    })
    // While it shuts down, the server sends `Connection: close` with each answer.
    http.addHook('preClose', done => {
      this.isClosing = true
      done()
    })
    const standard = http.server.listeners('request') as ((...args: unknown[]) => void)[]
    http.server.removeAllListeners('request')
    http.server.on('request', (message, response) => {
      if (this.answer(message, response)) return
      for (const listener of standard) listener.call(http.server, message, response)
    })
  }

  /**
   * Marks an answer as cacheable for equal requests; called when the data was looked up, before any await.
   *
   * @param body as it will be sent, before it is compressed; empty for 304
   */
  cacheable(reply: FastifyReply, body: string): void {
    const { method, url, query, headers, principal } = reply.request
    if (principal?.type === 'user') return
    if (method !== 'GET' || url.length > MAX_LENGTH || !isDefault(headers)) return
    if (SELECTING.some(name => (headers[name]?.length ?? 0) > MAX_LENGTH)) return
    // `If-None-Match: *` becomes 304 only in a later hook; here the answer is still 200.
    if (headers['if-none-match'] === '*' || namesCredentials(query as QueryParameters)) return
    this.cacheables.set(reply, { state: this.options.state(), body })
  }

  /** The number of cached answers, and the bytes that they are estimated to need. */
  statistics(): { readonly answers: number; readonly bytes: number } {
    const answers = [...this.variants.values()].reduce((sum, { length }) => sum + length, 0)
    return { answers, bytes: this.variants.calculatedSize }
  }

  private keep(request: FastifyRequest, reply: FastifyReply, payload: unknown, cacheable: Cacheable): void {
    const body = payload ?? undefined
    if (body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body)) return
    const length = body === undefined ? 0 : Buffer.byteLength(body)
    // The budget headers are specific to a client.
    const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
      BUDGET_HEADERS.some(budget => budget === name) ? [] : [name, String(value)],
    )
    const idAt = headers.indexOf(REQUEST_ID)
    const allowanceAt = headers.indexOf(ALLOWANCE_HEADERS[0])
    const isWhole = ALLOWANCE_HEADERS.every((name, index) => headers[allowanceAt + 2 * index] === name)
    const vary = String(reply.getHeader('vary') ?? '')
      .toLowerCase()
      .split(/ *, */)
    const isNegotiated = vary.includes('accept')
    const isAlike = vary.every(name => COMPARED.has(name)) && !reply.hasHeader('set-cookie')
    if (!isWhole || idAt < 0 || !isAlike || length > this.options.max / 8) return
    if (body !== undefined && !reply.hasHeader('content-length')) headers.push('content-length', `${length}`)
    this.forgetOld()
    if (cacheable.state !== this.state) return
    const { 'accept-encoding': codings, 'if-none-match': known } = request.headers
    const accept = isNegotiated ? request.headers.accept : null
    const status = reply.statusCode
    const noteCall = this.options.noteCall(request, reply, cacheable.body)
    this.add(request, { codings, known, accept, status, headers, idAt, allowanceAt, body, length, noteCall })
  }

  private add({ url, headers }: Pick<FastifyRequest, 'url' | 'headers'>, variant: Variant): void {
    const others = this.variants.get(url) ?? []
    if (variantFor(headers, others) !== undefined) return
    this.variants.set(url, [...others.slice(1 - MAX_VARIANTS), variant])
  }

  /** Answers a request, if its answer is cached; returns whether it did. */
  private answer(message: IncomingMessage, response: ServerResponse): boolean {
    if (message.method !== 'GET' || this.isClosing) return false
    this.forgetOld()
    const variants = this.variants.get(message.url ?? '')
    if (variants === undefined) return false
    const { headers } = message
    const found = variantFor(headers, variants)
    if (found === undefined || !isDefault(headers)) return false
    const { quota, proxies = 0 } = this.options
    const allowance = quota.take(ANONYMOUS, clientAddress(message, proxies))
    // A call beyond the quota is not counted: the routes refuse it.
    if (allowance.isExceeded) return false
    const { headers: answered, idAt, allowanceAt, body } = found
    const id = this.options.requestId(message)
    const [limit, remaining, reset] = allowanceTexts(allowance)
    answered[idAt + 1] = id
    answered[allowanceAt + 1] = limit
    answered[allowanceAt + 3] = remaining
    answered[allowanceAt + 5] = reset
    found.noteCall(message, id)
    response.writeHead(found.status, answered)
    response.end(body)
    return true
  }

  /** Drops the whole cache if the state has changed. */
  private forgetOld(): void {
    const state = this.options.state()
    if (state === this.state) return
    this.state = state
    this.variants.clear()
  }
}

function variantFor(headers: IncomingMessage['headers'], variants: readonly Variant[]): Variant | undefined {
  const { accept, 'accept-encoding': codings, 'if-none-match': known } = headers
  for (const variant of variants)
    if (
      variant.known === known &&
      variant.codings === codings &&
      (variant.accept === null || variant.accept === accept)
    )
      return variant
  return undefined
}

function isDefault(headers: IncomingMessage['headers']): boolean {
  for (const name of UNUSUAL) if (headers[name] !== undefined) return false
  return true
}
