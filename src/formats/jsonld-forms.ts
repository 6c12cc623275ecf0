import { Fault, UNPROCESSABLE_ENTITY } from '../errors/errors.ts'
import { memoised } from '../model/memoised.ts'
import { parseTriples, type Triple } from '../rdf/ntriples-reader.ts'
import { RDF } from '../rdf/vocab.ts'
import {
  expandedValue,
  idOf,
  JsonldContext,
  JsonldNode,
  type Members,
  type TermNames,
  type Terms,
} from './jsonld-node.ts'

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
    memoised(nodes, id, () => new JsonldNode(id, context)).add(triple)
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

/**
 * Writes N-Triples as one JSON-LD document (W3C JSON-LD 1.1): a context with terms and prefixes, and a graph with a node for
 * consecutive triples of a subject, one a line. It streams the pieces, so that only one is in memory at a time.
 *
 * @param pieces whole lines of N-Triples
 */
export async function* jsonldStream(pieces: AsyncIterable<string>, names: TermNames): AsyncGenerator<string> {
  const context = new JsonldContext(names)
  yield `{"@context":${objectText(context.members)},\n"@graph":`
  yield* nodeTexts(
    pieces,
    id => new JsonldNode(id, context),
    node => objectText(node.members()),
  )
  yield '\n]}\n'
}

/** The array of the nodes for consecutive triples of a subject, one a line, without its end. */
async function* nodeTexts<Node extends { readonly id: string; readonly add: (triple: Triple) => void }>(
  pieces: AsyncIterable<string>,
  made: (id: string) => Node,
  textOf: (node: Node) => string,
): AsyncGenerator<string> {
  let before = '[\n'
  let node = null as Node | null
  for await (const piece of pieces) {
    let text = ''
    for (const triple of parseTriples(piece)) {
      const id = idOf(triple.subject)
      if (node?.id !== id) {
        if (node !== null) {
          text += before + textOf(node)
          before = ',\n'
        }
        node = made(id)
      }
      node.add(triple)
    }
    if (text !== '') yield text
  }
  yield node === null ? '[' : before + textOf(node)
}

function objectText(members: Members): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`
}

/** Maximum characters of N-Triples whose nodes are held in memory for flattening. */
const MAX_FLATTENED = 64_000_000

/**
 * Writes N-Triples as JSON-LD in a requested form (JSON-LD 1.1, section 5): compacted with a context; expanded, streamed node by
 * node; flattened, with each node once, which holds all nodes in memory. Faults: UnprocessableEntity for triple terms, and for
 * more than can be flattened.
 *
 * @param pieces whole lines of N-Triples
 */
export function jsonldInForm(
  form: 'compacted' | 'expanded' | 'flattened',
  pieces: AsyncIterable<string>,
  names: TermNames,
): AsyncGenerator<string> {
  switch (form) {
    case 'compacted':
      return jsonldStream(pieces, names)
    case 'expanded':
      return expanded(pieces)
    case 'flattened':
      return flattened(pieces)
    default:
      return form satisfies never
  }
}

async function* expanded(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let last = ''
  for await (const text of nodeTexts(
    pieces,
    id => new ExpandedNode(id),
    node => node.text(),
  )) {
    last = text
    yield text
  }
  yield last === '[' ? ']\n' : '\n]\n'
}

async function* flattened(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  const nodes = new Map<string, ExpandedNode>()
  let length = 0
  for await (const piece of pieces) {
    length += piece.length
    if (length > MAX_FLATTENED)
      throw new Fault(UNPROCESSABLE_ENTITY, {
        reason:
          'The graph is too large to be flattened, for which all of it is held. Ask for the expanded or compacted profile.',
      })
    for (const triple of parseTriples(piece)) {
      const id = idOf(triple.subject)
      memoised(nodes, id, () => new ExpandedNode(id)).add(triple)
    }
  }
  let before = '['
  for (const node of nodes.values()) {
    yield `${before}\n${node.text()}`
    before = ','
  }
  yield nodes.size === 0 ? '[]\n' : '\n]\n'
}

/** A node object in expanded form (JSON-LD 1.1 API, section 5.1): full IRIs, every value in an array. */
class ExpandedNode {
  readonly id: string
  private readonly values = new Map<string, Set<string>>()

  constructor(id: string) {
    this.id = id
  }

  add({ predicate, object }: Triple): void {
    const isType = predicate.value === RDF.type && object.type !== 'literal'
    const key = isType ? '@type' : predicate.value
    const value = isType ? idOf(object) : expandedValue(object)
    memoised(this.values, key, () => new Set()).add(JSON.stringify(value))
  }

  text(): string {
    const members = Array.from(
      this.values,
      ([key, values]) => `,${JSON.stringify(key)}:[${[...values].join(',')}]`,
    )
    return `{"@id":${JSON.stringify(this.id)}${members.join('')}}`
  }
}
