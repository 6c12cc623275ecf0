import { parseTriples } from '../rdf/ntriples-reader.ts'
import { idOf, JsonldContext, JsonldNode, type Members, type TermNames } from './jsonld-node.ts'

/**
 * Writes N-Triples as one JSON-LD document (W3C JSON-LD 1.1): a context with terms and prefixes, and a graph with a node for
 * consecutive triples of a subject, one a line. It streams the pieces, so that only one is in memory at a time.
 *
 * @param pieces whole lines of N-Triples
 */
export async function* jsonldStream(pieces: AsyncIterable<string>, names: TermNames): AsyncGenerator<string> {
  const context = new JsonldContext(names)
  yield `{"@context":${objectText(context.members)},\n"@graph":[`
  let before = '\n'
  let node = null as JsonldNode | null
  for await (const piece of pieces) {
    let text = ''
    for (const triple of parseTriples(piece)) {
      const id = idOf(triple.subject)
      if (node?.id !== id) {
        if (node !== null) {
          text += before + objectText(node.members())
          before = ',\n'
        }
        node = new JsonldNode(id, context)
      }
      node.add(triple)
    }
    if (text !== '') yield text
  }
  yield `${node === null ? '' : before + objectText(node.members())}\n]}\n`
}

function objectText(members: Members): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`
}
