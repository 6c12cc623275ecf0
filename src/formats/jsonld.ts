import { parseTriples, type Triple } from '../rdf/ntriples-reader.ts'
import { idOf, JsonldContext, JsonldNode, type Terms } from './jsonld-node.ts'

/**
 * Writes a complete N-Triples text as JSON-LD (W3C JSON-LD 1.1): one node an IRI, a context term for each predicate of the
 * dataset's own vocabulary, values with type or language.
 *
 * @param vocabulary namespace of the dataset's predicates
 */
export function jsonldText(text: string, vocabulary: string): string {
  const triples = [...parseTriples(text)]
  const context = new JsonldContext({ terms: termsOf(triples, vocabulary) })
  const nodes = new Map<string, JsonldNode>()
  for (const triple of triples) {
    const id = idOf(triple.subject)
    const node = nodes.get(id) ?? new JsonldNode(id, context)
    nodes.set(id, node)
    node.add(triple)
  }
  const graph = Array.from(nodes.values(), node => Object.fromEntries(node.members()))
  const body = graph.length === 1 ? graph[0] : { '@graph': graph }
  return JSON.stringify({ '@context': Object.fromEntries(context.members), ...body }, null, 2)
}

/** A predicate of the vocabulary becomes a term; any other remains an IRI. */
function termsOf(triples: readonly Triple[], vocabulary: string): Terms {
  const terms = new Map<string, string>()
  for (const { predicate } of triples) {
    const local = predicate.value.startsWith(vocabulary) ? predicate.value.slice(vocabulary.length) : ''
    if (/^[A-Za-z_]\w*$/.test(local)) terms.set(local, predicate.value)
  }
  return [...terms]
}
