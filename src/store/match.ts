import { isIri } from '../rdf/iri.ts'
import { parseTerm } from '../rdf/ntriples-reader.ts'
import type { Term, TriplePattern } from '../rdf/term.ts'
import type { ConstructQuery, Node, Pattern, SelectQuery } from '../sparql/algebra.ts'
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

/** A query for one page of the triples of a graph that match a pattern. */
export function pageOf(graph: string, pattern: TriplePattern, offset: number, limit: number): ConstructQuery {
  const nodes = nodesOf(pattern)
  const where = [inGraph(graph, triple(nodes.subject, nodes.predicate, nodes.object))]
  return { type: 'construct', template: [nodes], where, offset, limit }
}

/** A query for the number of all triples of a graph that match a pattern, as ?count. */
export function countOf(graph: string, pattern: TriplePattern): SelectQuery {
  const { subject, predicate, object } = nodesOf(pattern)
  const expression = { type: 'aggregate', name: 'COUNT', distinct: false, operand: null } as const
  const projection = [{ variable: variable('count'), expression }]
  return { type: 'select', projection, where: [inGraph(graph, triple(subject, predicate, object))] }
}

/** SPARQL of {@link pageOf}. */
export function pageQuery(graph: string, pattern: TriplePattern, offset: number, limit: number): string {
  return generate(pageOf(graph, pattern, offset, limit))
}

/** SPARQL of {@link countOf}. */
export function countQuery(graph: string, pattern: TriplePattern): string {
  return generate(countOf(graph, pattern))
}

/** The position whose terms tell the rows of a long pattern apart; null where neither is a variable. */
export function keyPlace({ subject, object }: TriplePattern): 'subject' | 'object' | null {
  return subject === undefined ? 'subject' : object === undefined ? 'object' : null
}

/** SPARQL for the keys of some rows of a pattern in the store's order, as ?s or ?o. */
export function keysQuery(graph: string, pattern: TriplePattern, offset: number, limit: number): string {
  const { subject, predicate, object } = nodesOf(pattern)
  const projection = [{ variable: variable(keyPlace(pattern) === 'object' ? 'o' : 's') }]
  const where = [inGraph(graph, triple(subject, predicate, object))]
  return generate({ type: 'select', projection, where, offset, limit })
}

/**
 * SPARQL for all triples of a pattern that have one of some keys, each the text of a term: what stands in its variables,
 * in the order ?s ?p ?o. A CONSTRUCT of the same takes the embedded engine three times as long.
 */
export function valuesQuery(graph: string, pattern: TriplePattern, keys: readonly string[]): string {
  const { subject, predicate, object } = nodesOf(pattern)
  const projection = [subject, predicate, object].flatMap(node =>
    node.type === 'variable' ? [{ variable: node }] : [],
  )
  const name = keyPlace(pattern) === 'object' ? 'o' : 's'
  const where: Pattern[] = [
    { type: 'values', variable: variable(name), terms: keys.map(parseTerm) },
    inGraph(graph, triple(subject, predicate, object)),
  ]
  return generate({ type: 'select', projection, where })
}

/** SPARQL for some of the triples of a pattern that have one key, in the store's order. */
export function rangeQuery(
  graph: string,
  pattern: TriplePattern,
  key: string,
  offset: number,
  limit: number,
): string {
  const place = keyPlace(pattern) ?? 'subject'
  return pageQuery(graph, { ...pattern, [place]: parseTerm(key) }, offset, limit)
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
