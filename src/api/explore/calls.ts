import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CallKind, CountedUse, NotedCall, Usage } from '../../catalog/usage.ts'
import { addressSubject, clientAddress } from '../../http/client-address.ts'
import { type QueryParameters, withoutSecrets } from '../../http/query-string.ts'
import type { RouteConfig } from '../../http/route-config.ts'
import { lookup } from '../../model/lookup.ts'
import type { Principal } from '../../model/principal.ts'

/** What calls count as that are no mere calls, by what they are recorded as. */
const KINDS: Readonly<Record<string, CallKind>> = {
  records_export: 'download',
  attachment_lookup: 'attachment',
}

const MAX_LENGTH = 2000

/** What is known of the body of an answer. */
interface BodyReport {
  readonly nhits: number | null
  readonly error: string | null
}

const NOTHING_REPORTED: BodyReport = { nhits: null, error: null }

/**
 * Has every call of the APIs counted and remembered (REST 7.3). It must come before the
 * hooks that compress, for it reads the beginning of bodies. A body that is at hand is noted when it is sent, a stream
 * when its connection has done with it: the hooks that come after a response cost each request more than the rest.
 */
export function recordCalls(http: FastifyInstance, recorder: Recorder): void {
  http.addHook('onSend', (request, reply, payload, done) => {
    if (typeof request.routeOptions.config.apiType === 'string') {
      if (payload instanceof Readable) recordStream(request, reply, recorder)
      else recordBody(request, reply, payload, recorder)
    }
    done(null, payload)
  })
}

function recordBody(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  recorder: Recorder,
): void {
  const body = typeof payload === 'string' ? payload : ''
  const size = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
  record(request, reply, { report: look(body, reply.statusCode), size, aborted: false }, recorder)
}

function recordStream(request: FastifyRequest, reply: FastifyReply, recorder: Recorder): void {
  const before = written(request)
  reply.raw.once('close', () => {
    const aborted = !reply.raw.writableFinished
    record(request, reply, { report: NOTHING_REPORTED, size: written(request) - before, aborted }, recorder)
  })
}

/** Where calls are noted. */
interface Recorder {
  readonly usage: Usage
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** How many proxies in front are believed who the client is; none where it is not said. */
  readonly proxies?: number
}

function record(request: FastifyRequest, reply: FastifyReply, sent: Sent, recorder: Recorder): void {
  const elapsed = reply.elapsedTime
  const isGood = request.method === 'GET' && (reply.statusCode === 200 || reply.statusCode === 304)
  note(request.raw, answeredWith(request, reply, sent), { elapsed, isGood, user: nameOf(request) }, recorder)
}

/** The name of the user; null for anonymous calls, and for those refused before authentication. */
function nameOf({ principal }: { readonly principal?: Principal }): string | null {
  return principal?.type === 'user' ? principal.name : null
}

/**
 * Makes what notes further calls of anonymous clients that are given a good answer again.
 *
 * @param body as it was before it was compressed; empty for 304
 */
export function repeatedCall(
  request: FastifyRequest,
  reply: FastifyReply,
  body: string,
  recorder: Recorder,
): (message: IncomingMessage) => void {
  const sent = { report: look(body, reply.statusCode), size: body.length, aborted: false }
  const answered = answeredWith(request, reply, sent)
  // What is given again is at hand: it takes no time.
  const how = { elapsed: 0, isGood: true, user: null }
  return message => note(message, answered, how, recorder)
}

/** What was sent to a call. */
interface Sent {
  readonly report: BodyReport
  /** Bytes. */
  readonly size: number
  readonly aborted: boolean
}

/** A call without who made it and when. */
interface Answered extends Sent, Pick<FastifyRequest, 'url' | 'query' | 'params'> {
  readonly route: RouteConfig
  readonly status: number
  readonly dataset: string | null
}

function answeredWith(request: FastifyRequest, reply: FastifyReply, sent: Sent): Answered {
  const { url, query, params } = request
  const { config: route } = request.routeOptions
  return { ...sent, url, query, params, route, status: reply.statusCode, dataset: datasetOf(request) }
}

/** Who made a call and what became of it. */
interface How {
  /** Milliseconds that the answer took. */
  readonly elapsed: number
  readonly isGood: boolean
  readonly user: string | null
}

