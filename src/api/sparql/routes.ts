import { text as wholeText } from 'node:stream/consumers'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Fault, METHOD_NOT_ALLOWED } from '../../errors/errors.ts'
import type { Prefixes } from '../../formats/turtle.ts'
import { hangUpSignal } from '../../http/client-budget.ts'
import { type AnswerCache, varyBy } from '../../http/conditional.ts'
import { answerVersions, type VersionSource } from '../../http/memento.ts'
import { streamed } from '../../http/pieces.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { configureRoutes } from '../../http/route-config.ts'
import type { Principal } from '../../model/principal.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { answerPageOrProblem } from '../../site/fault-page.ts'
import { pageContextOf, type SiteOptions } from '../../site/page-context.ts'
import type { Store } from '../../store/store.ts'
import { DESCRIPTION_PREFIXES, describeEndpoint } from './description.ts'
import {
  datasetEndpoint,
  datasetOf,
  isFreshAnswer,
  portalEndpoint,
  type QueriedDataset,
  SPARQL_PATH,
  type SparqlEndpoint,
} from './endpoint.ts'
import { resolveServices, type ServiceContext } from './federation.ts'
import {
  type AnswerRepresentation,
  bodyOf,
  chooseResultFormat,
  GRAPH_FORMATS,
  HTML_PAGE,
  RESULT_FORMATS,
  type ResponseBody,
  streamOf,
} from './formats.ts'
import { answerGraph, namesGraph } from './graph-store.ts'
import { type ShownAnswer, sendSparqlPage } from './page.ts'
import { type QueryText, readQueryText } from './query-text.ts'
import { cursorContextOf, RestLink, readGet, readPost, type SparqlRequest } from './request.ts'
import { pieceText, remembered, runQuery } from './run.ts'
import { SERVICE_LIMITS, type ServiceLimits } from './service-results.ts'

/** Options of the endpoints; that of all datasets has the title of the portal. */
export interface SparqlOptions extends SiteOptions {
  readonly answers: AnswerCache
  readonly store: Store
  /** Seconds that a query may run. */
  readonly deadline: number
  /** Faults: NotFoundResource for an unknown id, Gone for one that was withdrawn, Unauthorised, ForbiddenAccess. */
  readonly dataset: (id: string, principal: Principal, version: string | null) => QueriedDataset
  readonly versions?: VersionSource
  /** All datasets that are visible to a principal: the same array while they do not change. */
  readonly datasets: (principal: Principal) => readonly QueriedDataset[]
  /** The external endpoints that SERVICE may query, none by default, and the limits of each SERVICE. */
  readonly services?: { readonly allowed: readonly string[]; readonly limits: ServiceLimits }
}

interface Route {
  readonly Params: { readonly dataset?: string }
  readonly Querystring: QueryParameters
  readonly Body: Buffer | undefined
}

/** Maximum bytes of a body: the longest query, encoded, and its dataset. */
const MAX_BYTES = 512 * 1024

/** Maximum characters of an answer on a page. */
const MAX_OF_PAGE = 5_000_000

/** Maximum bytes of a streamed answer that is cached. */
const MAX_CACHED = 2_000_000

/** Maximum number of prefixes of a query that its answer is serialised with. */
const MAX_PREFIXES = 30

/**
 * SPARQL 1.1 endpoints, read-only: `/api/sparql/{dataset}` and `/api/sparql` over all that are visible to the caller, with their
 * descriptions and their graphs (SPARQL 1.1 Protocol; Service Description; Graph Store HTTP Protocol).
 */
