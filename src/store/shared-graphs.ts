import { ignoreRejection } from '../errors/ignore-rejection.ts'
import type { GraphSource, Store } from './store.ts'

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
