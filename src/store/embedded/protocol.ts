import type { AnswerFormat, GraphSource } from '../store.ts'

export type { AnswerFormat } from '../store.ts'

/** The graphs that a query sees, where it does not name them itself. */
export interface DatasetOfQuery {
  readonly defaultGraphs: readonly string[]
  readonly namedGraphs: readonly string[]
  readonly base?: string
}

/** What a worker asks of its thread's `workerData`: the compiled engine, shared by all workers. */
export interface WorkerSetup {
  readonly module: WebAssembly.Module
}

/** What the main thread asks of a worker. One query and one piece of upkeep (load or drop) at most are open at a time. */
export type Request =
  | {
      readonly type: 'query'
      readonly id: number
      readonly sparql: string
      readonly format: AnswerFormat
      /** Absent where the query names its graphs. */
      readonly dataset?: DatasetOfQuery | undefined
      /** Longest answer, in characters, that may be sent. */
      readonly longest: number
      /** Tell when the query begins to run: a load may have to finish its batch first. */
      readonly announce: boolean
    }
  | {
      readonly type: 'load'
      readonly id: number
      readonly source: GraphSource
      /** Bytes past which the memory must not grow. */
      readonly limit: number
      /** True where other workers serve and have the processors first. */
      readonly inBackground: boolean
    }
  | { readonly type: 'drop'; readonly id: number; readonly graphs: readonly string[] }

/** The memory of a worker after a query, in bytes. */
interface QueryMemory {
  readonly memory: number
  readonly heapGrowth: number
}

/**
 * What a worker says. `memory` is the size of its WebAssembly memory in bytes, `heapGrowth` how much of that a query has
 * added: it never shrinks.
 */
export type Reply =
  | { readonly type: 'up'; readonly memory: number }
  | { readonly type: 'begun'; readonly id: number }
  | ({ readonly type: 'answer'; readonly id: number; readonly text: string } & QueryMemory)
  /** An error that leaves the engine sound: SPARQL that it cannot read, an evaluation that fails. */
  | ({ readonly type: 'error'; readonly id: number; readonly message: string } & QueryMemory)
  | ({ readonly type: 'oversize'; readonly id: number } & QueryMemory)
  | { readonly type: 'progress'; readonly id: number; readonly lines: number }
  | {
      readonly type: 'loaded'
      readonly id: number
      /** Distinct triples of the graph. */
      readonly quads: number
      /** Bytes by which the memory has grown, beyond what was reserved and not used. */
      readonly grown: number
      readonly memory: number
    }
  /** The graph cannot be loaded; the worker has dropped what it had of it. */
  | {
      readonly type: 'refused'
      readonly id: number
      /** The file is damaged, there is no room for it, or the system cannot read it now. */
      readonly reason: 'text' | 'memory' | 'system'
      readonly message: string
      readonly memory: number
    }
  | { readonly type: 'dropped'; readonly id: number; readonly memory: number }
  /** The engine is no longer sound: this is the worker's last word. */
  | { readonly type: 'trap'; readonly id: number; readonly reason: string; readonly oversize: boolean }
