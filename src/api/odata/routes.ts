import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { type DatasetSource, requireComplete, type VisibleDatasets } from '../../catalog/visible.ts'
import {
  Fault,
  GONE,
  isFault,
  NOT_FOUND_RESOURCE,
  PRECONDITION_FAILED,
  VERSION_UNKNOWN,
} from '../../errors/errors.ts'
import { namesCredentials } from '../../http/authenticate.ts'
import { onceClosed } from '../../http/client-budget.ts'
import { type AnswerCache, isFresh, isMatched } from '../../http/conditional.ts'
import { answerVersions, type VersionSource } from '../../http/memento.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { configureRoutes, type RouteConfig } from '../../http/route-config.ts'
import { percentDecoded } from '../../language/odata/decode.ts'
import { ODATA_SEGMENT, ODATA_UNSUPPORTED } from '../../language/odata/faults.ts'
import { lookup } from '../../model/lookup.ts'
import { Executor, Stopwatch } from '../../query/execute/executor.ts'
import type { Store } from '../../store/store.ts'
import { answerText } from './answer.ts'
import { answerODataFault } from './faults.ts'
import { SNAPSHOT } from './format/links.ts'
import type { ServicePlace } from './format/shape.ts'
import type { ODataFormat } from './negotiate.ts'
import { readOptions } from './options.ts'
import { type RequestHeaders, readVersions, versionHeader } from './protocol-version.ts'
import { RowCache } from './query-entities.ts'
import { type ODataRequest, readRequest, split } from './request.ts'
import { serviceText } from './service.ts'
import { identifiedSets, type ServedSets, setsWithVersion, visibleSets } from './sets.ts'

export interface ODataOptions {
  readonly catalog: DatasetSource
  readonly store: Store
  /** Public address of the portal, without trailing slash. */
  readonly base: string
  /** A clock in milliseconds, for Server-Timing. */
  readonly clock: () => number
  /** Milliseconds since 1970, for `now()`. */
  readonly now: () => number
  readonly answers: AnswerCache
  readonly versions?: VersionSource
}

/** Path of the service below the address of the portal. */
export const ODATA_PATH = '/api/odata'

/**
 * The OData service (OData service 1): versions 4.0, 3.0 and 2.0 at one root. Paths are parsed from the
 * verbatim address, for keys may contain encoded slashes.
 */
