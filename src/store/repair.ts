import { buildColumnsInThread } from './columns/build/build-thread.ts'
import type { ColumnStore } from './columns/column-store.ts'
import type { GraphSource } from './store.ts'

/** The outcome of a damaged file; `graph` where it is lost. */
export interface RepairEvent {
  readonly event: 'columns damaged' | 'columns made again' | 'graph lost'
  readonly reason: string
  readonly graph?: string
}

/** Rebuilds columns files that are found damaged while they are served, from the triples of their graphs. */
export class ColumnRepairs {
  private readonly sources = new Map<string, GraphSource>()
  private readonly onEvent: (event: RepairEvent) => void

  constructor(onEvent: (event: RepairEvent) => void) {
    this.onEvent = onEvent
  }

  /** Registers the sources of the triples of graphs. */
  register(sources: readonly GraphSource[]): void {
    for (const source of sources) this.sources.set(source.graph, source)
  }

  forget(graphs: readonly string[]): void {
    for (const graph of graphs) this.sources.delete(graph)
  }

  /** Rebuilds the columns of a graph, and attaches them to the store. If that is impossible, the graph is lost. */
  async repair(columns: ColumnStore, graph: string, damage: string): Promise<void> {
    const source = this.sources.get(graph)
    this.onEvent({ event: 'columns damaged', reason: `${graph}: ${damage}` })
    try {
      if (source === undefined || 'text' in source || source.path === null)
        throw new Error('there are no triples to make its columns of')
      const { path: triples, columns: file, isSearched } = source
      const begun = performance.now()
      await buildColumnsInThread({ triples, columns: file, isSearched })
      columns.reattach(graph, file)
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
