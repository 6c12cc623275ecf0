import type { TriplePattern } from '../rdf/term.ts'
import { isImpossible } from './match.ts'
import type { Store } from './store.ts'

/** Counts that are kept, by graph and pattern; those of patterns with long texts are not. */
const COUNTS_KEPT = 20_000
const LONGEST_KEY = 1000

/** What an engine answers about the triples of a graph that match a pattern; `deadline` in milliseconds. */
export interface PatternSource {
  /** Some of them as N-Triples text, in an order that is the same each time. */
  page(
    graph: string,
    pattern: TriplePattern,
    part: { readonly offset: number; readonly limit: number },
    deadline: number | undefined,
  ): Promise<string>
  count(graph: string, pattern: TriplePattern, deadline: number | undefined): Promise<number>
  /** Triples of a whole graph, where that is known; null for a graph that the engine does not have. */
  size(graph: string): number | null | undefined
  /** Rows from which on a page is asked for only where it is known to have something. */
  readonly shallow: number
}

/** Triple patterns over the graphs of a store: pages, and counts that are asked once. */
export class Patterns {
  private readonly source: PatternSource
  private readonly counts = new Map<string, number>()
  private readonly counting = new Map<string, Promise<number>>()

  constructor(source: PatternSource) {
    this.source = source
  }

  readonly count: Store['count'] = async (graph, pattern, options) => {
    const known = this.knownCount(graph, pattern)
    if (known !== undefined) return known
    const key = keyOf(graph, pattern)
    const asked = this.counting.get(key) ?? this.source.count(graph, pattern, options?.deadline)
    this.counting.set(key, asked)
    try {
      const count = await asked
      this.keep(graph, pattern, count)
      return count
    } finally {
      this.counting.delete(key)
    }
  }

  readonly match: Store['match'] = async (graph, pattern, { offset, limit }, options) => {
    if (isImpossible(pattern)) return { triples: '', count: 0 }
    const isDeep = offset >= this.source.shallow
    const known = isDeep ? await this.count(graph, pattern, options) : this.knownCount(graph, pattern)
    if (known !== undefined && offset >= known) return { triples: '', count: known }
    const triples = await this.source.page(graph, pattern, { offset, limit }, options?.deadline)
    if (isDeep && known !== undefined) return { triples, count: known }
    const found = countLines(triples)
    if (known !== undefined || found === limit || (found === 0 && offset > 0))
      return { triples, count: known ?? (await this.count(graph, pattern, options)) }
    this.keep(graph, pattern, offset + found)
    return { triples, count: offset + found }
  }

  /** Forgets graphs that are dropped. */
  forget(graphs: readonly string[]): void {
    for (const key of this.counts.keys())
      if (graphs.some(graph => key.startsWith(`${graph}\n`))) this.counts.delete(key)
  }

  /** A count that needs no question: nothing can match, everything does, or it was asked before. */
  private knownCount(graph: string, pattern: TriplePattern): number | undefined {
    if (isImpossible(pattern)) return 0
    const { subject, predicate, object } = pattern
    const size = this.source.size(graph)
    const isWhole = subject === undefined && predicate === undefined && object === undefined
    if (isWhole && size !== undefined) return size ?? 0
    return this.counts.get(keyOf(graph, pattern))
  }

  private keep(graph: string, pattern: TriplePattern, count: number): void {
    const key = keyOf(graph, pattern)
    if (key.length > LONGEST_KEY || this.source.size(graph) === null) return
    if (this.counts.size >= COUNTS_KEPT) this.counts.delete(this.counts.keys().next().value ?? '')
    this.counts.set(key, count)
  }
}

function keyOf(graph: string, { subject, predicate, object }: TriplePattern): string {
  return `${graph}\n${JSON.stringify([subject, predicate, object])}`
}

function countLines(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}
