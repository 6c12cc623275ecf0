import type { AnswerFormat } from '../store.ts'

/** N-Triples of one graph, or of several that are merged: a gzip-compressed file, or a text in memory. */
export type TripleSource =
  | { readonly path: string; readonly triples: number; readonly bytes: number }
  | { readonly text: string }

/** The graphs that a query can access. */
export interface DatasetOfQuery {
  readonly defaultGraphs: readonly string[]
  readonly namedGraphs: readonly string[]
  readonly base?: string
}

/** The `workerData` of a worker's thread: the compiled engine. */
export interface WorkerSetup {
  readonly module: WebAssembly.Module
}

/** A request of the main thread to a worker, processed one after another. */
export type EngineJob =
  | {
      readonly type: 'query'
      readonly id: number
      readonly sparql: string
      readonly format: AnswerFormat
      readonly dataset: DatasetOfQuery
      /** Maximum length of the answer, in characters. */
      readonly maxLength: number
    }
  | {
      readonly type: 'load'
      readonly id: number
      readonly graph: string
      readonly source: TripleSource
      /** Maximum bytes of memory. */
      readonly limit: number
    }
  | { readonly type: 'drop'; readonly id: number; readonly graphs: readonly string[] }

/** The reply of a worker. `memory` is the size of its WebAssembly memory in bytes. */
export type EngineReply =
  | { readonly type: 'up'; readonly memory: number }
  | { readonly type: 'answer'; readonly id: number; readonly text: string; readonly memory: number }
  /** An error after which the engine is still usable: invalid SPARQL, or a failed evaluation. */
  | { readonly type: 'error'; readonly id: number; readonly message: string; readonly memory: number }
  | { readonly type: 'oversize'; readonly id: number; readonly memory: number }
  | { readonly type: 'progress'; readonly id: number; readonly lines: number }
  | { readonly type: 'loaded'; readonly id: number; readonly memory: number }
  /** The triples cannot be loaded; the worker has dropped the loaded part of the graph. */
  | {
      readonly type: 'refused'
      readonly id: number
      readonly reason: 'text' | 'memory'
      readonly message: string
      readonly memory: number
    }
  | { readonly type: 'dropped'; readonly id: number; readonly memory: number }
  /** The engine is no longer usable: this is the last message of the worker. */
  | { readonly type: 'trap'; readonly id: number; readonly reason: string; readonly oversize: boolean }
