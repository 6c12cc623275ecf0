/** An IRI. */
export interface NamedNode {
  readonly type: 'iri'
  readonly value: string
}

/** A literal; `language` is the empty string where it has none. */
export interface Literal {
  readonly type: 'literal'
  readonly value: string
  readonly datatype: string
  readonly language: string
}

/** A blank node. */
export interface BlankNode {
  readonly type: 'blank'
  readonly value: string
}

/** An RDF term (RDF 1.2 Concepts, section 3). */
export type Term = NamedNode | Literal | BlankNode | TripleTerm

/** A triple as a term, used as the object of a triple (RDF 1.2 Concepts, section 3.1). */
export interface TripleTerm {
  readonly type: 'triple'
  /** Its N-Triples, equal for equal triples; `tripleTerm` of rdf/ntriples.ts writes it. */
  readonly value: string
  readonly subject: NamedNode | BlankNode
  readonly predicate: NamedNode
  readonly object: Term
}

/** A triple pattern: an undefined position is a variable. */
export interface TriplePattern {
  readonly subject?: Term | undefined
  readonly predicate?: Term | undefined
  readonly object?: Term | undefined
}
