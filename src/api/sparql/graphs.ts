import { groupedBy } from '../../model/memoised.ts'
import { datasetIri } from '../../rdf/minted-iris.ts'

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
