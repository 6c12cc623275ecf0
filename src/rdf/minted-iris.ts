import { iriSafe } from './iri-syntax.ts'

/**
 * The IRIs that Lodestone mints: the only module that defines their form (Linked data 1.1). `base` is the configured public URL
 * without a trailing slash.
 */

/** IRI of a record: `{base}/ld/resources/{dataset}/records/{recordid}`. */
export function recordIri(base: string, dataset: string, recordId: string): string {
  return `${recordsSpace(base, dataset)}${recordId}`
}

/** The common prefix of the IRIs of all records of a dataset. */
export function recordsSpace(base: string, dataset: string): string {
  return `${base}/ld/resources/${encodeURIComponent(dataset)}/records/`
}

/** IRI of a field as a predicate: `{base}/ld/ontologies/{dataset}/{field}`. */
export function fieldIri(base: string, dataset: string, field: string): string {
  return `${base}/ld/ontologies/${encodeURIComponent(dataset)}/${propertyName(field)}`
}

/**
 * The last segment of a predicate IRI: the field name as an XML NCName, so that RDF/XML can write it. A name whose first
 * character after any underscores is a digit gets one more underscore, so that different names stay different.
 */
export function propertyName(field: string): string {
  return /^_*\d/.test(field) ? `_${field}` : encodeURIComponent(field)
}

/** IRI of the dataset as a resource of its own. */
export function datasetIri(base: string, dataset: string): string {
  return `${base}/ld/resources/${encodeURIComponent(dataset)}`
}

/** IRI that replaces a blank node of a dataset's file (RDF 1.1 Concepts, section 3.5): blank nodes are never published. */
export function skolemIri(base: string, dataset: string, label: string): string {
  return `${base}/.well-known/genid/${encodeURIComponent(dataset)}/${iriSafe(label)}`
}

/**
 * The named graphs of one published version: facts; mapped, if it has its own mapping; named, for each graph that an RDF file
 * names; unnamed, for the triples of such a file outside of any graph.
 */
export type GraphRole = 'facts' | 'mapped' | 'named' | 'unnamed'

/** Name of a graph of a published version. Only store and catalog use it. */
export function graphIri(dataset: string, version: string, role: GraphRole): string {
  return `urn:lodestone:graph:${encodeURIComponent(dataset)}:${version}:${role}`
}

/** The name of a graph without its version: the same in the next version. */
export function unversionedGraph(graph: string): string {
  return graph.replace(/^(urn:lodestone:graph:[^:]*):[^:]*:/, '$1:')
}

/** Name of the graph that holds the triples of an RDF file's graph with the IRI `name`. */
export function namedGraphIri(dataset: string, version: string, name: string): string {
  return `${graphIri(dataset, version, 'named')}:${encodeURIComponent(name)}`
}
