import { noTripleTerms } from '../../formats/jsonld-node.ts'
import type { Representation } from '../../http/negotiate.ts'
import { lookup, setMember } from '../../model/lookup.ts'
import { memoised } from '../../model/memoised.ts'
import { iriText } from '../../rdf/ntriples.ts'
import { hasTripleTerms, parseTriples, splitTriples } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { DCTERMS, FOAF, HYDRA, RDF, VOID, XSD } from '../../rdf/vocab.ts'

/** Metadata of a document, the graph that separates them, and its data, both as lines of N-Triples. */
export interface Content {
  readonly metadata: readonly string[]
  /** null if metadata and data need no separation. */
  readonly graph: string | null
  readonly data: string
}

/** Metadata of a page of quads, and its quads by their graphs. */
export interface QuadContent {
  readonly metadata: readonly string[]
  readonly graph: string
  readonly parts: readonly {
    /** The name of the graph; null for the default graph. */
    readonly name: string | null
    /** Lines of N-Triples. */
    readonly triples: string
  }[]
}

/** A syntax in which a document can be written. */
export interface DataFormat extends Representation {
  readonly write: (content: Content) => string
}

/** A syntax in which quads can be written. */
export interface QuadFormat extends Representation {
  readonly write: (content: QuadContent) => string
}

/** HTML, which is rendered separately, since it depends on the user. */
export const HTML: Representation = { type: 'text/html', explicit: true }

function inGraph(lines: readonly string[], graph: string): string {
  const end = ` ${iriText(graph)} .\n`
  return lines.map(line => line.slice(0, -3) + end).join('')
}

const mixed = ({ metadata, data }: Content) => metadata.join('') + data

/** Throws UnprocessableEntity for triple terms, which N3 does not have. */
function n3(content: Content): string {
  if (hasTripleTerms(content.data)) throw noTripleTerms('N3')
  return mixed(content)
}

const jsonld = ({ metadata, graph, data }: Content) => expandedDocument(metadata, graph, data)

/** First those with a separate graph for the metadata; the triple formats mix both and are served only on request. */
export const DATA_FORMATS: readonly DataFormat[] = [
  {
    type: 'application/trig',
    write: ({ metadata, graph, data }) =>
      graph === null ? data : compactGraph(iriText(graph), metadata) + data,
  },
  {
    type: 'application/n-quads',
    // Clients that read both rate it a little higher, but every statement repeats its graph.
    weight: 0.9,
    write: ({ metadata, graph, data }) => {
      return graph === null ? data : inGraph(metadata, graph) + data
    },
  },
  { type: 'application/ld+json', write: jsonld },
  { type: 'text/turtle', explicit: true, write: mixed },
  { type: 'application/n-triples', explicit: true, write: mixed },
  { type: 'text/n3', explicit: true, write: n3 },
  { type: 'application/json', explicit: true, write: jsonld },
]

function quadsJsonld({ metadata, graph, parts }: QuadContent): string {
  return expandedGraphs([{ name: graph, triples: metadata.join('') }, ...parts])
}

/** The formats that distinguish graphs; in each the metadata come first. */
export const QUAD_FORMATS: readonly QuadFormat[] = [
  {
    type: 'application/trig',
    write: ({ metadata, graph, parts }) =>
      compactGraph(iriText(graph), metadata) +
      parts
        .map(({ name, triples }) => (name === null ? triples : `${iriText(name)} {\n${triples}}\n`))
        .join(''),
  },
  {
    type: 'application/n-quads',
    weight: 0.9,
    write: ({ metadata, graph, parts }) =>
      inGraph(metadata, graph) +
      parts
        .map(({ name, triples }) =>
          name === null
            ? triples
            : inGraph(
                triples.split(/(?<=\n)/).filter(line => line !== ''),
                name,
              ),
        )
        .join(''),
  },
  { type: 'application/ld+json', write: quadsJsonld },
  { type: 'application/json', explicit: true, write: quadsJsonld },
]

/** Prefixes of the vocabularies that the metadata of pages use. */
const NAMESPACES: readonly (readonly [prefix: string, namespace: string])[] = [
  ['hydra', namespaceOf(HYDRA.search)],
  ['void', namespaceOf(VOID.subset)],
  ['rdf', namespaceOf(RDF.type)],
  ['dcterms', namespaceOf(DCTERMS.title)],
  ['foaf', namespaceOf(FOAF.primaryTopic)],
]

const PREFIXES = NAMESPACES.map(([prefix, namespace]) => `@prefix ${prefix}: <${namespace}>.\n`).join('')

/**
 * Lines of N-Triples inside a graph of TriG, in their order: a third of the length, which for clients that read hundreds of
 * pages is a third of the work.
 *
 * @param graph the IRI of the graph, in its brackets
 */
function compactGraph(graph: string, lines: readonly string[]): string {
  let text = `${PREFIXES}${graph} {\n`
  let subject = ''
  for (const triple of splitTriples(lines.join(''))) {
    const end = triple.subject === subject ? ';\n' : `${subject === '' ? '' : '.\n'}${triple.subject} `
    text += `${end}${shortIri(triple.predicate)} ${triple.object.startsWith('<') ? shortIri(triple.object) : triple.object.replace(INTEGER, '$1')}`
    subject = triple.subject
  }
  return `${text}.\n}\n`
}

const INTEGER = new RegExp(`^"(\\d+)"\\^\\^<${XSD.integer}>$`)

function shortIri(iri: string): string {
  for (const [prefix, namespace] of NAMESPACES)
    if (iri.startsWith(namespace, 1)) {
      const local = iri.slice(namespace.length + 1, -1)
      return /^[A-Za-z]+$/.test(local) ? `${prefix}:${local}` : iri
    }
  return iri
}

function namespaceOf(iri: string): string {
  return iri.replace(/[^#/]*$/, '')
}

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
    if (predicate.value === RDF.type && object.type !== 'literal')
      memoised(types, id, () => []).push(idOf(object))
    else append(node, predicate.value, jsonValue(object))
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
