import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { TriplePattern } from '../../rdf/term.ts'
import { countQuery, isImpossible, pageQuery } from '../match.ts'
import { readSolutions } from '../solutions.ts'
import type { Store } from '../store.ts'
import { DEFAULT_MEMORY_LIMIT } from './memory.ts'
import { Pool, type PoolEvent } from './pool.ts'

export interface EmbeddedOptions {
  /** Threads, each with a copy of everything: 2 unless told, so that a slow query does not hold up the quick ones. */
  readonly workers?: number
  /** Milliseconds that a query may run, 10,000 unless told. */
  readonly deadline?: number
  /** Queries that may wait, 500 unless told; one waits for a deadline at most. */
  readonly queue?: number
  /** Bytes that a worker may fill with data. */
  readonly memoryLimit?: number
  readonly onEvent?: (event: PoolEvent) => void
}

/** Counts that are kept, by graph and pattern. */
const COUNTS_KEPT = 20_000

/** Opens the embedded store: Oxigraph in memory, in worker threads (house design, section 4). It is empty at first. */
export async function createEmbeddedStore(options: EmbeddedOptions = {}): Promise<Store> {
  const wasm = createRequire(import.meta.url).resolve('oxigraph/web_bg.wasm')
  const pool = new Pool({
    module: new WebAssembly.Module(readFileSync(wasm)),
    workers: options.workers ?? 2,
    deadline: options.deadline ?? 10_000,
    queue: options.queue ?? 500,
    memoryLimit: options.memoryLimit ?? DEFAULT_MEMORY_LIMIT,
    onEvent: options.onEvent ?? (() => undefined),
  })
  await pool.start()
  const counts = new Map<string, number>()

  const count: Store['count'] = async (graph, pattern, query) => {
    const known = knownCount(pool, graph, pattern)
    if (known !== undefined) return known
    const key = `${graph}\n${JSON.stringify([pattern.subject, pattern.predicate, pattern.object])}`
    const kept = counts.get(key)
    if (kept !== undefined) return kept
    const [solution] = readSolutions(await pool.query(countQuery(graph, pattern), 'tsv', query?.deadline))
    const found = Number(solution?.count?.value ?? 0)
    if (counts.size >= COUNTS_KEPT) counts.delete(counts.keys().next().value ?? '')
    if (pool.registry.has(graph)) counts.set(key, found)
    return found
  }

  return {
    capabilities: { name: 'oxigraph', rangeIndex: false, fullTextIndex: false, geometryIndex: false },
    select: async (sparql, query) => readSolutions(await pool.query(sparql, 'tsv', query?.deadline)),
    construct: (sparql, query) => pool.query(sparql, 'nt', query?.deadline),
    count,
    match: async (graph, pattern, { offset, limit }, query) => {
      if (isImpossible(pattern)) return { triples: '', count: 0 }
      const triples = await pool.query(pageQuery(graph, pattern, offset, limit), 'nt', query?.deadline)
      const found = countLines(triples)
      const whole = found < limit && (found > 0 || offset === 0)
      return { triples, count: whole ? offset + found : await count(graph, pattern, query) }
    },
    load: (graphs, onProgress = () => undefined) => pool.load(graphs, onProgress),
    drop: async graphs => {
      for (const key of counts.keys())
        if (graphs.some(graph => key.startsWith(`${graph}\n`))) counts.delete(key)
      await pool.drop(graphs)
    },
    statistics: async () => {
      const ready = pool.ready()
      return {
        quads: [...pool.registry.values()].reduce((sum, { quads }) => sum + quads, 0),
        graphs: pool.registry.size,
        workers: { ready: ready.length, wanted: options.workers ?? 2 },
        memory: ready.map(({ memory }) => memory),
        deadlines: pool.deadlines,
      }
    },
    close: () => pool.close(),
  }
}

/** A count that needs no question: nothing can match, or everything does. */
function knownCount(pool: Pool, graph: string, pattern: TriplePattern): number | undefined {
  if (isImpossible(pattern)) return 0
  const all = pattern.subject === undefined && pattern.predicate === undefined && pattern.object === undefined
  return all ? (pool.registry.get(graph)?.quads ?? 0) : undefined
}

function countLines(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}
