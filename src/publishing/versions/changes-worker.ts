import { parentPort, workerData } from 'node:worker_threads'
import { openColumns } from '../../store/columns/graph.ts'
import { compareGraphs, type GraphDifference } from '../../store/columns/graph-difference.ts'

/** The column files of two states of a graph. */
export interface Comparison {
  readonly earlier: string
  readonly later: string
}

/** Entry of a thread that finds the differences between two states of a graph. */
const { earlier, later } = workerData as Comparison
const difference: GraphDifference = compareGraphs(openColumns(earlier), openColumns(later))
parentPort?.postMessage(difference)