export const sparql: FastifyPluginAsync<SparqlOptions> = async (app, options) => {
  const { base, store, answers: cached } = options
  const portals = new WeakMap<readonly QueriedDataset[], SparqlEndpoint>()
  const find = ({ params: { dataset: id }, principal, version }: FastifyRequest<Route>): SparqlEndpoint =>
    id === undefined ? ofPortal(principal) : ofDataset(id, principal, version)
  const ofDataset = (id: string, principal: Principal, version: string | null): SparqlEndpoint =>
    datasetEndpoint(base, options.dataset(id, principal, version))
  const ofPortal = (principal: Principal): SparqlEndpoint => {
    const datasets = options.datasets(principal)
    const endpoint = portals.get(datasets) ?? portalEndpoint(base, options.title, datasets)
    portals.set(datasets, endpoint)
    return endpoint
  }
  const { allowed, limits } = options.services ?? { allowed: [], limits: SERVICE_LIMITS }
  const services = (principal: Principal) => ({
    allowed,
    limits,
    remaining: timer(limits.time),
    endpoint: (id: string | null) => (id === null ? ofPortal(principal) : ofDataset(id, principal, null)),
  })
  app.setErrorHandler(answerPageOrProblem(options, [...RESULT_FORMATS, HTML_PAGE]))
  const config = { endpoint: 'sparql', isCounted: true, methods: 'forms', apiType: 'sparql' } as const
  configureRoutes(app, config, [SPARQL_PATH])
  if (options.versions !== undefined) answerVersions(app, options.versions)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BYTES }, (_, body, done) => {
    done(null, body)
  })
  for (const path of [SPARQL_PATH, `${SPARQL_PATH}/:dataset`]) {
    app.get<Route>(path, async (request, reply) => {
      const endpoint = find(request)
      const requested = readGet(request.query)
      if (requested.query !== null)
        return answer(request, reply, { endpoint, requested, store, cache: cached, site: options, services })
      if (namesGraph(request.query)) return answerGraph(request, reply, endpoint, store)
      return answerDescription(request, reply, endpoint, requested.format, options)
    })
    app.post<Route>(path, async (request, reply) => {
      const endpoint = find(request)
      const requested = readPost(request.query, request.headers['content-type'], request.body)
      return answer(request, reply, { endpoint, requested, store, cache: null, site: options, services })
    })
  }
  app.get<Route>(`${SPARQL_PATH}/:dataset/data`, (request, reply) =>
    answerGraph(request, reply, find(request), store),
  )
  app.post<Route>(`${SPARQL_PATH}/:dataset/data`, async (request, reply) => {
    reply.header('allow', 'GET, HEAD, OPTIONS')
    throw new Fault(METHOD_NOT_ALLOWED, { method: request.method, allowed: 'GET' })
  })
}

interface EndpointRequest {
  readonly endpoint: SparqlEndpoint
  readonly requested: SparqlRequest
  readonly store: Store
  /** Cache of answers; null for those that no address identifies. */
  readonly cache: AnswerCache | null
  readonly site: SiteOptions
  /** The context of SERVICE for a principal. */
  readonly services: (
    principal: Principal,
  ) => Pick<ServiceContext, 'endpoint' | 'allowed' | 'limits' | 'remaining'>
}

