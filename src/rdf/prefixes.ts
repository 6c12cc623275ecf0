/** The prefixes under which a dataset's triples are written; the dataset's own fields get one of their own. */
export function datasetPrefixes(base: string, dataset: string): Readonly<Record<string, string>> {
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
  }
}
