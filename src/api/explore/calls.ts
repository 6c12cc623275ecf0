import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CallKind, CountedUse, NotedCall, Usage } from '../../catalog/usage.ts'
import { addressSubject, clientAddress } from '../../http/client-address.ts'
import { many } from '../../http/parameters.ts'
import { type QueryParameters, withoutSecrets } from '../../http/query-string.ts'
import type { RouteConfig } from '../../http/route-config.ts'
import { lookup } from '../../model/lookup.ts'

/** The kinds of calls that are not plain API calls, by their operations. */
const KINDS: Readonly<Record<string, CallKind>> = {
  records_export: 'download',
  attachment_lookup: 'attachment',
}

const MAX_LENGTH = 2000

interface BodyReport {
  readonly nhits: number | null
  readonly error: string | null
}

const NOTHING_REPORTED: BodyReport = { nhits: null, error: null }

/**
 * Records every call of the APIs (REST 7.3). It must come before the hooks that compress, for it reads the beginning of
 * bodies. A call with a whole body is recorded when it is sent, one with a stream when its response is closed: onResponse
 * hooks would cost each request more than all the rest.
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

interface Recorder {
  readonly usage: Usage
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Number of trusted proxies in front: 0 by default. */
  readonly proxies?: number
}

function record(request: FastifyRequest, reply: FastifyReply, sent: Sent, recorder: Recorder): void {
  const elapsed = reply.elapsedTime
  const isGood = request.method === 'GET' && (reply.statusCode === 200 || reply.statusCode === 304)
  note(
    request.raw,
    answeredWith(request, reply, sent),
    { elapsed, isGood, user: request.principal?.type === 'user' ? request.principal.name : null },
    recorder,
  )
}

/**
 * Returns a function that records further calls of anonymous clients that get a successful answer from the cache.
 *
 * @param body before compression; empty for 304
 */
export function repeatedCall(
  request: FastifyRequest,
  reply: FastifyReply,
  body: string,
  recorder: Recorder,
): (message: IncomingMessage) => void {
  const sent = { report: look(body, reply.statusCode), size: body.length, aborted: false }
  const answered = answeredWith(request, reply, sent)
  // A cached answer takes no time.
  const how = { elapsed: 0, isGood: true, user: null }
  return message => note(message, answered, how, recorder)
}

interface Sent {
  readonly report: BodyReport
  /** Bytes. */
  readonly size: number
  readonly aborted: boolean
}

/** A call without its user and time. */
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

interface CallOutcome {
  /** Milliseconds that the answer took. */
  readonly elapsed: number
  readonly isGood: boolean
  readonly user: string | null
}

function note(
  message: Pick<IncomingMessage, 'headers' | 'socket'>,
  answered: Answered,
  how: CallOutcome,
  { usage, now, proxies = 0 }: Recorder,
): void {
  usage.remember(answeredCall(message.headers, answered, how, clientAddress(message, proxies), now()))
  const { dataset, route } = answered
  const kind = route.isUse === false ? null : (lookup(KINDS, route.operation ?? '') ?? 'call')
  if (how.isGood && kind !== null && dataset !== null) usage.count(dataset, kind)
}

/**
 * A call and its user: only what is needed later is held, for thousands of them are in memory. Of a call with long texts it is
 * a copy of what is reported, since what is cut out of a text holds the whole text.
 */
function answeredCall(
  { 'user-agent': agent, referer, 'ods-api-analytics-app': attributes }: IncomingMessage['headers'],
  answered: Answered,
  how: CallOutcome,
  address: string,
  moment: number,
): NotedCall {
  const counted = (): CountedUse => {
    const { url, route, status, report } = answered
    const { attachment } = (answered.params ?? {}) as { readonly attachment?: string }
    return {
      timestamp: new Date(moment).toISOString().replace(/\.?0*Z$/, 'Z'),
      user_ip_addr: shortAddress(address),
      user_id: how.user,
      dataset_id: answered.dataset,
      api: route.operation ?? null,
      api_type: route.apiType ?? 'other',
      query_string: cut(withoutSecrets(url.split(/\?(.*)/s)[1] ?? '')),
      custom_attributes: cut(typeof attributes === 'string' ? attributes : undefined),
      format: formatOf(answered),
      size_res: answered.size,
      nhits: report.nhits,
      exec_time: Math.round(how.elapsed * 100) / 100,
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
  const length = [answered.url, agent, referer, attributes].reduce((sum, each = '') => sum + each.length, 0)
  return length <= MAX_LENGTH ? { counted } : copied(counted())
}

function copied(use: CountedUse): NotedCall {
  const copy = JSON.parse(JSON.stringify(use)) as CountedUse
  return { counted: () => copy }
}

/** Reads the beginning of a body: the number of hits, or the code of the error. */
function look(body: string, status: number): BodyReport {
  const error = status < 400 ? null : /"error_code":\s*"(\w+)"/.exec(body.slice(0, 300))?.[1]
  const hits = /^\{"total_count":\s*(\d+)/.exec(body.slice(0, 40))?.[1]
  return { nhits: hits === undefined ? null : Number(hits), error: error ?? null }
}

function datasetOf({ params }: { readonly params: unknown }): string | null {
  const { dataset } = (params ?? {}) as { readonly dataset?: unknown }
  return typeof dataset === 'string' ? dataset.slice(0, 100) : null
}

function formatOf({ route, params }: Answered): string | null {
  const { format } = (params ?? {}) as { readonly format?: string }
  return cut(format ?? route.format ?? (route.apiType?.startsWith('ods') === true ? 'json' : undefined))
}

function facetsOf(query: QueryParameters = {}): readonly string[] | null {
  const named = many(query, 'facet').filter(name => name !== '')
  return named.length === 0 ? null : [...new Set(named.slice(0, 50).map(name => name.slice(0, 100)))]
}

function written(request: FastifyRequest): number {
  return (request.raw.socket as Socket | null)?.bytesWritten ?? 0
}

/** An address without the part that identifies a client: without its last octet, or only the first 48 bits. */
function shortAddress(address: string): string | null {
  if (address === '') return null
  const shared = addressSubject(address).split(/[.:]/).slice(0, 3)
  return address.includes(':') ? `${shared.join(':')}::` : `${shared.join('.')}.0`
}

function cut(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text.slice(0, MAX_LENGTH)
}
