import { noTripleTerms } from '../../formats/jsonld-node.ts'
import { lookup, setMember } from '../../model/lookup.ts'
import { parseTriples } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { RDF, XSD } from '../../rdf/vocab.ts'

/**
 * N-Triples as a JSON-LD document in expanded form (W3C JSON-LD 1.1, section 4): without a context no IRI of the data
 * can be taken for an abbreviation. The metadata come first, in a graph of their own.
 *
 * @param graph name of the graph of the metadata; null for a document with the data alone
 */
export function expandedDocument(metadata: readonly string[], graph: string | null, data: string): string {
  const named = graph === null ? [] : [{ '@id': graph, '@graph': nodesOf(metadata.join('')) }]
  return JSON.stringify([...named, ...nodesOf(data)])
}

/** Graphs of N-Triples as a JSON-LD document in expanded form, in their order; null names the default graph. */
export function expandedGraphs(
  parts: readonly { readonly name: string | null; readonly triples: string }[],
): string {
  const nodes = parts.flatMap(({ name, triples }): readonly object[] => {
    const own = nodesOf(triples)
    return name === null ? own : [{ '@id': name, '@graph': own }]
  })
  return JSON.stringify(nodes)
}

type JsonNode = Record<string, unknown> & { readonly '@id': string }

/** One object a subject, in the order of the first triples; the types come first, for readers of streams. */
function nodesOf(triples: string): readonly JsonNode[] {
  const nodes = new Map<string, JsonNode>()
  const types = new Map<string, string[]>()
  for (const { subject, predicate, object } of parseTriples(triples)) {
    const id = idOf(subject)
    const node: JsonNode = nodes.get(id) ?? { '@id': id }
    nodes.set(id, node)
    if (predicate.value === RDF.type && object.type !== 'literal') {
      const known = types.get(id)
      if (known === undefined) types.set(id, [idOf(object)])
      else known.push(idOf(object))
    } else append(node, predicate.value, jsonValue(object))
  }
  return [...nodes.entries()].map(([id, node]) => {
    const type = types.get(id)
    return type === undefined ? node : { '@type': type, ...node }
  })
}

function append(node: JsonNode, key: string, value: unknown): void {
  const before = lookup(node, key)
  if (Array.isArray(before)) before.push(value)
  else setMember(node, key, [value])
}

function jsonValue(term: Term): unknown {
  if (term.type === 'triple') throw noTripleTerms()
  if (term.type !== 'literal') return { '@id': idOf(term) }
  const { value, datatype, language } = term
  if (language === '')
    return datatype === XSD.string ? { '@value': value } : { '@value': value, '@type': datatype }
  const [tag, direction] = language.split('--')
  return {
    '@value': value,
    '@language': tag,
    ...(direction === undefined ? {} : { '@direction': direction }),
  }
}

function idOf(term: Term): string {
  return term.type === 'blank' ? `_:${term.value}` : term.value
}
