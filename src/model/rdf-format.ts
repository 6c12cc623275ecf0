/** Syntaxes of RDF that a dataset can be read from. */
export type RdfFormat = 'turtle' | 'ntriples' | 'nquads' | 'trig' | 'rdfxml' | 'jsonld'

/** True for a syntax that can put triples into graphs with names. */
export function hasNamedGraphs(format: RdfFormat): boolean {
  return format === 'nquads' || format === 'trig' || format === 'jsonld'
}
