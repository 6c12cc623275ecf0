import { tripleTerm } from './ntriples.ts'
import type { BlankNode, NamedNode, Term } from './term.ts'
import { XSD } from './vocab.ts'

/** A term of RDF/JS libraries (RDF/JS, "Data interfaces"); a triple has parts and no value. */
export interface RdfJsTerm {
  readonly termType: string
  readonly value: string
  readonly language?: string
  readonly direction?: 'ltr' | 'rtl' | '' | null
  readonly datatype?: { readonly value: string }
  readonly subject?: RdfJsTerm
  readonly predicate?: RdfJsTerm
  readonly object?: RdfJsTerm
}

/** The term of a result; null for an unbound variable. */
export function answerTerm(term: RdfJsTerm | undefined): Term | null {
  switch (term?.termType) {
    case 'NamedNode':
      return { type: 'iri', value: term.value }
    case 'BlankNode':
      return { type: 'blank', value: term.value }
    case 'Literal': {
      const { value, datatype, language = '', direction } = term
      const tag = direction ? `${language}--${direction}` : language
      return { type: 'literal', value, datatype: datatype?.value ?? XSD.string, language: tag }
    }
    case 'Quad': {
      const [subject, predicate, object] = [term.subject, term.predicate, term.object].map(answerTerm)
      if (!isResource(subject) || predicate?.type !== 'iri' || !object) return null
      return tripleTerm(subject, predicate, object)
    }
    default:
      return null
  }
}

function isResource(term: Term | null | undefined): term is NamedNode | BlankNode {
  return term?.type === 'iri' || term?.type === 'blank'
}
