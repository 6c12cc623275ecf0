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

/** An RDF term (RDF 1.1 Concepts, section 3). */
export type Term = NamedNode | Literal | BlankNode

/** A triple as a term (RDF 1.2 Concepts, section 3.1): answers of SPARQL have it, and no published graph. */
export interface TripleTerm {
  readonly type: 'triple'
  readonly subject: NamedNode | BlankNode
  readonly predicate: NamedNode
  readonly object: AnswerTerm
}

/** Whatever stands in an answer of SPARQL. */
export type AnswerTerm = Term | TripleTerm

/** A triple pattern: a position that is undefined is a variable. */
export interface TriplePattern {
  readonly subject?: Term | undefined
  readonly predicate?: Term | undefined
  readonly object?: Term | undefined
}
