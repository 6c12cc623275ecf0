import { existsSync } from 'node:fs'
import { Fault } from '../errors/errors.ts'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { buildColumnsInThread } from './columns/build/build-thread.ts'
import { ColumnStore, type ColumnStoreOptions } from './columns/column-store.ts'
import { ColumnsDamaged } from './columns/sections.ts'
import { LOAD_REFUSED } from './faults.ts'
import type { GraphSource, LoadProgress, Store, StoreStatistics } from './store.ts'

/**
 * Loads graphs into a store of columns. Of files only the headers are read; a missing or damaged file is rebuilt from the
 * triples. Graphs of records are prepared for queries in the background. Faults: LoadRefused, and then none of the graphs is
 * loaded.
 */
async function loadColumns(
  columns: ColumnStore,
  sources: readonly GraphSource[],
  onProgress: (progress: LoadProgress) => void,
  onRepair: (reason: string) => void,
): Promise<void> {
  const known = sources.find(
    ({ graph }, at) => columns.has(graph) || sources.findIndex(other => other.graph === graph) < at,
  )
  if (known !== undefined)
    throw new Fault(LOAD_REFUSED, { reason: `the graph ${known.graph} is loaded already` })
  const total = sources.reduce((sum, source) => sum + triplesOf(source), 0)
  let triples = 0
  for (const source of sources) {
    try {
      if ('text' in source) await columns.build(source.graph, source.text, source)
      else await attach(columns, source, onRepair)
    } catch (error) {
      columns.drop(sources.map(({ graph }) => graph))
      if (error instanceof Fault) throw error
      const reason = error instanceof Error ? error.message : String(error)
      throw new Fault(LOAD_REFUSED, { reason, graph: source.graph }, { cause: error })
    }
    triples += triplesOf(source)
    onProgress({ triples, total })
  }
  for (const source of sources) if (source.isSearched) void columns.prepare(source.graph)
}

async function attach(
  columns: ColumnStore,
  source: Extract<GraphSource, { readonly columns: string }>,
  onRepair: (reason: string) => void,
): Promise<void> {
  try {
    columns.attach(source.graph, source.columns, source.path)
  } catch (error) {
    if (source.path === null || !isRepairable(error)) throw error
    const { path: triples, columns: file, isSearched } = source
    await buildColumnsInThread({ triples, columns: file, isSearched })
    onRepair(error instanceof Error ? error.message : String(error))
    columns.attach(source.graph, source.columns, source.path)
  }
}

/** Errors of a file of columns alone: one that is missing, of another user, or on a bad sector. */
const OF_THE_FILE: ReadonlySet<unknown> = new Set(['ENOENT', 'EACCES', 'EPERM', 'EIO', 'ELOOP'])

function isRepairable(error: unknown): boolean {
  return (
    error instanceof ColumnsDamaged ||
    (error instanceof Error && 'code' in error && OF_THE_FILE.has(error.code))
  )
}

function triplesOf(source: GraphSource): number {
  return 'text' in source ? source.text.split('\n').length - 1 : source.triples
}

/** The outcome of a damaged file; `graph` where it is lost. */
export interface RepairEvent {
  readonly event: 'columns damaged' | 'columns made again' | 'graph lost'
  readonly reason: string
  readonly graph?: string
}

/** A store of columns whose files are rebuilt from the triples of their graphs where they are found damaged while they are served. */
export class RepairedColumns {
  readonly columns: ColumnStore
  private readonly sources = new Map<string, GraphSource>()
  private readonly onEvent: (event: RepairEvent) => void

  constructor(
    options: Omit<ColumnStoreOptions, 'onDamage' | 'onEvent'>,
    onEvent: ColumnStoreOptions['onEvent'] & ((event: RepairEvent) => void),
  ) {
    this.onEvent = onEvent
    this.columns = new ColumnStore({
      ...options,
      onEvent,
      onDamage: (graph, reason) => void this.repair(graph, reason),
    })
  }

  /** Loads graphs ({@link loadColumns}); threads that do not start are reported by the first load. */
  async load(
    sources: readonly GraphSource[],
    onProgress: (progress: LoadProgress) => void = () => undefined,
  ): Promise<void> {
    for (const source of sources) this.sources.set(source.graph, source)
    await this.columns.up
    await loadColumns(this.columns, sources, onProgress, reason =>
      this.onEvent({ event: 'columns made again', reason }),
    )
  }

  /** Statistics of a store with an engine beside these columns. */
  statistics(engine: { readonly deadlines: number }, resident = { graphs: 0, bytes: 0 }): StoreStatistics {
    const { bytes, ...own } = this.columns.statistics()
    const deadlines = this.columns.deadlines + engine.deadlines
    return { ...own, bytes: { ...bytes, resident: resident.bytes }, resident: resident.graphs, deadlines }
  }

  drop(graphs: readonly string[]): void {
    this.columns.drop(graphs)
    for (const graph of graphs) this.sources.delete(graph)
  }

  /** Rebuilds the columns of a graph, and attaches them to the store. If that is impossible, the graph is lost. */
  private async repair(graph: string, damage: string): Promise<void> {
    const source = this.sources.get(graph)
    try {
      // All files of a version are gone where it was withdrawn: nothing is damaged then.
      if (source === undefined || 'text' in source || source.path === null || !existsSync(source.path))
        throw new Error('there are no triples to make its columns of')
      this.onEvent({ event: 'columns damaged', reason: `${graph}: ${damage}` })
      const { path: triples, columns: file, isSearched } = source
      const begun = performance.now()
      await buildColumnsInThread({ triples, columns: file, isSearched })
      this.columns.reattach(graph, file)
      const seconds = ((performance.now() - begun) / 1000).toFixed(1)
      this.onEvent({ event: 'columns made again', reason: `${graph} in ${seconds} s: ${damage}` })
    } catch (error) {
      // A graph that was dropped meanwhile is no longer needed.
      if (!this.sources.has(graph)) return
      const reason = `${damage}; it cannot be made again: ${error instanceof Error ? error.message : error}`
      this.onEvent({ event: 'graph lost', graph, reason })
    }
  }
}

/**
 * A store whose graphs have reference counts: each load of a graph adds a reference, each drop releases one, and the last release
 * drops the graph. Graphs with the same name have the same content, so an existing one is not loaded again.
 */
export function withSharedGraphs<Base extends Store>(store: Base): Base {
  const holders = new Map<string, number>()
  let working: Promise<unknown> = Promise.resolve()
  /** Runs one change at a time, so that no graph is dropped while it is being loaded. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = working.then(work)
    working = ignoreRejection(done, 'whoever asked gets it')
    return done
  }
  const retain = ({ graph }: GraphSource) => holders.set(graph, (holders.get(graph) ?? 0) + 1)
  return {
    ...store,
    load: (sources, onProgress) =>
      inTurn(async () => {
        await store.load(
          sources.filter(({ graph }) => !holders.has(graph)),
          onProgress,
        )
        sources.forEach(retain)
      }),
    drop: graphs =>
      inTurn(async () => {
        const unused: string[] = []
        for (const graph of new Set(graphs)) {
          const count = (holders.get(graph) ?? 1) - 1
          if (count > 0) holders.set(graph, count)
          else {
            holders.delete(graph)
            unused.push(graph)
          }
        }
        await store.drop(unused)
      }),
  }
}
