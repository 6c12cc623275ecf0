import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { compareGraphs, type GraphDifference } from '../../store/columns/compare.ts'
import { openColumns } from '../../store/columns/graph.ts'

const COMPARER = 'lodestone-comparer'

/** The column files of two states of a graph. */
export interface ComparerData {
  readonly role: typeof COMPARER
  readonly earlier: string
  readonly later: string
}

export function comparerData(earlier: string, later: string): ComparerData {
  return { role: COMPARER, earlier, later }
}

const given = workerData as ComparerData | null
if (!isMainThread && given?.role === COMPARER) {
  const difference: GraphDifference = compareGraphs(openColumns(given.earlier), openColumns(given.later))
  parentPort?.postMessage(difference)
}
