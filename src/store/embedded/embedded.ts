import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { engineMemory, type StoreMemory, storeMemory } from '../../runtime/memory.ts'
import { columnAnswers, engineAnswer } from '../answers.ts'
import type { ColumnStore } from '../columns/column-store.ts'
import { NotInColumns } from '../columns/evaluate/evaluation-limits.ts'
import { type RepairEvent, RepairedColumns } from '../load.ts'
import type { QueryAnswer, Store, UntrustedQuery } from '../store.ts'
import { EngineThread } from './engine-thread.ts'
import { GraphUse } from './graph-use.ts'
import { withMemoryLimit } from './module.ts'
import { type EngineEvent, ResidentEngine } from './resident-engine.ts'

export interface EmbeddedOptions {
  /** Threads that answer from columns, two by default. */
  readonly workers?: number
  /** Milliseconds that a query may run, 10,000 by default. */
  readonly deadline?: number
  /** Maximum number of waiting queries, 500 by default; one waits for a deadline at most. */
  readonly queue?: number
  readonly memory?: StoreMemory
  /** File with usage statistics of graphs, by which graphs are preloaded; without it nothing is stored. */
  readonly useFile?: string
  readonly onEvent?: (event: StoreEvent) => void
}

/** An event for operators. */
export type StoreEvent =
  | EngineEvent
  | RepairEvent
  | { readonly event: 'worker lost' | 'worker replaced'; readonly reason: string }

const DEFAULTS = { workers: 2, deadline: 10_000, queue: 500, memory: storeMemory(2e9) }

/** Bytes of the engine's heap above the limit for loads, so that the last batch does not exceed the heap. */
const HEADROOM = 64 * 2 ** 20

/** Opens the store of one process: columns in threads, and Oxigraph for queries that columns cannot evaluate. It is empty at first. */
export async function createEmbeddedStore(options: EmbeddedOptions = {}): Promise<Store> {
  const { workers, deadline, queue, memory } = { ...DEFAULTS, ...options }
  const onEvent = options.onEvent ?? (() => undefined)
  const repaired = new RepairedColumns({ threads: workers, deadline, queue, memory }, onEvent)
  const { columns } = repaired
  const wasm = createRequire(import.meta.url).resolve('oxigraph/web_bg.wasm')
  const { graphs: residentMemory, ceiling, maxAnswer } = engineMemory(memory)
  // Most portals are never asked what needs the engine.
  let module: WebAssembly.Module | undefined
  const compiled = () => new WebAssembly.Module(withMemoryLimit(readFileSync(wasm), ceiling + HEADROOM))
  const engine = new ResidentEngine({
    start: onDeath => {
      module ??= compiled()
      return new EngineThread(module, onDeath)
    },
    deadline,
    queue: 50,
    memory: residentMemory,
    ceiling,
    maxAnswer,
    use: new GraphUse(options.useFile ?? null),
    onEvent,
  })
  return {
    ...columnAnswers(columns),
    query: query => answerFromColumnsOrEngine(query, columns, engine),
    load: async (sources, onProgress) => {
      await repaired.load(sources, onProgress)
      for (const source of sources)
        if ('text' in source) engine.register(source.graph, { text: source.text })
        else if (source.path !== null && existsSync(source.path))
          engine.register(source.graph, { path: source.path, triples: source.triples, bytes: source.bytes })
    },
    drop: async graphs => {
      repaired.drop(graphs)
      engine.forget(graphs)
    },
    preload: () => engine.preload(),
    statistics: async () => repaired.statistics(engine, engine.statistics()),
    close: async () => {
      await Promise.all([columns.close(), engine.close()])
    },
  }
}

/** Answers a query from columns, and with the engine where columns cannot evaluate it. */
async function answerFromColumnsOrEngine(
  query: UntrustedQuery,
  columns: ColumnStore,
  engine: ResidentEngine,
): Promise<QueryAnswer> {
  const { parsed, base, format, defaultGraphs, namedGraphs, deadline, signal } = query
  const graphs = {
    defaultGraphs: defaultGraphs.filter(graph => columns.has(graph)),
    namedGraphs: namedGraphs.filter(([, graph]) => columns.has(graph)),
  }
  if (parsed !== null) {
    const { continuation, onStopped } = query
    const options = {
      deadline,
      signal,
      base: parsed.base ?? base,
      continuation: continuation ?? null,
      onStopped,
    }
    const pieces = columns.text(parsed.query, graphs, format, options)
    try {
      const first = await pieces.next()
      return { by: 'columns', pieces: continued(first, pieces) }
    } catch (error) {
      if (!(error instanceof NotInColumns)) throw error
    }
  }
  const dataset = { defaultGraphs, namedGraphs: namedGraphs.map(([, graph]) => graph), base }
  const text = await engine.query({ sparql: query.engineText(), format, dataset, deadline, signal })
  return engineAnswer(text, format)
}

async function* continued<T>(first: IteratorResult<T>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  if (first.done === true) return
  try {
    yield first.value
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}
