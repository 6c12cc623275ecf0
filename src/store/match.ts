import { isIri } from '../rdf/iri.ts'
import type { Term, TriplePattern } from '../rdf/term.ts'
import type { Node } from '../sparql/algebra.ts'
import { inGraph, triple, variable } from '../sparql/build.ts'
import { generate } from '../sparql/generate.ts'

/**
 * True for a pattern that no triple can match: a literal where none may stand, a blank node (data have none, they are
 * skolemised), or an IRI that is none. Such a pattern is not asked.
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

/** SPARQL for one page of the triples of a graph that match a pattern. */
export function pageQuery(graph: string, pattern: TriplePattern, offset: number, limit: number): string {
  const nodes = nodesOf(pattern)
  const where = [inGraph(graph, triple(nodes.subject, nodes.predicate, nodes.object))]
  return generate({ type: 'construct', template: [nodes], where, offset, limit })
}

/** SPARQL for the number of all triples of a graph that match a pattern, as ?count. */
export function countQuery(graph: string, pattern: TriplePattern): string {
  const { subject, predicate, object } = nodesOf(pattern)
  const expression = { type: 'aggregate', name: 'COUNT', distinct: false, operand: null } as const
  const projection = [{ variable: variable('count'), expression }]
  return generate({ type: 'select', projection, where: [inGraph(graph, triple(subject, predicate, object))] })
}

function nodesOf(pattern: TriplePattern): {
  readonly subject: Node
  readonly predicate: Node
  readonly object: Node
} {
  return {
    subject: pattern.subject ?? variable('s'),
    predicate: pattern.predicate ?? variable('p'),
    object: pattern.object ?? variable('o'),
  }
}
