import { isIri } from '../rdf/iri.ts'
import type { Term, TriplePattern } from '../rdf/term.ts'

/**
 * True for a pattern that no triple can match: a literal where none may stand, a blank node (data have none, they are
 * skolemised), or an IRI that is none. Such a pattern is not sent to the store.
 */
export function isImpossible({ subject, predicate, object }: TriplePattern): boolean {
  const impossible = (term: Term | undefined) =>
    term !== undefined && (term.type === 'blank' || (term.type === 'iri' && !isIri(term.value)))
  return (
    subject?.type === 'literal' ||
    predicate?.type === 'literal' ||
    impossible(subject) ||
    impossible(predicate) ||
    impossible(object)
  )
}
