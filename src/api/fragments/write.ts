import { noTripleTerms } from '../../formats/jsonld-node.ts'
import type { Representation } from '../../http/negotiate.ts'
import { iriText } from '../../rdf/ntriples.ts'
import { hasTripleTerms } from '../../rdf/ntriples-reader.ts'
import { compactGraph } from './compact.ts'
import { expandedDocument, expandedGraphs } from './jsonld.ts'

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

/** Lines of N-Triples as N-Quads. */
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
      parts.map(({ name, triples }) => (name === null ? triples : inGraph(linesOf(triples), name))).join(''),
  },
  {
    type: 'application/ld+json',
    write: ({ metadata, graph, parts }) =>
      expandedGraphs([{ name: graph, triples: metadata.join('') }, ...parts]),
  },
]

function linesOf(text: string): readonly string[] {
  return text.split(/(?<=\n)/).filter(line => line !== '')
}
