import type { FastifyReply, FastifyRequest } from 'fastify'
import { BY_CALLER, entityTag, isNotModified } from '../../http/conditional.ts'
import { addressWithoutSecrets } from '../../http/query-string.ts'
import { pageValidator } from '../../site/frame.ts'
import type { PageContext } from '../../site/page-context.ts'
import { type GraphCatalog, graphCatalog, type QueriedDataset } from './graphs.ts'

/** Path of the endpoints. */
export const SPARQL_PATH = '/api/sparql'

/** An endpoint: of one dataset, or of all that are public. */
export interface SparqlEndpoint {
  readonly base: string
  /** Its public address. */
  readonly address: string
  readonly title: string
  readonly datasets: readonly QueriedDataset[]
  readonly catalog: GraphCatalog
  /** Identifies all the data of its answers. */
  readonly version: string
}

/** The endpoint of one dataset. */
export function datasetEndpoint(base: string, dataset: QueriedDataset): SparqlEndpoint {
  const address = `${base}${SPARQL_PATH}/${encodeURIComponent(dataset.id)}`
  return endpointOf(base, address, dataset.title, [dataset])
}

/** The endpoint of all datasets. */
export function portalEndpoint(
  base: string,
  title: string,
  datasets: readonly QueriedDataset[],
): SparqlEndpoint {
  return endpointOf(base, `${base}${SPARQL_PATH}`, title, datasets)
}

function endpointOf(
  base: string,
  address: string,
  title: string,
  datasets: readonly QueriedDataset[],
): SparqlEndpoint {
  const version = entityTag(...datasets.flatMap(({ id, version }) => [id, version]))
  return { base, address, title, datasets, catalog: graphCatalog(base, datasets), version }
}

/**
 * Makes an answer to GET conditional: sets ETag, Cache-Control and Vary, and returns true if the client has it already.
 *
 * @param pageContext the user's context of a page; null for data, which are the same for all
 */
export function isFreshAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { version, base, address }: SparqlEndpoint,
  mediaType: string,
  pageContext: PageContext | null = null,
): boolean {
  const tag = entityTag(
    version,
    addressWithoutSecrets(request.raw.url ?? request.url),
    mediaType,
    ...(pageContext === null ? [] : pageValidator(pageContext)),
  )
  const isPage = pageContext !== null
  const isByCaller = address === base + SPARQL_PATH || isPage
  return isNotModified(request, reply, {
    tag,
    cacheControl: isPage ? 'no-cache' : 'public, max-age=60, stale-while-revalidate=600',
    vary: ['Accept', ...(isByCaller ? BY_CALLER : []), ...(isPage ? ['Accept-Language'] : [])],
  })
}
