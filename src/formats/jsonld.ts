import { lookup, setMember } from '../model/lookup.ts'
import { parseTriples } from '../rdf/ntriples-reader.ts'
import type { Term } from '../rdf/term.ts'
import { RDF, XSD } from '../rdf/vocab.ts'

/**
 * Writes N-Triples that are at hand whole as JSON-LD (W3C JSON-LD 1.1): one node an IRI, a term of the context for each
 * predicate of the dataset's own vocabulary, values with type or language.
 *
 * @param vocabulary namespace of the dataset's predicates
 */
export function jsonldText(triples: string, vocabulary: string): string {
  const terms = new Map<string, string>()
  const nodes = new Map<string, Record<string, unknown>>()
  for (const { subject, predicate, object } of parseTriples(triples)) {
    const id = subject.type === 'blank' ? `_:${subject.value}` : subject.value
    const node = nodes.get(id) ?? { '@id': id }
    nodes.set(id, node)
    if (predicate.value === RDF.type && object.type !== 'literal') {
      append(node, '@type', object.type === 'blank' ? `_:${object.value}` : object.value)
      continue
    }
    append(node, keyOf(predicate.value, vocabulary, terms), jsonValue(object))
  }
  const graph = [...nodes.values()]
  const body = graph.length === 1 ? graph[0] : { '@graph': graph }
  return JSON.stringify({ '@context': Object.fromEntries(terms), ...body }, null, 2)
}

/** A predicate of the vocabulary becomes a term; any other stays the IRI that it is. */
function keyOf(predicate: string, vocabulary: string, terms: Map<string, string>): string {
  const local = predicate.startsWith(vocabulary) ? predicate.slice(vocabulary.length) : ''
  if (!/^[A-Za-z_][\w]*$/.test(local)) return predicate
  terms.set(local, predicate)
  return local
}

function jsonValue(term: Term): unknown {
  if (term.type === 'iri') return { '@id': term.value }
  if (term.type === 'blank') return { '@id': `_:${term.value}` }
  if (term.language !== '') return { '@value': term.value, '@language': term.language }
  if (term.datatype === XSD.string) return term.value
  if (term.datatype === XSD.boolean)
    return term.value === 'true' ? true : term.value === 'false' ? false : typed(term.value, term.datatype)
  if (term.datatype === XSD.integer && /^(0|-?[1-9]\d{0,14})$/.test(term.value)) return Number(term.value)
  return typed(term.value, term.datatype)
}

function typed(value: string, datatype: string): unknown {
  return { '@value': value, '@type': datatype }
}

function append(node: Record<string, unknown>, key: string, value: unknown): void {
  const before = lookup(node, key)
  if (before === undefined) setMember(node, key, value)
  else if (Array.isArray(before)) before.push(value)
  else setMember(node, key, [before, value])
}
