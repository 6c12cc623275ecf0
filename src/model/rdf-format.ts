/** RDF syntaxes from which a dataset can be imported. */
export type RdfFormat = 'turtle' | 'ntriples' | 'nquads' | 'trig' | 'rdfxml' | 'jsonld'

/** True for a syntax that supports named graphs. */
export function hasNamedGraphs(format: RdfFormat): boolean {
  return format === 'nquads' || format === 'trig' || format === 'jsonld'
}
