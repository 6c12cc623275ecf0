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

/**
 * The prefixes that every YARRRML document may use without declaring them (YARRRML, "Prefixes and namespaces"): those of
 * the initial context of RDFa.
 */
export const INITIAL_CONTEXT: Readonly<Record<string, string>> = {
  as: 'https://www.w3.org/ns/activitystreams#',
  cc: 'http://creativecommons.org/ns#',
  csvw: 'http://www.w3.org/ns/csvw#',
  ctag: 'http://commontag.org/ns#',
  dc: 'http://purl.org/dc/terms/',
  dc11: 'http://purl.org/dc/elements/1.1/',
  dcat: 'http://www.w3.org/ns/dcat#',
  dcterms: 'http://purl.org/dc/terms/',
  dqv: 'http://www.w3.org/ns/dqv#',
  duv: 'https://www.w3.org/ns/duv#',
  earl: 'http://www.w3.org/ns/earl#',
  foaf: 'http://xmlns.com/foaf/0.1/',
  gr: 'http://purl.org/goodrelations/v1#',
  grddl: 'http://www.w3.org/2003/g/data-view#',
  ical: 'http://www.w3.org/2002/12/cal/icaltzd#',
  jsonld: 'http://www.w3.org/ns/json-ld#',
  ldp: 'http://www.w3.org/ns/ldp#',
  ma: 'http://www.w3.org/ns/ma-ont#',
  oa: 'http://www.w3.org/ns/oa#',
  odrl: 'http://www.w3.org/ns/odrl/2/',
  og: 'http://ogp.me/ns#',
  org: 'http://www.w3.org/ns/org#',
  owl: 'http://www.w3.org/2002/07/owl#',
  prov: 'http://www.w3.org/ns/prov#',
  qb: 'http://purl.org/linked-data/cube#',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfa: 'http://www.w3.org/ns/rdfa#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  rev: 'http://purl.org/stuff/rev#',
  rif: 'http://www.w3.org/2007/rif#',
  rr: 'http://www.w3.org/ns/r2rml#',
  schema: 'http://schema.org/',
  sd: 'http://www.w3.org/ns/sparql-service-description#',
  sioc: 'http://rdfs.org/sioc/ns#',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  skosxl: 'http://www.w3.org/2008/05/skos-xl#',
  sosa: 'http://www.w3.org/ns/sosa/',
  ssn: 'http://www.w3.org/ns/ssn/',
  time: 'http://www.w3.org/2006/time#',
  v: 'http://rdf.data-vocabulary.org/#',
  vcard: 'http://www.w3.org/2006/vcard/ns#',
  void: 'http://rdfs.org/ns/void#',
  wdr: 'http://www.w3.org/2007/05/powder#',
  wdrs: 'http://www.w3.org/2007/05/powder-s#',
  xhv: 'http://www.w3.org/1999/xhtml/vocab#',
  xml: 'http://www.w3.org/XML/1998/namespace',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
}
