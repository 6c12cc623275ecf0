import { datasetIri } from '../../rdf/minted-iris.ts'

/** A graph of the store and the IRI by which the world knows it. */
export interface PublicGraph {
  readonly iri: string
  /** Its name in the store, which has the version in it. */
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
  /** The named graphs that an RDF file brought with it. */
  readonly named: readonly PublicGraph[]
}

/** The graphs that an endpoint has. */
export interface GraphCatalog {
  /** Together the default graph. */
  readonly defaultGraphs: readonly string[]
  /** Those that `GRAPH ?name` goes through. */
  readonly named: readonly PublicGraph[]
  /** Those that a query may name, by their public IRI. */
  readonly byIri: ReadonlyMap<string, string>
}

/** The graphs that one query sees. */
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
 * The graphs of an endpoint: the served triples of its datasets together are the default graph, and each is a named graph
 * too, called like the dataset. Where the one dataset has named graphs of its own, those are the named graphs.
 */
export function graphCatalog(base: string, datasets: readonly QueriedDataset[]): GraphCatalog {
  const whole = datasets.map(({ id, graph }) => ({ iri: datasetIri(base, id), graph }))
  const own = datasets.flatMap(({ named }) => named)
  const all = [...whole, ...own]
  return {
    defaultGraphs: datasets.map(({ graph }) => graph),
    named: datasets.length === 1 && own.length > 0 ? own : all,
    byIri: new Map(all.map(({ iri, graph }) => [iri, graph])),
  }
}

/**
 * The dataset of a query: what it asks for, else all that the endpoint has. A graph that there is not is an empty one, as
 * it is for GRAPH.
 */
export function datasetOf(catalog: GraphCatalog, requested: DatasetRequest | null): QueryDataset {
  if (requested === null) return catalog
  const find = (iris: readonly string[]) =>
    [...new Set(iris)].flatMap(iri => {
      const graph = catalog.byIri.get(iri)
      return graph === undefined ? [] : [{ iri, graph }]
    })
  return {
    defaultGraphs: find(requested.defaultGraphs).map(({ graph }) => graph),
    named: find(requested.namedGraphs),
  }
}