export const odata: FastifyPluginAsync<ODataOptions> = async (app, options) => {
  const service = new Service(options)
  app.setErrorHandler(answerODataFault)
  configureRoutes(app, ROUTES)
  app.setNotFoundHandler({ config: ROUTES } as object, (request, reply) => {
    const segment = request.url.split(/[?#]/)[0]?.slice(ODATA_PATH.length + 1, ODATA_PATH.length + 100) ?? ''
    answerODataFault(new Fault(ODATA_SEGMENT, { segment }), request, reply)
  })
  app.addHook<unknown>('onSend', (request, reply, payload, done) => {
    settleHeaders(request, reply)
    done(null, payload)
  })
  if (options.versions !== undefined)
    answerVersions(app, options.versions, request => service.datasetOf(request))
  for (const url of ['/', '/*']) app.get(url, (request, reply) => service.answer(request, reply))
}

const ROUTES: RouteConfig = { endpoint: 'odata', isCounted: true, apiType: 'odata', unbuilt }

/**
 * The fault for POST requests of OData that this service does not support: batches, and options in the body. Null for any
 * other request, whose method is not allowed.
 */
function unbuilt({ method, url }: FastifyRequest): Fault | null {
  if (method !== 'POST') return null
  const last = /\/(?:\$|%24)(batch|query)\/?(?:\?|$)/i.exec(url)?.[1]?.toLowerCase()
  return last === undefined
    ? null
    : new Fault(ODATA_UNSUPPORTED, {
        reason: `$${last} is not supported: send each request by itself, with GET.`,
      })
}

/** Request headers that answers vary by, in addition to those of all APIs. */
const VERSIONS = ['OData-MaxVersion', 'MaxDataServiceVersion', 'OData-Version', 'DataServiceVersion']
const VARY = ['Accept', 'Prefer', ...VERSIONS]
const EXPOSED = ['OData-Version', 'DataServiceVersion', 'Preference-Applied']
const SENT = ['Prefer', 'If-Match', 'OData-Isolation', ...VERSIONS, 'X-CSRF-Token']

/** Adds the headers of the protocol to every answer, also to those sent before routing. */
function settleHeaders(request: FastifyRequest, reply: FastifyReply): void {
  if (request.method === 'OPTIONS') append(reply, 'access-control-allow-headers', SENT)
  append(reply, 'access-control-expose-headers', EXPOSED)
  append(reply, 'vary', VARY)
  if (!reply.hasHeader('odata-version') && !reply.hasHeader('dataserviceversion'))
    reply.header(...versionHeader('4.0'))
}

function append(reply: FastifyReply, name: string, more: readonly string[]): void {
  const before = String(reply.getHeader(name) ?? '')
  const known = before === '' ? [] : before.split(', ')
  reply.header(name, [...known, ...more.filter(each => !known.includes(each))].join(', '))
}

class Service {
  private readonly options: ODataOptions
  private readonly place: ServicePlace
  private readonly host: string
  private readonly rowCache = new RowCache()

  constructor(options: ODataOptions) {
    this.options = options
    this.place = { root: `${options.base}${ODATA_PATH}` }
    this.host = new URL(options.base).hostname
  }

  async answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    refuseIsolation(request.headers)
    const below = belowRoot(request)
    const visible = this.options.catalog.visibleTo(request.principal)
    const inForce = visibleSets(visible, this.host)
    const { version: requested, versionNote } = request
    const all =
      requested == null || versionNote === null
        ? await this.setsOfFirstPage(request, reply, inForce)
        : setsWithVersion(inForce, visible.dataset(versionNote.dataset, requested), this.host)
    const sets = readVersions(request.headers) === '2.0' ? identifiedSets(all) : all
    const place = this.placeOf(request)
    const read = readRequest(below, request.headers, { place, sets, missing: name => missing(visible, name) })
    const { resource, format, preferences } = read
    reply.header(...versionHeader(format.version))
    const applied = appliedTo(read)
    if (applied !== '') reply.header('preference-applied', applied)
    const isDocument =
      resource.type === 'service' || resource.type === 'metadata' || resource.type === 'vocabulary'
    if (isDocument) requireComplete(visible)
    const version = isDocument ? sets.version : resource.of.entry.version
    // The call is counted for the dataset.
    if (!isDocument) Object.assign(request.params as object, { dataset: resource.of.entry.dataset.id })
    const written = [format.contentType, format.version, preferences.pageSize, applied, place.root]
    const isKnown = this.isKnown(request, reply, version, written.join(' '))
    const refuseOther = () => refuseUnmatched(request.headers, reply.getHeader('etag'))
    if (isKnown) {
      refuseOther()
      return reply.code(304).send()
    }
    const cached = this.options.answers.find(reply)
    if (cached !== undefined) {
      refuseOther()
      return send(reply, format, cached)
    }
    if (isDocument) {
      refuseOther()
      return this.finish(reply, format, serviceText(resource, sets, format, place))
    }
    const executor = new Executor(this.options.store, new Stopwatch(this.options.clock))
    const { rowCache } = this
    const execution = { executor, rowCache, version: format.version, now: this.options.now() }
    const text = await answerText(resource, read, execution)
    // Invalid requests are reported before a failed precondition.
    refuseOther()
    const timing = executor.watch.header()
    if (timing !== '') reply.header('server-timing', timing)
    return text === null ? reply.code(204).send() : this.finish(reply, format, text)
  }

  /** The dataset whose versions a request is about; links name it by its set, which in 2.0 is no id. */
  datasetOf(request: FastifyRequest): string | null {
    const name = datasetNamed(request)
    if (name === null) return null
    const { byName } = identifiedSets(
      visibleSets(this.options.catalog.visibleTo(request.principal), this.host),
    )
    return byName.get(name)?.entry.dataset.id ?? name
  }

  /**
   * The sets of a request: further pages of a feed are read from the version of its first page, also after a newer one was
   * published. Faults: Gone where that version is not retained.
   */
  private async setsOfFirstPage(
    { query, raw, principal }: FastifyRequest,
    reply: FastifyReply,
    inForce: ServedSets,
  ): Promise<ServedSets> {
    const version = lookup(query as QueryParameters, SNAPSHOT)
    const { path, query: options } = split((raw.url ?? '').slice(ODATA_PATH.length))
    const name = /^\/([\w-]+)/.exec(path)?.[1] ?? ''
    const entry = identifiedSets(inForce).byName.get(name)?.entry
    const isCurrent = typeof version !== 'string' || entry === undefined || entry.version === version
    if (isCurrent || this.options.versions === undefined) return inForce
    if (!readOptions(options).system.has('skiptoken')) return inForce
    const { id } = entry.dataset
    try {
      onceClosed(reply.raw, (await this.options.versions.open(id, version, principal)).release)
      const older = this.options.catalog.visibleTo(principal).dataset(id, version)
      return setsWithVersion(inForce, older, this.host)
    } catch (error) {
      if (!isFault(error, VERSION_UNKNOWN)) throw error
      const reason = `The first page was of a version of ${id} that is no longer retained: begin again without $skiptoken.`
      throw new Fault(GONE, { reason })
    }
  }

  /** The address of the service, with the older version that is requested. */
  private placeOf({ version, versionNote }: FastifyRequest): ServicePlace {
    if (version == null || versionNote === null) return this.place
    return { ...this.place, version: { dataset: versionNote.dataset, version } }
  }

  /** Answers to an address with an API key repeat it in their links, so they must not be shared. */
  private isKnown(request: FastifyRequest, reply: FastifyReply, version: string, mediaType: string): boolean {
    const query = request.query as QueryParameters
    if (namesCredentials(query)) {
      reply.header('cache-control', 'private, no-store')
      return false
    }
    const below = belowRoot(request)
    // The tag depends on the verbatim address: unlike in other APIs, a plus sign may be literal.
    const exact = { ...query, path: percentDecoded(split(below).path, 'path'), raw: below }
    const requested = { url: request.url, query: exact, headers: request.headers }
    return isFresh(requested, reply, version, mediaType)
  }

  private finish(reply: FastifyReply, format: ODataFormat, text: string): FastifyReply {
    this.options.answers.keep(reply, text)
    return send(reply, format, text)
  }
}

/** Throws for a dataset that is not loaded yet or not visible to the caller; undefined for an unknown one. */
function missing(visible: VisibleDatasets, name: string): undefined {
  try {
    visible.dataset(name)
  } catch (error) {
    if (!isFault(error, NOT_FOUND_RESOURCE)) throw error
  }
  return undefined
}

/** Sends a body with exactly the given media type. */
function send(reply: FastifyReply, { contentType }: ODataFormat, text: string): FastifyReply {
  return reply
    .type(contentType)
    .serializer((body: unknown) => body as string)
    .send(text)
}

function belowRoot(request: FastifyRequest): string {
  return (request.raw.url ?? request.url).slice(ODATA_PATH.length)
}

/** The applied preferences: only sets have pages, and only JSON of 4.0 omits nulls. */
function appliedTo({ resource, format, preferences: { applied } }: ODataRequest): string {
  const isFeed = resource.type === 'feed' || resource.type === 'feedReferences'
  const isOmitting =
    (resource.type === 'feed' || resource.type === 'entity') &&
    format.type === 'json' &&
    format.version === '4.0'
  const described = [isFeed ? applied.pageSize : null, isOmitting ? applied.omitNulls : null]
  return described.filter(text => text !== null).join(', ')
}

/** The dataset that a request names: in its path, or of the metadata document of an older version. */
function datasetNamed(request: FastifyRequest): string | null {
  const below = belowRoot(request)
  const { dataset, version } = request.query as QueryParameters
  const isOlder = typeof dataset === 'string' && version !== undefined
  return isOlder && /^\/(?:\$|%24)metadata(?=\?)/.test(below)
    ? dataset
    : (/^\/([a-z0-9][a-z0-9_-]{0,99})(?=[/(?]|$)/.exec(below)?.[1] ?? null)
}

/**
 * Refuses requests for snapshot isolation, which services need not support, but must not ignore (OData 4.01 Protocol 8.2.4).
 * Faults: PreconditionFailed.
 */
export function refuseIsolation(headers: RequestHeaders): void {
  for (const name of ['odata-isolation', 'isolation'] as const)
    if (headers[name] !== undefined)
      throw new Fault(PRECONDITION_FAILED, {
        reason: `OData-Isolation: ${String(headers[name]).slice(0, 40)} is not supported.`,
      })
}

/**
 * Refuses an answer whose tag is not in If-Match (Protocol 8.2.4). Faults: PreconditionFailed.
 *
 * @param tag of the answer, as in its header
 */
export function refuseUnmatched({ 'if-match': known }: RequestHeaders, tag: unknown): void {
  if (isMatched(typeof known === 'string' ? known : undefined, typeof tag === 'string' ? tag : undefined))
    return
  throw new Fault(PRECONDITION_FAILED, {
    reason: 'If-Match: the data is another one now, or was never what the tag names.',
  })
}
