/** Syntaxes of RDF that a dataset can be read from. */
export type RdfFormat = 'turtle' | 'ntriples' | 'nquads' | 'trig' | 'rdfxml' | 'jsonld'
