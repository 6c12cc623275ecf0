import type { Offer } from '../../http/negotiate.ts'
import { iriText } from '../../rdf/ntriples.ts'

/** A syntax in which a page can be written from its metadata and data, both lines of N-Triples. */
export interface FragmentFormat extends Offer {
  readonly write: (metadata: readonly string[], graph: string, data: string) => string
}

/** With a graph of its own for the metadata first; the triple formats mix both and are for those who ask for them. */
export const FRAGMENT_FORMATS: readonly FragmentFormat[] = [
  {
    type: 'application/trig',
    write: (metadata, graph, data) => `${iriText(graph)} {\n${metadata.join('')}}\n${data}`,
  },
  {
    type: 'application/n-quads',
    write: (metadata, graph, data) => {
      const end = ` ${iriText(graph)} .\n`
      return `${metadata.map(line => line.slice(0, -3) + end).join('')}${data}`
    },
  },
  { type: 'text/turtle', explicit: true, write: (metadata, _, data) => metadata.join('') + data },
  { type: 'application/n-triples', explicit: true, write: (metadata, _, data) => metadata.join('') + data },
]
