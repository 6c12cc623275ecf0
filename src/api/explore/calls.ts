import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Call, CallKind, Usage } from '../../catalog/usage.ts'
import type { QueryParameters } from '../../http/query-string.ts'

/** What is known of a route: which API it belongs to, what it answers, and what a call of it counts as. */
interface RouteFacts {
  readonly apiType: string
  readonly api: string | null
  /** null for what is no use of a dataset of this portal. */
  readonly kind: CallKind | null
}

/** The APIs by the beginnings of their addresses (facts on "Monitoring": api_type), the more precise first. */
const APIS: readonly (readonly [prefix: string, apiType: string])[] = [
  ['/api/explore/v2.0', 'ods_v2.0'],
  ['/api/explore/v2.1', 'ods_v2.1'],
  ['/api/v2', 'ods_v2'],
  ['/api/records/1.0', 'ods_v1'],
  ['/api/datasets/1.0', 'ods_v1'],
  ['/api/odata', 'odata'],
  ['/api/tpf', 'tpf'],
  ['/api/sparql', 'sparql'],
]

/** What calls are, by the end of their route below the source (facts on "Monitoring": api). */
const RESOURCES: Readonly<Record<string, string>> = {
  '': 'api_source',
  '/datasets': 'datasets_index',
  '/aggregates': 'aggregate_datasets',
  '/facets': 'datasets_facets',
  '/exports': 'datasets_exports_index',
  '/exports/:format': 'datasets_export',
  '/metadata_templates': 'metadata_template_index',
  '/metadata_templates/:type': 'metadata_template_type',
  '/metadata_templates/:type/:template': 'metadata_template_lookup',
  '/datasets/:dataset': 'dataset_lookup',
  '/datasets/:dataset/records': 'records_index',
  '/datasets/:dataset/records/:record': 'record_lookup',
  '/datasets/:dataset/aggregates': 'aggregate_records',
  '/datasets/:dataset/facets': 'records_facets',
  '/datasets/:dataset/exports': 'records_exports_index',
  '/datasets/:dataset/attachments': 'attachments_index',
  '/datasets/:dataset/attachments/:attachment': 'attachment_lookup',
}

/** Parameters whose values let somebody in (query API, "Authentication"). */
const SECRETS: readonly string[] = [
  'apikey',
  'access_token',
  'refresh_token',
  'client_secret',
  'code',
  'password',
  'token',
]

const LONGEST = 2000

/** What the body of a call told. */
interface Seen {
  nhits: number | null
  error: string | null
}

/**
 * Has every call of the APIs counted and remembered (facts on "Monitoring and network sources"). It must come before the
 * hooks that compress, for it reads the beginning of bodies. A body that is at hand is noted when it is sent, a stream
 * when its connection has done with it: the hooks that come after a response cost each request more than the rest.
 *
 * @param now milliseconds since 1970
 */
