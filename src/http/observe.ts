import type { IncomingMessage } from 'node:http'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyServerOptions,
} from 'fastify'
import type { Config } from '../config/config.ts'
import { declareFault, Fault } from '../errors/errors.ts'
import { withoutCredentials } from '../model/credentials.ts'
import type { Principal } from '../model/principal.ts'
import type { Allowance, CallTaker } from './daily-quota.ts'
import { addressWithoutSecrets } from './query-string.ts'
import { endpointOf } from './route-config.ts'

export type ObservedRequest = FastifyRequest
export type ObservedReply = FastifyReply

/** What is known of a request once it was answered or aborted. */
export interface Answered {
  readonly endpoint: string
  /** Pattern of its route; empty if no route matches. */
  readonly route: string
  readonly status: number
  readonly milliseconds: number
  /** Bytes that were sent, including headers. */
  readonly bytes: number
  /** True if the client disconnected before the end, or was disconnected. */
  readonly aborted: boolean
}

/** Observes requests. Its own code must not throw. */
export interface RequestObserver {
  /** Wraps the processing of a request. */
  readonly around?: (request: FastifyRequest, proceed: () => void) => void
  readonly ended: (request: FastifyRequest, reply: FastifyReply, answered: Answered) => void
  /** Returns a function that records a further request that gets the same answer from the cache. */
  readonly repeated: (
    request: FastifyRequest,
    reply: FastifyReply,
  ) => (message: IncomingMessage, id: string) => void
}

/** Observes requests from their first hook until their response is closed. */
export function observeRequests(http: FastifyInstance, observers: readonly RequestObserver[]): void {
  const around = observers.flatMap(observer => observer.around ?? [])
  http.addHook('onRequest', (request, reply, done) => {
    reply.header(REQUEST_ID, request.id)
    if (observers.length === 0) return done()
    const before = written(request)
    reply.raw.once('close', () => {
      const answered = {
        endpoint: endpointOf(request),
        route: routeOf(request),
        status: reply.raw.statusCode,
        milliseconds: reply.elapsedTime,
        bytes: written(request) - before,
        aborted: !reply.raw.writableFinished,
      }
      for (const observer of observers) observer.ended(request, reply, answered)
    })
    around.reduce<() => void>((proceed, run) => () => run(request, proceed), done)()
  })
}