/** Notes what a call was. */
function note(
  message: Pick<IncomingMessage, 'headers' | 'socket'>,
  answered: Answered,
  how: How,
  { usage, now, proxies = 0 }: Recorder,
): void {
  usage.remember(new AnsweredCall(message.headers, answered, how, clientAddress(message, proxies), now()))
  const { dataset, route } = answered
  const kind = kindOf(route)
  if (how.isGood && kind !== null && dataset !== null) usage.count(dataset, kind)
}

/** A call and who made it: no more than is needed later, for thousands of them are remembered. */
class AnsweredCall implements NotedCall {
  private readonly answered: Answered
  private readonly agent: string | undefined
  private readonly referer: string | undefined
  private readonly attributes: string | string[] | undefined
  private readonly address: string
  private readonly how: How
  private readonly moment: number

  /** @param moment milliseconds since 1970 */
  constructor(
    headers: IncomingMessage['headers'],
    answered: Answered,
    how: How,
    address: string,
    moment: number,
  ) {
    this.answered = answered
    this.agent = headers['user-agent']
    this.referer = headers.referer
    this.attributes = headers['ods-api-analytics-app']
    this.address = address
    this.how = how
    this.moment = moment
  }

  counted(): CountedUse {
    const { answered, agent, referer, attributes } = this
    const { url, route, status, report } = answered
    const { attachment } = (answered.params ?? {}) as { readonly attachment?: string }
    return {
      timestamp: new Date(this.moment).toISOString().replace(/\.?0*Z$/, 'Z'),
      user_ip_addr: shortAddress(this.address),
      user_id: this.how.user,
      dataset_id: answered.dataset,
      api: route.operation ?? null,
      api_type: route.apiType ?? 'other',
      query_string: cut(withoutSecrets(url.split(/\?(.*)/s)[1] ?? '')),
      custom_attributes: cut(typeof attributes === 'string' ? attributes : undefined),
      format: formatOf(answered),
      size_res: answered.size,
      nhits: report.nhits,
      exec_time: Math.round(this.how.elapsed * 100) / 100,
      request_aborted: answered.aborted,
      facet: facetsOf(answered.query as QueryParameters | undefined),
      in_error: status >= 400,
      error: status >= 400 ? (report.error ?? 'HTTPError') : null,
      attachment_id: cut(attachment),
      user_agent: cut(agent),
      referer: cut(referer?.replace(/[?#].*$/s, '').replace(/\/\/[^/@]*@/, '//')),
      bot: /bot\b|crawl|spider|slurp/i.test(agent ?? ''),
    }
  }
}

/** What a body says of itself at its beginning: the number of hits, or the name of the error. */
function look(body: string, status: number): BodyReport {
  const error = status < 400 ? null : /"error_code":\s*"(\w+)"/.exec(body.slice(0, 300))?.[1]
  const hits = /^\{"total_count":\s*(\d+)/.exec(body.slice(0, 40))?.[1]
  return { nhits: hits === undefined ? null : Number(hits), error: error ?? null }
}

/** What a call of a route counts as; null for what is no use of a dataset of this portal. */
function kindOf({ isUse, operation = '' }: RouteConfig): CallKind | null {
  return isUse === false ? null : (lookup(KINDS, operation) ?? 'call')
}

function datasetOf({ params }: { readonly params: unknown }): string | null {
  const { dataset } = (params ?? {}) as { readonly dataset?: unknown }
  return typeof dataset === 'string' ? dataset.slice(0, 100) : null
}

function formatOf({ route, params }: Answered): string | null {
  const { format } = (params ?? {}) as { readonly format?: string }
  return cut(format ?? route.format ?? (route.apiType?.startsWith('ods') === true ? 'json' : undefined))
}

function facetsOf(query: QueryParameters | undefined): readonly string[] | null {
  const facet = query?.facet
  const named = (facet === undefined ? [] : Array.isArray(facet) ? facet : [facet]).filter(
    name => name !== '',
  )
  return named.length === 0 ? null : [...new Set(named.slice(0, 50).map(name => name.slice(0, 100)))]
}

function written(request: FastifyRequest): number {
  return request.raw.socket.bytesWritten ?? 0
}

/** An address without the part that tells one client from another: its last octet, or all but the first 48 bits. */
function shortAddress(address: string): string | null {
  if (address === '') return null
  const shared = addressSubject(address).split(/[.:]/).slice(0, 3)
  return address.includes(':') ? `${shared.join(':')}::` : `${shared.join('.')}.0`
}

function cut(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text.slice(0, MAX_LENGTH)
}
