import { parseTriples } from '../rdf/ntriples-reader.ts'
import type { Term } from '../rdf/term.ts'
import { RDF, XSD } from '../rdf/vocab.ts'

/** Names and the predicates that they stand for. */
export type Terms = readonly (readonly [name: string, iri: string])[]

/**
 * Writes N-Triples as one JSON-LD document (W3C JSON-LD 1.1): a context with a term for each known predicate, and a graph
 * with a node for the triples of a subject that stand together, a line each. Pieces come and go, so that memory holds one
 * at a time.
 *
 * @param pieces whole lines of N-Triples
 */
export async function* jsonldStream(pieces: AsyncIterable<string>, terms: Terms): AsyncGenerator<string> {
  yield `{"@context":${objectText(terms)},\n"@graph":[`
  const names = new Map(terms.map(([name, iri]) => [iri, name]))
  let before = '\n'
  let node = null as Node | null
  for await (const piece of pieces) {
    let text = ''
    for (const { subject, predicate, object } of parseTriples(piece)) {
      const id = reference(subject)
      if (node?.id !== id) {
        if (node !== null) {
          text += before + nodeText(node)
          before = ',\n'
        }
        node = { id, values: new Map() }
      }
      const isType = predicate.value === RDF.type && object.type !== 'literal'
      const key = isType ? '@type' : (names.get(predicate.value) ?? predicate.value)
      const value = isType ? reference(object) : jsonValue(object)
      const values = node.values.get(key)
      if (values === undefined) node.values.set(key, [value])
      else values.push(value)
    }
    if (text !== '') yield text
  }
  yield `${node === null ? '' : before + nodeText(node)}\n]}\n`
}

interface Node {
  readonly id: string
  readonly values: Map<string, unknown[]>
}

/** An object with any keys, `__proto__` among them. */
function objectText(entries: Iterable<readonly [key: string, value: unknown]>): string {
  return `{${Array.from(entries, ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`
}

function nodeText({ id, values }: Node): string {
  const properties = Array.from(values, ([key, all]) => [key, all.length === 1 ? all[0] : all] as const)
  return objectText([['@id', id], ...properties])
}

function reference(term: Exclude<Term, { type: 'literal' }>): string {
  return term.type === 'blank' ? `_:${term.value}` : term.value
}

/**
 * A term as a value: a plain JSON value only where it stands for exactly this literal (JSON-LD 1.1 API, section 8.2.2).
 */
function jsonValue(term: Term): unknown {
  if (term.type !== 'literal') return { '@id': reference(term) }
  const { value, datatype, language } = term
  if (language !== '') {
    const [tag, direction] = language.split('--')
    const more = direction === undefined ? {} : { '@direction': direction }
    return { '@value': value, '@language': tag, ...more }
  }
  if (datatype === XSD.string) return value
  if (datatype === XSD.boolean && (value === 'true' || value === 'false')) return value === 'true'
  if (datatype === XSD.integer && /^(?:0|-?[1-9]\d{0,14})$/.test(value)) return Number(value)
  return { '@value': value, '@type': datatype }
}