/** The pattern of the route that a request matches; empty for none. */
export function routeOf({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): string {
  return routeOptions.url ?? ''
}

function written({ raw }: FastifyRequest): number {
  return raw.socket?.bytesWritten ?? 0
}

/** Identifiers of proxies that are accepted: short, and without characters that a log would have to quote. */
const WELL_FORMED = /^[\w.:+/=@-]{1,128}$/

export const REQUEST_ID = 'x-request-id'

/**
 * Returns a generator of request identifiers, which correlate log lines, traces and what a client saw.
 *
 * @param prefix prefix of the identifiers of this process, unique among processes
 * @param isProxied true behind a proxy: its X-Request-Id is used if it is well-formed
 */
export function requestIds(
  prefix: string,
  isProxied: boolean,
): (message: Pick<IncomingMessage, 'headers'>) => string {
  let created = 0
  return ({ headers }) => {
    if (isProxied) {
      const given = headers[REQUEST_ID]
      if (typeof given === 'string' && WELL_FORMED.test(given)) return given
    }
    created += 1
    return prefix + created
  }
}

export const QUOTA_EXCEEDED = declareFault('QuotaExceeded', 429, '{reason}')

/** A call beyond a quota; APIs whose body for it is documented make it from the allowance. */
export class QuotaExceeded extends Fault {
  readonly allowance: Allowance

  constructor(allowance: Allowance) {
    super(QUOTA_EXCEEDED, { reason: EXCEEDED[allowance.kind] })
    this.allowance = allowance
  }
}

/**
 * Counts a call of an API and reports the remaining quota in the headers. The headers stay whatever the answer becomes, so
 * this comes before everything that may refuse a call. Throws QuotaExceeded, which the API answers in the form of its errors.
 *
 * @param address the caller's address, see `clientAddress`
 */
export function countCall(
  request: FastifyRequest,
  reply: FastifyReply,
  quotas: CallTaker,
  address: string,
): void {
  const { principal } = request
  const allowance = quotas.take(principal, address)
  reportAllowance(reply, allowance)
  if (allowance.isExceeded) {
    reply.header('retry-after', String(allowance.wait))
    throw new QuotaExceeded(allowance)
  }
  counted.set(reply, { quotas, principal, address, allowance })
}

/** Uncounts the call of an answer that could not be given because its data is not loaded yet. */
export function returnCall(reply: FastifyReply): void {
  const call = counted.get(reply)
  if (call === undefined) return
  counted.delete(reply)
  const { quotas, principal, address, allowance } = call
  quotas.giveBack(principal, address, allowance)
  reportAllowance(reply, { ...allowance, remaining: allowance.remaining + 1 })
}

interface CountedCall {
  readonly quotas: CallTaker
  readonly principal: Principal
  readonly address: string
  readonly allowance: Allowance
}

const counted = new WeakMap<FastifyReply, CountedCall>()

function reportAllowance(reply: FastifyReply, allowance: Allowance): void {
  const texts = allowanceTexts(allowance)
  for (const [index, name] of ALLOWANCE_HEADERS.entries()) reply.header(name, texts[index])
}

/** The headers that report an allowance. */
export const ALLOWANCE_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const

/** Their values, as the live service writes them: the time with a blank and an offset. */
export function allowanceTexts({ limit, remaining, reset }: Allowance): readonly [string, string, string] {
  return [String(limit), String(remaining), resetText(reset)]
}

let described = { reset: Number.NaN, text: '' }

function resetText(reset: number): string {
  if (described.reset !== reset)
    described = { reset, text: `${new Date(reset).toISOString().slice(0, 19).replace('T', ' ')}+00:00` }
  return described.text
}

/** The message for each exceeded limit; that of the whole portal is as documented. */
const EXCEEDED: Readonly<Record<Allowance['kind'], string>> = {
  domain: 'Too many requests on the domain. Please contact the domain administrator.',
  anonymous:
    'Too many anonymous requests from your address. Please authenticate or contact the domain administrator.',
  user: 'Too many requests of your account. Please contact the domain administrator.',
}

/** The body of 429 of the REST APIs (REST 5.6). */
export function quotaBody({ kind, limit, reset }: Allowance): unknown {
  return {
    errorcode: 10002,
    reset_time: `${new Date(reset).toISOString().slice(0, 19)}Z`,
    limit_time_unit: 'day',
    call_limit: limit,
    error: EXCEEDED[kind],
  }
}

/** Members of logged objects that must not reach the log. */
const REDACTED = ['authorization', 'cookie', 'set-cookie', 'apikey', 'password', 'secret', 'token'].flatMap(
  name => [`["${name}"]`, `*["${name}"]`, `*.headers["${name}"]`],
)

/**
 * The options of the logger: one line of JSON an entry, with the time as ISO 8601 and the level as a word. Credentials are
 * removed from known members, and from the text of the line: messages of libraries repeat addresses with passwords.
 *
 * @param out where lines are written to, usually process.stderr
 */
export function loggerOptions(level: Config['log'], out: { write(text: string): unknown }) {
  return {
    level,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: REDACTED, censor: 'redacted' },
    stream: { write: (line: string) => void out.write(withoutCredentials(line)) },
  } satisfies FastifyServerOptions['logger']
}

/** Longer addresses are truncated. */
const MAX_LENGTH = 2000

/**
 * Writes one line a request, at the level `info`; requests of monitoring at `debug`. Credentials in addresses are removed,
 * users are identified by number and not by name.
 */
export function requestLog(log: FastifyBaseLogger): RequestObserver {
  const write = (endpoint: string, line: Readonly<Record<string, unknown>>) => {
    if (endpoint === 'operating') log.debug(line, 'request')
    else log.info(line, 'request')
  }
  return {
    ended: (request, _, answered) => write(answered.endpoint, lineOf(request, answered)),
    repeated: (request, reply) => {
      const endpoint = endpointOf(request)
      const { statusCode: status } = reply.raw
      return (message, id) =>
        write(endpoint, { request: id, ...requestFields(message), endpoint, status, ms: 0, cached: true })
    },
  }
}

function lineOf(request: FastifyRequest, answered: Answered) {
  const { principal } = request
  const { endpoint, route, status, milliseconds, bytes, aborted } = answered
  return {
    request: request.id,
    ...requestFields(request.raw),
    endpoint,
    route,
    status,
    ms: Math.round(milliseconds * 100) / 100,
    bytes,
    ...(principal?.type === 'user' ? { user: principal.id, by: principal.by } : {}),
    ...(aborted ? { aborted } : {}),
  }
}

function requestFields({ method, url = '' }: IncomingMessage) {
  return { method, path: addressWithoutSecrets(url).slice(0, MAX_LENGTH) }
}
