import type { Term, TriplePattern } from '../rdf/term.ts'
import type { ConstructQuery, SelectQuery } from '../sparql/algebra.ts'

/** One row of a SELECT answer: variable name to term, without the unbound ones. */
export type Solution = Readonly<Record<string, Term>>

/** N-Triples for one graph: a gzip-compressed file on disk, or a short text at hand. */
export type GraphSource =
  | {
      readonly graph: string
      readonly path: string
      readonly triples: number
      /** Length of the text before compression, in bytes. */
      readonly bytes: number
    }
  | { readonly graph: string; readonly text: string }

/** What a store says of itself, so that the compiler can choose (house design, section 3). */
export interface Capabilities {
  readonly name: string
  /** Typed ranges are answered from an index rather than by a scan of the predicate. */
  readonly rangeIndex: boolean
  readonly fullTextIndex: boolean
  readonly geometryIndex: boolean
}

export interface QueryOptions {
  /** Milliseconds after which the query is stopped with DeadlineExceeded; the store's own default otherwise. */
  readonly deadline?: number
}

/** Forms in which a store writes an answer: results of SELECT and ASK, or N-Triples for CONSTRUCT and DESCRIBE. */
export type AnswerFormat = 'json' | 'xml' | 'csv' | 'tsv' | 'nt'

/** A query of a stranger and the only graphs that it sees (SPARQL 1.1 Query, section 13). */
export interface DatasetQuery extends QueryOptions {
  readonly format: AnswerFormat
  /** Graphs whose triples together are the default graph; one that stands in two of them counts twice. */
  readonly defaultGraphs: readonly string[]
  readonly namedGraphs: readonly string[]
  /** What relative IRIs are resolved against. */
  readonly base?: string
  /** Longest answer, in characters. */
  readonly longest?: number
}

/** A query that the store cannot read or evaluate, with its place in the text, from 1, where that is known. */
export class QueryError extends Error {
  readonly line: number | undefined
  readonly column: number | undefined

  constructor(message: string, line?: number, column?: number) {
    super(message)
    this.name = 'QueryError'
    this.line = line
    this.column = column
  }
}

/** Figures of a store, for benchmarks, health and logs. */
export interface StoreStatistics {
  readonly quads: number
  readonly graphs: number
  /** Workers that can serve a query now, and how many there should be. */
  readonly workers: { readonly ready: number; readonly wanted: number }
  /** Bytes of memory that each ready worker holds. */
  readonly memory: readonly number[]
  /** Queries since start that met their deadline. */
  readonly deadlines: number
}

export interface LoadProgress {
  readonly quads: number
  readonly total: number
}

/**
 * A triple store: the one interface between Lodestone and an engine (embedded or remote).
 *
 * Graphs are loaded whole and dropped whole; which graphs make the current version of a dataset is the catalog's
 * affair, so that a new version is loaded beside the old one and takes its place in one step.
 */
export interface Store {
  readonly capabilities: Capabilities
  /** Runs a SELECT; text is sent to the engine as it is. Faults: DeadlineExceeded, StoreBusy, StoreUnavailable. */
  select(query: SelectQuery | string, options?: QueryOptions): Promise<readonly Solution[]>
  /** Runs a CONSTRUCT and gives its triples as N-Triples text. Same faults as {@link select}. */
  construct(query: ConstructQuery | string, options?: QueryOptions): Promise<string>
  /**
   * Runs any query over a dataset of its own and gives the answer as text. It never takes the last free worker.
   * Faults: those of {@link select}, UnprocessableEntity for an answer that is too long, {@link QueryError}.
   */
  query(sparql: string, query: DatasetQuery): Promise<string>
  /** One page of the triples of a graph that match a pattern, as N-Triples text, in a stable order, with the count of all. */
  match(
    graph: string,
    pattern: TriplePattern,
    page: { readonly offset: number; readonly limit: number },
    options?: QueryOptions,
  ): Promise<{ readonly triples: string; readonly count: number }>
  /** Number of triples of a graph that match a pattern, exact. */
  count(graph: string, pattern: TriplePattern, options?: QueryOptions): Promise<number>
  /** Loads graphs; when it resolves every query sees them. Faults: StoreFull (nothing is kept), LoadRefused. */
  load(graphs: readonly GraphSource[], onProgress?: (progress: LoadProgress) => void): Promise<void>
  /** Drops graphs that no query needs any more. Unknown names are ignored. */
  drop(graphs: readonly string[]): Promise<void>
  statistics(): Promise<StoreStatistics>
  close(): Promise<void>
}
