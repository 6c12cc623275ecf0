import type { FastifyReply, FastifyRequest } from 'fastify'
import { BY_CALLER, entityTag, isNotModified } from '../../http/conditional.ts'
import { addressWithoutSecrets } from '../../http/query-string.ts'
import { groupedBy } from '../../model/memoised.ts'
import { datasetIri } from '../../rdf/minted-iris.ts'
import { pageValidator } from '../../site/frame.ts'
import type { PageContext } from '../../site/page-context.ts'

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

/** A graph of the store and its public IRI, which graphs of other datasets may have as well: then it names their merge. */
export interface PublicGraph {
  readonly iri: string
  /** Its name in the store, which contains the version. */
  readonly graph: string
}

/** What an endpoint needs of a dataset. */
export interface QueriedDataset {
  readonly id: string
  readonly title: string
  readonly version: string
  readonly triples: number
  /** Graph whose triples are served. */
  readonly graph: string
  /** The named graphs of its RDF file. */
  readonly named: readonly PublicGraph[]
}

/** The graphs that an endpoint has. */
export interface GraphCatalog {
  /** Graphs whose union is the default graph. */
  readonly defaultGraphs: readonly string[]
  /** Graphs that `GRAPH ?name` iterates over. */
  readonly named: readonly PublicGraph[]
  /** Graphs that a query may name, by their public IRI. */
  readonly byIri: ReadonlyMap<string, readonly PublicGraph[]>
}

/** The RDF dataset of one query. */
export interface QueryDataset {
  readonly defaultGraphs: readonly string[]
  readonly named: readonly PublicGraph[]
}

/** The graphs of an RDF dataset (SPARQL 1.1 Protocol, section 2.1.4), by their public IRIs. */
export interface DatasetRequest {
  readonly defaultGraphs: readonly string[]
  readonly namedGraphs: readonly string[]
}

/**
 * The graphs of an endpoint: the union of the served graphs of its datasets is the default graph, and each is also a named
 * graph with the IRI of the dataset. If the only dataset has its own named graphs, these are used instead.
 */
export function graphCatalog(base: string, datasets: readonly QueriedDataset[]): GraphCatalog {
  const whole = datasets.map(({ id, graph }) => ({ iri: datasetIri(base, id), graph }))
  const own = datasets.flatMap(({ named }) => named)
  const all = [...whole, ...own]
  return {
    defaultGraphs: datasets.map(({ graph }) => graph),
    named: datasets.length === 1 && own.length > 0 ? own : all,
    byIri: graphsByIri(all),
  }
}

/** The graphs of each public IRI, in their order. */
export function graphsByIri(graphs: readonly PublicGraph[]): ReadonlyMap<string, readonly PublicGraph[]> {
  return groupedBy(graphs, ({ iri }) => iri)
}

/**
 * The RDF dataset of a query: the requested one, else all graphs of the endpoint. An unknown graph is an empty one, as it
 * is for GRAPH.
 */
export function datasetOf(catalog: GraphCatalog, requested: DatasetRequest | null): QueryDataset {
  if (requested === null) return catalog
  const find = (iris: readonly string[]) => [...new Set(iris)].flatMap(iri => catalog.byIri.get(iri) ?? [])
  return {
    defaultGraphs: find(requested.defaultGraphs).map(({ graph }) => graph),
    named: find(requested.namedGraphs),
  }
}
