import { isIri } from './iri-syntax.ts'

/** A prefix that is valid in Turtle, SPARQL and XML. */
const PREFIX = /^(?!xml)[A-Za-z](?:[\w-]{0,60}\w)?$/i

/**
 * The prefixes with which a dataset's triples are written; the dataset's fields get their own prefix.
 *
 * @param own those that its mapping declares: they take precedence
 */
export function datasetPrefixes(
  base: string,
  dataset: string,
  own: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const usable = Object.entries(own).filter(([prefix, namespace]) => PREFIX.test(prefix) && isIri(namespace))
  return {
    field: `${base}/ld/ontologies/${encodeURIComponent(dataset)}/`,
    record: `${base}/ld/resources/${encodeURIComponent(dataset)}/records/`,
    rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
    rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
    xsd: 'http://www.w3.org/2001/XMLSchema#',
    geo: 'http://www.opengis.net/ont/geosparql#',
    dcterms: 'http://purl.org/dc/terms/',
    foaf: 'http://xmlns.com/foaf/0.1/',
    void: 'http://rdfs.org/ns/void#',
    ...Object.fromEntries(usable),
  }
}

/** The prefixed name of an IRI, or of an IRI template, by the longest namespace; null if it is in none. */
export function prefixedName(iri: string, prefixes: Readonly<Record<string, string>>): string | null {
  const [best] = Object.entries(prefixes)
    .filter(([, namespace]) => namespace !== '' && iri.startsWith(namespace) && iri !== namespace)
    .sort(([, a], [, b]) => b.length - a.length)
  return best === undefined ? null : `${best[0]}:${iri.slice(best[1].length)}`
}
