import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Query } from '../../sparql/algebra.ts'
import { generate } from '../../sparql/generate.ts'
import { Patterns } from '../patterns.ts'
import { readSolutions } from '../solutions.ts'
import type { Store } from '../store.ts'
import { DEFAULT_MEMORY_LIMIT } from './memory.ts'
import { poolPatterns } from './patterns.ts'
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
  const { source, crawl } = poolPatterns(pool)
  const patterns = new Patterns(source)
  return {
    capabilities: { name: 'oxigraph', rangeIndex: false, fullTextIndex: false, geometryIndex: false },
    select: async (query, options) =>
      readSolutions(await pool.query(textOf(query), 'tsv', options?.deadline)),
    construct: (query, options) => pool.query(textOf(query), 'nt', options?.deadline),
    query: (sparql, { format, deadline, longest, ...dataset }) =>
      pool.guestQuery({ sparql, format, dataset, longest }, deadline),
    count: patterns.count,
    match: patterns.match,
    load: (graphs, onProgress = () => undefined) => pool.load(graphs, onProgress),
    drop: async graphs => {
      patterns.forget(graphs)
      crawl.forget(graphs)
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

function textOf(query: Query | string): string {
  return typeof query === 'string' ? query : generate(query)
}