async function answer(
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  { endpoint, requested, store, cache: cached, site, services }: EndpointRequest,
): Promise<FastifyReply> {
  const { accept } = request.headers
  const isPage =
    chooseResultFormat(requested.format, accept, [...RESULT_FORMATS, ...GRAPH_FORMATS]).type === 'text/html'
  const text = requested.query ?? ''
  const pageContext = isPage ? pageContextOf(request, site) : null
  varyBy(reply, 'Accept')
  try {
    const query = readQueryText(text, endpoint.address)
    const offers = query.form === 'select' || query.form === 'ask' ? RESULT_FORMATS : GRAPH_FORMATS
    const chosen =
      pageContext !== null
        ? null
        : (chooseResultFormat(requested.format, accept, offers) as AnswerRepresentation)
    const type = chosen?.type ?? 'text/html'
    if (cached === null || query.isVolatile) reply.header('cache-control', 'no-cache')
    else if (isFreshAnswer(request, reply, endpoint, type, pageContext)) return reply.code(304).send()
    // An answer with SERVICE may contain data that are visible only to the caller.
    if (query.services.length > 0) reply.header('cache-control', 'private, no-cache')
    const before = pageContext !== null ? undefined : cached?.find(reply)
    if (before !== undefined) return reply.type(`${type}; charset=utf-8`).send(before)
    const { defaultGraphs, named } = datasetOf(endpoint.catalog, requested.dataset ?? query.dataset)
    const signal = hangUpSignal(reply.raw)
    const resolved = await resolveServices(query, {
      ...services(request.principal),
      base: site.base,
      store,
      queryBase: endpoint.address,
      signal,
    })
    const [first] = offers
    const representation = chosen ?? first
    if (representation === undefined) throw new Error('there are no formats')
    const dataset = { defaultGraphs, named: [...named, ...resolved.named] }
    const continuation = cursorContextOf(request, endpoint, requested, query, representation.requested)
    const rest = new RestLink(continuation)
    const found = await runQuery(store, resolved.query, dataset, {
      format: representation.requested,
      base: endpoint.address,
      inline: resolved.inline,
      continuation,
      onStopped: rest.onStopped,
      signal,
    })
    const prefixes = usefulPrefixes(query.prefixes)
    if (pageContext !== null) {
      const body = await bodyOf(representation, await pieceText(found, MAX_OF_PAGE), prefixes)
      rest.head(reply)
      return sendSparqlPage(
        reply,
        pageContext,
        endpoint,
        text,
        shownOf(query, typeof body === 'string' ? body : await wholeText(body)),
      )
    }
    if (found.type === 'pieces') {
      const body = await streamOf(representation, found.pieces, prefixes)
      rest.addTrailer(reply)
      const keep = cached?.keeper(reply)
      const keepWhole = (text: string) => {
        if (!rest.isStopped) keep?.(text)
      }
      const sent = keep === undefined ? body : remembered(body, MAX_CACHED, keepWhole)
      return sendBody(reply, type, sent, found.pieces)
    }
    rest.head(reply)
    const body = await bodyOf(representation, found.text, prefixes)
    if (typeof body === 'string') cached?.keep(reply, body)
    return sendBody(reply, type, body)
  } catch (error) {
    if (pageContext === null || !(error instanceof Fault) || error.status === 500) throw error
    reply.removeHeader('etag').header('cache-control', 'no-cache, no-store')
    return sendSparqlPage(reply, pageContext, endpoint, text, { type: 'fault', fault: error }, error.status)
  }
}

async function answerDescription(
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: SparqlEndpoint,
  name: string | null,
  site: SparqlOptions,
): Promise<FastifyReply> {
  const format = chooseResultFormat(name, request.headers.accept, GRAPH_FORMATS)
  const { base, address, title, datasets, catalog } = endpoint
  reply.header('link', `<${base}/.well-known/void>; rel="describedby"`)
  const pageContext = 'requested' in format ? null : pageContextOf(request, site)
  if (isFreshAnswer(request, reply, endpoint, format.type, pageContext)) return reply.code(304).send()
  if (!('requested' in format) || pageContext !== null)
    return sendSparqlPage(reply, pageContext ?? pageContextOf(request, site), endpoint, null, {
      type: 'nothing',
    })
  const described = describeEndpoint({
    base,
    endpoint: address,
    title,
    datasets,
    catalog,
    deadline: site.deadline,
    services: site.services ?? { allowed: [], limits: SERVICE_LIMITS },
  })
  const body = await bodyOf(format, described, DESCRIPTION_PREFIXES)
  return sendBody(reply, format.type, body)
}

/** Returns a function for the remaining milliseconds of a duration; at least one. */
function timer(milliseconds: number): () => number {
  const end = performance.now() + milliseconds
  return () => Math.max(1, Math.round(end - performance.now()))
}

/** @param source what a stream is made of, if that has begun */
function sendBody(
  reply: FastifyReply,
  type: string,
  body: ResponseBody,
  source?: AsyncIterator<unknown>,
): FastifyReply {
  const payload = typeof body === 'string' ? body : streamed(body, source)
  return reply.type(`${type}; charset=utf-8`).send(payload)
}

function shownOf({ form }: QueryText, body: string): ShownAnswer {
  return form === 'select' || form === 'ask'
    ? { type: 'results', json: body }
    : { type: 'graph', turtle: body }
}

function usefulPrefixes(prefixes: Prefixes): Prefixes {
  const useful = Object.entries(prefixes).filter(([, namespace]) => isIri(namespace))
  return Object.fromEntries(useful.slice(0, MAX_PREFIXES))
}
