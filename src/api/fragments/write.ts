import type { Offer } from '../../http/negotiate.ts'
import { iriText } from '../../rdf/ntriples.ts'
import { compactGraph } from './compact.ts'
import { expandedDocument } from './jsonld.ts'

/** Statements about a document, the graph that keeps them apart, and its data, both as lines of N-Triples. */
export interface Content {
  readonly metadata: readonly string[]
  /** null where there is nothing to keep apart. */
  readonly graph: string | null
  readonly data: string
}

/** A syntax in which a document can be written. */
export interface DataFormat extends Offer {
  readonly write: (content: Content) => string
}

/** HTML, which is written by whoever knows what a person is to see. */
export const HTML: Offer = { type: 'text/html', explicit: true }

const mixed = ({ metadata, data }: Content) => metadata.join('') + data

const jsonld = ({ metadata, graph, data }: Content) => expandedDocument(metadata, graph, data)

/** With a graph of its own for the metadata first; the triple formats mix both and are for those who ask for them. */
export const DATA_FORMATS: readonly DataFormat[] = [
  {
    type: 'application/trig',
    write: ({ metadata, graph, data }) =>
      graph === null ? data : compactGraph(iriText(graph), metadata) + data,
  },
  {
    type: 'application/n-quads',
    // Clients that read both like it a little better, but every statement names its graph.
    weight: 0.9,
    write: ({ metadata, graph, data }) => {
      if (graph === null) return data
      const end = ` ${iriText(graph)} .\n`
      return `${metadata.map(line => line.slice(0, -3) + end).join('')}${data}`
    },
  },
  { type: 'application/ld+json', write: jsonld },
  { type: 'text/turtle', explicit: true, write: mixed },
  { type: 'application/n-triples', explicit: true, write: mixed },
  { type: 'text/n3', explicit: true, write: mixed },
  { type: 'application/json', explicit: true, write: jsonld },
]
