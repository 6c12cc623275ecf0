import type * as RDF from '@rdfjs/types'
import type { Term } from '../../rdf/term.ts'

/** Creates terms of RDF/JS (RDF/JS, "Data model"), as the validator's own factory does. */
export interface TermFactory {
  readonly namedNode: (value: string) => RDF.NamedNode
  readonly blankNode: (value?: string) => RDF.BlankNode
  readonly literal: (value: string, kind?: string | RDF.NamedNode) => RDF.Literal
  readonly quad: (
    subject: RDF.Quad_Subject,
    predicate: RDF.Quad_Predicate,
    object: RDF.Quad_Object,
  ) => RDF.Quad
}

/** A term for the validator; null for a triple term, which SHACL does not support. */
export function validatorTerm(
  term: Term,
  factory: TermFactory,
): RDF.NamedNode | RDF.BlankNode | RDF.Literal | null {
  switch (term.type) {
    case 'iri':
      return factory.namedNode(term.value)
    case 'blank':
      return factory.blankNode(term.value)
    case 'literal':
      return term.language === ''
        ? factory.literal(term.value, factory.namedNode(term.datatype))
        : factory.literal(term.value, term.language.replace(/--.*$/, ''))
    case 'triple':
      return null
  }
}

/** A unique key of a term. */
export function termKey(term: RDF.Term): string {
  switch (term.termType) {
    case 'NamedNode':
      return `<${term.value}`
    case 'Literal':
      return `"${term.language}^${term.datatype.value}"${term.value}`
    default:
      return `_${term.value}`
  }
}
