import type { TriplePattern } from '../../rdf/term.ts'
import { countQuery, isImpossible, pageQuery } from '../match.ts'
import { readSolutions } from '../solutions.ts'
import type { Store } from '../store.ts'
import { Crawl, SHALLOW } from './crawl.ts'
import type { Pool } from './pool.ts'

/** Counts that are kept, by graph and pattern; those of patterns with long texts are not. */
const COUNTS_KEPT = 20_000
const LONGEST_KEY = 1000

/** Triple patterns over the graphs of a pool: pages, and counts that are asked once. */
export class Patterns {
  private readonly pool: Pool
  private readonly crawl: Crawl
  private readonly counts = new Map<string, number>()
  private readonly counting = new Map<string, Promise<number>>()

  constructor(pool: Pool) {
    this.pool = pool
    this.crawl = new Crawl((sparql, format, deadline) => pool.query(sparql, format, deadline))
  }

  readonly count: Store['count'] = async (graph, pattern, options) => {
    const known = this.knownCount(graph, pattern)
    if (known !== undefined) return known
    const key = keyOf(graph, pattern)
    const asked = this.counting.get(key) ?? this.ask(graph, pattern, options?.deadline)
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
    const known =
      offset < SHALLOW ? this.knownCount(graph, pattern) : await this.count(graph, pattern, options)
    if (known !== undefined && offset >= known) return { triples: '', count: known }
    if (known !== undefined && offset >= SHALLOW) {
      const triples = await this.crawl.page(graph, pattern, offset, limit, options?.deadline)
      return { triples, count: known }
    }
    const triples = await this.pool.query(pageQuery(graph, pattern, offset, limit), 'nt', options?.deadline)
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
    this.crawl.forget(graphs)
  }

  /** A count that needs no question: nothing can match, everything does, or it was asked before. */
  private knownCount(graph: string, pattern: TriplePattern): number | undefined {
    if (isImpossible(pattern)) return 0
    const { subject, predicate, object } = pattern
    if (subject === undefined && predicate === undefined && object === undefined)
      return this.pool.registry.get(graph)?.quads ?? 0
    return this.counts.get(keyOf(graph, pattern))
  }

  private keep(graph: string, pattern: TriplePattern, count: number): void {
    const key = keyOf(graph, pattern)
    if (key.length > LONGEST_KEY || !this.pool.registry.has(graph)) return
    if (this.counts.size >= COUNTS_KEPT) this.counts.delete(this.counts.keys().next().value ?? '')
    this.counts.set(key, count)
  }

  private async ask(graph: string, pattern: TriplePattern, deadline: number | undefined): Promise<number> {
    const [solution] = readSolutions(await this.pool.query(countQuery(graph, pattern), 'tsv', deadline))
    return Number(solution?.count?.value ?? 0)
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
