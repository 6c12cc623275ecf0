import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { descriptionAddress, portalDescriptionAddress } from '../../catalog/void.ts'
import { Fault } from '../../errors/errors.ts'
import type { AnswerCache } from '../../http/answer-cache.ts'
import { BY_CALLER } from '../../http/conditional.ts'
import { namesCredentials } from '../../http/credentials.ts'
import { negotiate, type Representation } from '../../http/negotiate.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import { lookup } from '../../model/lookup.ts'
import type { Principal } from '../../model/principal.ts'
import { pageText } from '../../site/frame.ts'
import { pageContextOf, type SiteOptions } from '../../site/page-context.ts'
import type { Store } from '../../store/store.ts'
import { foreignParameters, fragmentIri, pageIri, portalQuadsAddress, quadsAddress } from './address.ts'
import { answerKnown, describeBy, send } from './answer.ts'
import { findQuads, type PartCounts, partCounts, type QuadGraphs } from './find-quads.ts'
import { type FragmentPlace, metadataGraph, pageMetadata, QUAD_PLACES } from './metadata.ts'
import { PATTERN_PARAMETERS, parseRequest } from './pattern.ts'
import { quadPage } from './quad-page.ts'
import { HTML, QUAD_FORMATS, type QuadContent, type QuadFormat } from './write.ts'

/** An RDF dataset whose quads are asked for: a dataset of the portal, or all of them. */
export interface QuadDataset {
  readonly title: string
  readonly description: string | null
  /** Names everything that its answers are made of. */
  readonly version: string
  readonly graphs: QuadGraphs
}

/** What quad pattern fragments are made from. */
export interface QuadsOptions {
  /** Faults: NotFoundResource for an id that there is not, Gone for one that was withdrawn, Unauthorised, ForbiddenAccess. */
  readonly dataset: (id: string, principal: Principal, version: string | null) => QuadDataset
  /** All datasets that somebody may see as one, each a graph. */
  readonly portal: (principal: Principal) => QuadDataset
}

interface Context extends SiteOptions {
  readonly pageSize: number
  readonly store: Store
  readonly quads: QuadsOptions
  readonly answers: AnswerCache
  readonly cache?: Pick<ResponseCache, 'cacheable'>
}

interface Route {
  readonly Params: { readonly dataset?: string }
  readonly Querystring: QueryParameters
}

/**
 * Quad pattern fragments: `/api/qpf/{dataset}` with the named graphs of a dataset, and `/api/qpf` with each dataset that the
 * caller may see as a graph. They are as triple pattern fragments, with `graph` as the fourth parameter and mapping, and the
 * name of the default graph (https://linkeddatafragments.org/specification/quad-pattern-fragments/).
 */
export function addQuadRoutes(app: FastifyInstance, context: Context): void {
  const counts = partCounts()
  for (const path of ['/api/qpf', '/api/qpf/:dataset'])
    app.get<Route>(path, (request, reply) => answerQuads(request, reply, context, context.answers, counts))
}

async function answerQuads(
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  { pageSize, store, quads, cache, ...site }: Context,
  cached: AnswerCache,
  counts: PartCounts,
): Promise<FastifyReply> {
  const { base } = site
  const { query, principal } = request
  const id = request.params.dataset
  const dataset = id === undefined ? quads.portal(principal) : quads.dataset(id, principal, request.version)
  const format = chooseFormat(request)
  const pageContext = 'write' in format ? null : pageContextOf(request, site)
  const requested = parseRequest(query, true)
  describeBy(reply, id === undefined ? portalDescriptionAddress(base) : descriptionAddress(base, id))
  const target = request.raw.url ?? request.url
  const here = pageIri(base, target)
  const whole = fragmentIri(here)
  const address = id === undefined ? portalQuadsAddress(base) : quadsAddress(base, id)
  const memory = namesCredentials(query) ? undefined : cached
  const known = answerKnown(request, reply, {
    format,
    pageContext,
    parts: ['quads', dataset.version, target, String(pageSize)],
    answers: memory,
    ...(id === undefined ? { vary: BY_CALLER } : { cache }),
  })
  if (known !== null) return known
  const { pattern, graph, bindings, page } = requested
  const key = JSON.stringify([address, dataset.version, pattern, graph, bindings])
  const { parts, count } = await findQuads(store, dataset.graphs, requested, pageSize, counts, key)
  const isStart = [...Object.values(pattern), graph].every(place => place?.type === 'variable')
  const description = {
    base,
    dataset,
    address,
    places: QUAD_PLACES,
    pageIri: here,
    fragmentIri: whole,
    page,
    pageSize,
    foreign: foreignParameters(here, PATTERN_PARAMETERS),
    isStart,
    count,
  }
  const content = { metadata: pageMetadata(description), graph: metadataGraph(description), parts }
  const body =
    pageContext !== null
      ? pageText(
          pageContext,
          quadPage(
            { ...description, pageContext, id: id ?? null, requested: requestedTexts(query) },
            content,
          ),
        )
      : textIn(format, content)
  memory?.keep(reply, body)
  return send(reply, format, body, pageContext)
}

function requestedTexts(query: QueryParameters) {
  const text = (name: FragmentPlace) => String(lookup(query, name) ?? '')
  return {
    subject: text('subject'),
    predicate: text('predicate'),
    object: text('object'),
    graph: text('graph'),
  }
}

function textIn(format: QuadFormat | Representation, content: QuadContent): string {
  if (!('write' in format)) throw new Error(`there is no writer for ${format.type}`)
  return format.write(content)
}

const OFFERS: readonly (QuadFormat | Representation)[] = [...QUAD_FORMATS, HTML]

function chooseFormat(request: FastifyRequest<Route>): QuadFormat | Representation {
  const format = negotiate(request.headers.accept, OFFERS)
  if (format !== null) return format
  throw new Fault('NotAcceptable', { available: OFFERS.map(({ type }) => type).join(', ') })
}
