import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { descriptionAddress, portalDescriptionAddress } from '../../catalog/void.ts'
import { BY_CALLER } from '../../http/conditional.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import type { Principal } from '../../model/principal.ts'
import type { Store } from '../../store/store.ts'
import { portalQuadsAddress } from './address.ts'
import { answerFragment, type FragmentAnswerOptions, type FragmentSource, type Offer } from './answer.ts'
import { findQuads, MAX_COUNTS, type PartCounts, type QuadGraphs } from './find-quads.ts'
import { QUAD_PLACES } from './metadata.ts'
import { quadPage } from './page.ts'
import { HTML, QUAD_FORMATS, type QuadContent } from './write.ts'

/** An RDF dataset whose quads are requested: a dataset of the portal, or all of them. */
export interface QuadDataset {
  readonly title: string
  readonly description: string | null
  /** Identifies all the data of its answers. */
  readonly version: string
  readonly graphs: QuadGraphs
}

/** What quad pattern fragments need. */
export interface QuadsOptions {
  /** Faults: NotFoundResource for an unknown id, Gone for one that was withdrawn, Unauthorised, ForbiddenAccess. */
  readonly dataset: (id: string, principal: Principal, version: string | null) => QuadDataset
  /** All datasets that are visible to a principal as one, each a graph. */
  readonly portal: (principal: Principal) => QuadDataset
}

interface Context extends FragmentAnswerOptions {
  readonly store: Store
  readonly quads: QuadsOptions
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
  const counts: PartCounts = new LRUCache({ max: MAX_COUNTS })
  for (const path of ['/api/qpf', '/api/qpf/:dataset'])
    app.get<Route>(path, async (request, reply) =>
      answerFragment(request, reply, context, sourceOf(request, context, counts)),
    )
}

function sourceOf(
  { params: { dataset: id }, principal, version }: FastifyRequest<Route>,
  { base, pageSize, store, quads, cache }: Context,
  counts: PartCounts,
): FragmentSource<Pick<QuadContent, 'parts'>> {
  const dataset = id === undefined ? quads.portal(principal) : quads.dataset(id, principal, version)
  const portal = portalQuadsAddress(base)
  const address = id === undefined ? portal : `${portal}/${encodeURIComponent(id)}`
  return {
    dataset,
    address,
    describedBy: id === undefined ? portalDescriptionAddress(base) : descriptionAddress(base, id),
    places: QUAD_PLACES,
    offers: OFFERS,
    find: async requested => {
      const { pattern, graph, bindings } = requested
      const key = JSON.stringify([address, dataset.version, pattern, graph, bindings])
      const { parts, count } = await findQuads(store, dataset.graphs, requested, pageSize, counts, key)
      return { found: { parts }, count }
    },
    page: (view, content) => quadPage(view, id ?? null, content),
    ...(id === undefined ? { vary: BY_CALLER } : { cache }),
  }
}

const OFFERS: readonly Offer<QuadContent>[] = [...QUAD_FORMATS, HTML]
