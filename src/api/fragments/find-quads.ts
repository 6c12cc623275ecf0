import type { LRUCache } from 'lru-cache'
import { mapConcurrently } from '../../model/bounded-concurrency.ts'
import { termText } from '../../rdf/ntriples.ts'
import type { Store } from '../../store/store.ts'
import type { Bindings } from './bindings.ts'
import { findPage } from './find.ts'
import { DEFAULT_GRAPH } from './metadata.ts'
import type { FragmentRequest, RequestedPattern, TriplePosition } from './pattern.ts'
import type { GraphPart } from './write.ts'

/** The graphs of an RDF dataset. */
export interface QuadGraphs {
  /** Those with names, and their names in the store. */
  readonly named: readonly { readonly iri: string; readonly graph: string }[]
  /** Graphs whose merge is the default graph. */
  readonly defaultGraphs: readonly string[]
  /** True if the default graph is exactly the union of the named graphs. */
  readonly isUnion: boolean
}

/** The requested quads of one graph, as a pattern on its triples. */
interface Part {
  /** null for the default graph. */
  readonly name: string | null
  readonly graphs: readonly string[]
  readonly pattern: RequestedPattern
  /** null if nothing is restricted. */
  readonly bindings: Bindings | null
}

/** The data of a page, and the number of triples or quads of the whole fragment. */
export interface FoundParts {
  readonly parts: readonly GraphPart[]
  readonly count: number
}

/** Cache of the numbers of quads of each part, by fragment. */
export type PartCounts = LRUCache<string, readonly number[]>

/** Maximum number of fragments with cached counts: clients request the pages of a fragment one after another. */
export const MAX_COUNTS = 200

/**
 * One page of the quads that match a pattern, graph by graph in the order of the dataset, and their number. A variable
 * for the graph matches the named graphs, and the default graph if that is not their union: its quads come last, without a
 * graph.
 *
 * @param key identifies the fragment and the version of its data
 */
export async function findQuads(
  store: Store,
  graphs: QuadGraphs,
  request: FragmentRequest,
  size: number,
  counts: PartCounts,
  key: string,
): Promise<FoundParts> {
  const requested = partsOf(graphs, request)
  const pageOf = ({ graphs, pattern, bindings }: Part, offset: number, limit: number) =>
    findPage(store, graphs, pattern, bindings, { offset, limit })
  // One triple is fetched, since only the triple shows whether a literal has another lexical form.
  const known =
    counts.get(key) ?? (await mapConcurrently(requested, async part => (await pageOf(part, 0, 1)).count))
  counts.set(key, known)
  const [from, to] = [(request.page - 1) * size, request.page * size]
  const parts: GraphPart[] = []
  let before = 0
  for (const [at, part] of requested.entries()) {
    const count = known[at] ?? 0
    const [first, end] = [Math.max(0, from - before), Math.min(count, to - before)]
    if (first < end) {
      const { triples } = await pageOf(part, first, end - first)
      parts.push({ name: part.name, triples })
    }
    before += count
  }
  return { parts, count: before }
}

function partsOf(graphs: QuadGraphs, { graph, pattern, bindings }: FragmentRequest): readonly Part[] {
  const place: TriplePosition = graph ?? { type: 'variable', name: '' }
  const whole = { name: null, graphs: graphs.defaultGraphs }
  const named = graphs.named.map(({ iri, graph: stored }) => ({ name: iri, graphs: [stored] }))
  if (place.type === 'term') {
    if (place.term.type !== 'iri') return []
    const { value } = place.term
    const found = value === DEFAULT_GRAPH ? [whole] : named.filter(({ name }) => name === value)
    return found.map(each => ({ ...each, pattern, bindings }))
  }
  const all = graphs.isUnion ? named : [...named, whole]
  if (place.name === '') return all.map(each => ({ ...each, pattern, bindings }))
  return all.flatMap(each => bound(each, place.name, pattern, bindings))
}

/** A part with its graph's name bound to the graph variable: rows of bindings with another name are excluded. */
function bound(
  part: Pick<Part, 'name' | 'graphs'>,
  variable: string,
  pattern: RequestedPattern,
  bindings: Bindings | null,
): readonly Part[] {
  const value = { type: 'iri', value: part.name ?? DEFAULT_GRAPH } as const
  const filled = (place: TriplePosition): TriplePosition =>
    place.type === 'variable' && place.name === variable ? { type: 'term', term: value } : place
  const inPattern = {
    subject: filled(pattern.subject),
    predicate: filled(pattern.predicate),
    object: filled(pattern.object),
  }
  if (bindings === null) return [{ ...part, pattern: inPattern, bindings }]
  const columns = bindings.variables.flatMap((name, at) => (name === variable ? [at] : []))
  const rows = bindings.rows.filter(row =>
    columns.every(at => {
      const term = row[at]
      return term === undefined || termText(term) === termText(value)
    }),
  )
  if (rows.length === 0) return []
  return [{ ...part, pattern: inPattern, bindings: { variables: bindings.variables, rows } }]
}
