import type { AnswerFormat } from '../store.ts'

/** N-Triples of one graph, or of several that are merged: a gzip-compressed file, or a text at hand. */
export type TripleSource =
  | { readonly path: string; readonly triples: number; readonly bytes: number }
  | { readonly text: string }

/** The graphs that a query sees. */
export interface DatasetOfQuery {
  readonly defaultGraphs: readonly string[]
  readonly namedGraphs: readonly string[]
  readonly base?: string
}

/** What a worker asks of its thread's `workerData`: the compiled engine. */
export interface WorkerSetup {
  readonly module: WebAssembly.Module
}

/** What the main thread asks of a worker, one thing after another. */
export type EngineJob =
  | {
      readonly type: 'query'
      readonly id: number
      readonly sparql: string
      readonly format: AnswerFormat
      readonly dataset: DatasetOfQuery
      /** Longest answer, in characters, that may be sent. */
      readonly maxLength: number
    }
  | {
      readonly type: 'load'
      readonly id: number
      readonly graph: string
      readonly source: TripleSource
      /** Bytes past which the memory must not grow. */
      readonly limit: number
    }
  | { readonly type: 'drop'; readonly id: number; readonly graphs: readonly string[] }

/** What a worker replies. `memory` is the size of its WebAssembly memory in bytes. */
export type EngineReply =
  | { readonly type: 'up'; readonly memory: number }
  | { readonly type: 'answer'; readonly id: number; readonly text: string; readonly memory: number }
  /** An error that leaves the engine sound: SPARQL that it cannot read, an evaluation that fails. */
  | { readonly type: 'error'; readonly id: number; readonly message: string; readonly memory: number }
  | { readonly type: 'oversize'; readonly id: number; readonly memory: number }
  | { readonly type: 'progress'; readonly id: number; readonly lines: number }
  | { readonly type: 'loaded'; readonly id: number; readonly memory: number }
  /** The triples cannot be loaded; the worker has dropped what it had of the graph. */
  | {
      readonly type: 'refused'
      readonly id: number
      readonly reason: 'text' | 'memory'
      readonly message: string
      readonly memory: number
    }
  | { readonly type: 'dropped'; readonly id: number; readonly memory: number }
  /** The engine is no longer sound: this is the worker's last word. */
  | { readonly type: 'trap'; readonly id: number; readonly reason: string; readonly oversize: boolean }
