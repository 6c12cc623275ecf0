import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { ANONYMOUS } from '../model/principal.ts'
import { clientAddress } from './client-address.ts'
import { ALLOWANCE_HEADERS, allowanceTexts } from './counted-call.ts'
import { namesCredentials } from './credentials.ts'
import { BUDGET_HEADERS } from './fair-use.ts'
import { REQUEST_ID } from './observe.ts'
import type { QueryParameters } from './query-string.ts'
import type { CallTaker } from './quota.ts'

/** Notes one more call that is given an answer, under the name of its request. */
export type NoteCall = (message: IncomingMessage, id: string) => void

export interface ResponseCacheOptions {
  /**
   * What all answers are made of: it changes as soon as any answer may, and everything that is cached is dropped then.
   */
  readonly state: () => unknown
  readonly quota: Pick<CallTaker, 'take'>
  /** Names requests. */
  readonly requestId: (message: IncomingMessage) => string
  /** How many proxies in front are believed who the client is; none where it is not said. */
  readonly proxies?: number
  /**
   * Makes what notes a further call of an answer.
   *
   * @param body before it is compressed; empty for 304
   */
  readonly noteCall: (request: FastifyRequest, reply: FastifyReply, body: string) => NoteCall
  /** Bytes of all bodies together; a body may have an eighth of them. */
  readonly max: number
}

/** What an answer takes beside its body, about. */
const OVERHEAD = 4000
/** Longer addresses are not cached. */
const MAX_LENGTH = 1024
/** Answers of one address: each for another coding or another tag that clients know. */
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

/** An answer with the headers of the request that chose it among those of its address. */
interface Variant {
  readonly codings: string | string[] | undefined
  readonly known: string | undefined
  /** The Accept header that chose it; null where none does. */
  readonly accept: string | undefined | null
  readonly status: number
  /** Names and values in turn; those of the request and of the quota are overwritten before each use. */
  readonly headers: string[]
  /** Where the header stands that names the request. */
  readonly idAt: number
  /** Where the names of the quota's headers begin. */
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
 * Gives answers again that were given before, ready with their headers and compressed, before the request comes to the
 * routes. A route marks as cacheable what does not depend on the principal; only requests with the same address, codings, known tag and,
 * where the answer varies by it, Accept are answered, for as long as the state is the same. Quota and usage are counted as ever.
 */
export class ResponseCache {
  private readonly options: ResponseCacheOptions
  /** By their address; what was longest not asked for goes first. */
  private readonly variants: LRUCache<string, readonly Variant[]>
  private readonly cacheables = new WeakMap<FastifyReply, Cacheable>()
  private state: unknown = undefined
  private isClosing = false

  constructor(options: ResponseCacheOptions) {
    this.options = options
    this.variants = new LRUCache({ maxSize: options.max, sizeCalculation: sizeOf })
  }

  /**
   * Puts the cache before the routes of an instance. It comes after the hooks that settle headers and compress; requests
   * that are injected do not meet it.
   */
  install(http: FastifyInstance): void {
    http.addHook<unknown>('onSend', (request, reply, payload, done) => {
      const cacheable = this.cacheables.get(reply)
      if (cacheable !== undefined) this.keep(request, reply, payload, cacheable)
      done(null, payload)
    })
    // While it ends, the server asks for the end of each connection.
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
   * Marks an answer as cacheable for equal requests; called when the data was looked up, before anything
   * is awaited.
   *
   * @param body as it will be sent, before it is compressed; empty for 304
   */
  cacheable(reply: FastifyReply, body: string): void {
    const { method, url, query, headers, principal } = reply.request
    if (principal?.type === 'user') return
    if (method !== 'GET' || url.length > MAX_LENGTH || !isDefault(headers)) return
    // To any tag the answer is 200 first, and 304 on its way.
    if (headers['if-none-match'] === '*' || namesCredentials(query as QueryParameters)) return
    this.cacheables.set(reply, { state: this.options.state(), body })
  }

  /** How many answers are cached, and the bytes that they are taken to need. */
  statistics(): { readonly answers: number; readonly bytes: number } {
    const answers = [...this.variants.values()].reduce((sum, { length }) => sum + length, 0)
    return { answers, bytes: this.variants.calculatedSize }
  }

  private keep(request: FastifyRequest, reply: FastifyReply, payload: unknown, cacheable: Cacheable): void {
    const body = payload ?? undefined
    if (body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body)) return
    const length = body === undefined ? 0 : Buffer.byteLength(body)
    // The budget of one client is not that of another.
    const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
      BUDGET_HEADERS.some(budget => budget === name) ? [] : [name, String(value)],
    )
    const idAt = headers.indexOf(REQUEST_ID)
    const allowanceAt = headers.indexOf(ALLOWANCE_HEADERS[0])
    const isWhole = ALLOWANCE_HEADERS.every((name, index) => headers[allowanceAt + 2 * index] === name)
    // Whoever sends Accept-Datetime is not answered from here.
    const vary = String(reply.getHeader('vary') ?? '').replace(', Accept-Datetime', '')
    const isNegotiated = vary === 'Accept-Encoding, Accept'
    const isAlike = (vary === 'Accept-Encoding' || isNegotiated) && !reply.hasHeader('set-cookie')
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

  /** Answers a request, where its answer is cached. */
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
    // A call too many is not counted: the routes refuse it.
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

  /** Forgets everything where it was made of something else than what is there now. */
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
    if (variant.known === known && variant.codings === codings && isChosen(variant, accept)) return variant
  return undefined
}

function isChosen(variant: Variant, accept: string | undefined): boolean {
  return variant.accept === null || variant.accept === accept
}

function sizeOf(variants: readonly Variant[]): number {
  return variants.reduce((sum, { length }) => sum + length + OVERHEAD, 0)
}

function isDefault(headers: IncomingMessage['headers']): boolean {
  for (const name of UNUSUAL) if (headers[name] !== undefined) return false
  return true
}