export function recordCalls(http: FastifyInstance, usage: Usage, now: () => number): void {
  http.addHook('onSend', (request, reply, payload, done) => {
    if (request.url.startsWith('/api/')) {
      if (payload instanceof Readable) recordStream(request, reply, { usage, now })
      else recordBody(request, reply, payload, { usage, now, aborted: false })
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
  const seen: Seen = { nhits: null, error: null }
  if (typeof payload === 'string') look(seen, payload, reply.statusCode)
  const size = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
  record(request, reply, seen, size, recorder)
}

function recordStream(
  request: FastifyRequest,
  reply: FastifyReply,
  recorder: Omit<Recorder, 'aborted'>,
): void {
  const before = written(request)
  reply.raw.once('close', () => {
    const aborted = !reply.raw.writableFinished
    record(request, reply, { nhits: null, error: null }, written(request) - before, { ...recorder, aborted })
  })
}

interface Recorder {
  readonly usage: Usage
  readonly now: () => number
  readonly aborted: boolean
}

function record(
  request: FastifyRequest,
  reply: FastifyReply,
  seen: Seen,
  size: number,
  recorder: Recorder,
): void {
  remember(request, reply, seen, size, recorder)
  const { kind } = routeFacts(request.routeOptions.url ?? '')
  const dataset = datasetOf(request)
  const isGood = request.method === 'GET' && (reply.statusCode === 200 || reply.statusCode === 304)
  if (isGood && kind !== null && dataset !== null) recorder.usage.count(dataset, kind)
}

/** Notes what a call was; how the monitoring tells it is worked out when it is asked. */
function remember(
  request: FastifyRequest,
  reply: FastifyReply,
  seen: Seen,
  size: number,
  recorder: Recorder,
): void {
  const { url, query, params, headers } = request
  const moment = recorder.now()
  const address = request.raw.socket.remoteAddress
  const pattern = request.routeOptions.url ?? ''
  const status = reply.statusCode
  const elapsed = reply.elapsedTime
  const { aborted } = recorder
  recorder.usage.remember(() =>
    callOf({ url, query, params, headers, pattern, address, moment, status, size, elapsed, aborted }, seen),
  )
}

type Noted = Pick<FastifyRequest, 'url' | 'query' | 'params' | 'headers'> & {
  readonly pattern: string
  readonly address: string | undefined
  readonly moment: number
  readonly status: number
  readonly size: number
  readonly elapsed: number
  readonly aborted: boolean
}

function callOf(noted: Noted, seen: Seen): Call {
  const { url, headers, pattern, status } = noted
  const { apiType, api } = routeFacts(pattern)
  const { 'user-agent': agent, referer } = headers
  const attributes = headers['ods-api-analytics-app']
  const { attachment } = (noted.params ?? {}) as { readonly attachment?: string }
  return {
    timestamp: new Date(noted.moment).toISOString().replace(/\.?0*Z$/, 'Z'),
    user_ip_addr: shortAddress(noted.address),
    user_id: null,
    dataset_id: datasetOf(noted),
    api,
    api_type: apiType,
    query_string: withoutSecrets(url.split(/\?(.*)/s)[1] ?? ''),
    custom_attributes: cut(typeof attributes === 'string' ? attributes : undefined),
    format: formatOf(noted),
    size_res: noted.size,
    nhits: seen.nhits,
    exec_time: Math.round(noted.elapsed * 100) / 100,
    request_aborted: noted.aborted,
    facet: facetsOf(noted.query as QueryParameters | undefined),
    in_error: status >= 400,
    error: status >= 400 ? (seen.error ?? 'HTTPError') : null,
    attachment_id: cut(attachment),
    user_agent: cut(agent),
    referer: cut(referer?.replace(/[?#].*$/s, '').replace(/\/\/[^/@]*@/, '//')),
    bot: /bot\b|crawl|spider|slurp/i.test(agent ?? ''),
  }
}

/** What a body says of itself at its beginning: the number of hits, or the name of the error. */
function look(seen: Seen, payload: string, status: number): void {
  if (status >= 400) seen.error = /"error_code":\s*"(\w+)"/.exec(payload.slice(0, 300))?.[1] ?? null
  const hits = /^\{"total_count":\s*(\d+)/.exec(payload.slice(0, 40))?.[1]
  if (hits !== undefined) seen.nhits = Number(hits)
}

const routes = new Map<string, RouteFacts>()

/** What is known of a route, by its pattern; patterns are few. */
function routeFacts(pattern: string): RouteFacts {
  const known = routes.get(pattern)
  if (known !== undefined) return known
  const [prefix = '', apiType = 'other'] = APIS.find(([begin]) => pattern.startsWith(begin)) ?? []
  const tail = pattern.slice(prefix.length).replace(/\/$/, '')
  const [, source, rest = ''] = /^\/(catalog|monitoring|network)(\/.*)?$/.exec(tail) ?? []
  const named = rest.replace(/^\/datasets\/:dataset\/exports\/.+$/, 'export')
  const isDownload = named === 'export' || rest.startsWith('/exports/')
  const api = named === 'export' ? 'records_export' : (RESOURCES[rest] ?? null)
  const isOwn = pattern.includes('/:dataset') && (source === undefined || source === 'catalog')
  const use = isDownload ? 'download' : api === 'attachment_lookup' ? 'attachment' : 'call'
  const facts: RouteFacts = {
    apiType,
    api: source === undefined ? (tail === '' && apiType.startsWith('ods') ? 'api_root' : null) : api,
    kind: isOwn ? use : null,
  }
  routes.set(pattern, facts)
  return facts
}

function datasetOf({ params }: { readonly params: unknown }): string | null {
  const { dataset } = (params ?? {}) as { readonly dataset?: unknown }
  return typeof dataset === 'string' ? dataset.slice(0, 100) : null
}

function formatOf({ pattern, params }: Noted): string | null {
  const { format } = (params ?? {}) as { readonly format?: string }
  const fixed = /\/exports\/([^/:]+)$/.exec(pattern)?.[1]
  return cut(format ?? fixed ?? (routeFacts(pattern).apiType.startsWith('ods') ? 'json' : undefined))
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
function shortAddress(address: string | undefined): string | null {
  const four = /^(?:::ffff:)?(\d+\.\d+\.\d+)\.\d+$/i.exec(address ?? '')?.[1]
  if (four !== undefined) return `${four}.0`
  const groups = (address ?? '').split('::')[0]?.split(':') ?? []
  return groups.length >= 3 ? `${groups.slice(0, 3).join(':')}::` : null
}

/** A query string whose credentials are taken out; null for none. */
function withoutSecrets(text: string): string | null {
  const pairs = text.split('&').map(pair => {
    const [name = ''] = pair.split('=')
    return SECRETS.includes(decoded(name).toLowerCase()) ? `${name}=redacted` : pair
  })
  return cut(pairs.join('&'))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' ')).trim()
  } catch {
    return text
  }
}

function cut(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text.slice(0, LONGEST)
}
