import type { Term, TriplePattern } from '../rdf/term.ts'
import type { ConstructOperation, SelectOperation } from '../sparql/algebra.ts'
import type { ParsedQuery } from '../sparql/parse.ts'
import type { CursorContext } from '../sparql/row-writer.ts'
import type { GraphColumns } from './columns/graph.ts'

/** One row of a SELECT answer: variable name to term, without unbound variables. */
export type Solution = Readonly<Record<string, Term>>

/** An empty graph that is never loaded. */
export const EMPTY_GRAPH = 'urn:lodestone:empty'

/** A graph to be served: files of a published version, or a short text in memory. */
export type GraphSource =
  | {
      readonly graph: string
      /** Its gzip-compressed N-Triples; null where only a shared engine has them. */
      readonly path: string | null
      /** Its columns; a missing or damaged file is rebuilt from the triples. */
      readonly columns: string
      readonly triples: number
      /** Length of the text before compression, in bytes. */
      readonly bytes: number
      /** True for a graph with full-text search. */
      readonly isSearched: boolean
    }
  | {
      readonly graph: string
      /** N-Triples. */
      readonly text: string
      /** Subjects in order, including those without triples; and predicates in order. */
      readonly subjects: readonly string[]
      readonly predicates: readonly string[]
      readonly isSearched: boolean
    }

export interface QueryOptions {
  /** Milliseconds of work after which the query is stopped with DeadlineExceeded; by default the store's limit. */
  readonly deadline?: number | undefined
  /** Stops the work when it is aborted. */
  readonly signal?: AbortSignal | undefined
  /** Graphs whose merge is the default graph: patterns outside of GRAPH read it. None by default. */
  readonly defaultGraphs?: readonly string[] | undefined
}

/** Formats of answers: results of SELECT and ASK, or N-Triples for CONSTRUCT and DESCRIBE. */
export type AnswerFormat = 'json' | 'xml' | 'csv' | 'tsv' | 'nt'

/** An untrusted query and the only graphs that it can access (SPARQL 1.1 Query, section 13). */
export interface UntrustedQuery extends Omit<QueryOptions, 'defaultGraphs'> {
  /** The parsed query, whose own FROM clauses are ignored; null where only an engine can parse it. */
  readonly parsed: ParsedQuery | null
  /** The base of relative IRIs. */
  readonly base: string
  readonly format: AnswerFormat
  /** Graphs whose merge is the default graph. */
  readonly defaultGraphs: readonly string[]
  /** Names of the named graphs in the query, and in the store. */
  readonly namedGraphs: readonly (readonly [iri: string, graph: string])[]
  /** Encodes the position at which a stopped SELECT continues; absent where it must be complete. */
  readonly continuation?: CursorContext | undefined
  /** Called with the cursor of the rest at the end of a stopped answer that can be continued. */
  readonly onStopped?: ((cursor: string) => void) | undefined
  /** The text for an engine that only knows the store's names of graphs. */
  readonly engineText: () => string
}

/** The answer of a query, in chunks of text that are computed on demand. */
export interface QueryAnswer {
  /** Who answered: columns, or an engine. */
  readonly by: 'columns' | 'engine'
  readonly pieces: AsyncIterable<Uint8Array>
}

/** A query that the store cannot parse or evaluate, with its position in the text, from 1, where that is known. */
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

/** A page of the answer of a SELECT. */
export interface SolutionPage {
  readonly rows: number
  readonly total: number
  /** Predicates whose columns were read. */
  readonly columns: readonly string[]
  /** The terms of a variable by their rows; null where it is unbound. */
  terms(variable: string): (row: number) => Term | null
  solutions(): readonly Solution[]
  /** The numbers of the graph's subjects that are the values of a variable, by their rows; -1 for none. */
  subjects(variable: string): (row: number) => number
}

export interface PageOptions extends QueryOptions {
  /** True where the total number of solutions is requested in addition to those of the page. */
  readonly counted?: boolean
  /** Columns that will be read for the subjects of the page: they are loaded into memory. */
  readonly contents?: readonly string[]
}

/** Statistics of a store, for benchmarks, health and logs. */
export interface StoreStatistics {
  readonly triples: number
  readonly graphs: number
  /** Number of threads that can serve a query now, and the intended number. */
  readonly threads: { readonly ready: number; readonly wanted: number }
  /** Bytes in memory by their contents: columns, dictionaries, derived data, and graphs that are resident in the engine. */
  readonly bytes: {
    readonly columns: number
    readonly dictionaries: number
    readonly derived: number
    readonly resident: number
  }
  /** Graphs that are resident in the engine. */
  readonly resident: number
  /** Number of queries since start that exceeded their deadline. */
  readonly deadlines: number
}

export interface LoadProgress {
  readonly triples: number
  readonly total: number
}

/**
 * A triple store: columns that answer nearly everything, and an engine for queries that they cannot evaluate.
 *
 * Graphs are loaded and dropped as a whole; the catalog decides which graphs are the current version of a dataset, so that a new
 * version is loaded next to the old one and replaces it in one step.
 */
export interface Store {
  /** Runs a SELECT. Faults: DeadlineExceeded, StoreBusy, StoreUnavailable, UnprocessableEntity. */
  select(query: SelectOperation, options?: QueryOptions): Promise<readonly Solution[]>
  /** Runs a SELECT and returns a page of its answer with the number of all solutions. Same faults. */
  page(query: SelectOperation, options?: PageOptions): Promise<SolutionPage>
  /** Runs SELECTs one after another, which share common results. Same faults. */
  together(queries: readonly SelectOperation[]): Promise<readonly SolutionPage[]>
  /** The whole answer of a SELECT in pages, each computed on demand. Same faults. */
  pages(query: SelectOperation, options?: QueryOptions): AsyncGenerator<SolutionPage>
  /** The columns of a graph, with those of some predicates in memory. */
  contents(graph: string, predicates: readonly string[]): Promise<GraphColumns>
  /** The triples of the subjects of a graph, of some at a time, as N-Triples; a graph that is dropped meanwhile is read to its end. */
  lines(graph: string, subjects: number, size: number): AsyncGenerator<string>
  /** Runs a CONSTRUCT and returns its triples as N-Triples text. Same faults as {@link select}. */
  construct(query: ConstructOperation, options?: QueryOptions): Promise<string>
  /**
   * Runs an untrusted query over its own dataset. Faults: those of {@link select}, also while chunks are read; {@link
   * QueryError}.
   */
  query(query: UntrustedQuery): Promise<QueryAnswer>
  /** One page of the triples of a graph that match a pattern, as N-Triples text, in a stable order, with the total number. */
  match(
    graph: string,
    pattern: TriplePattern,
    page: { readonly offset: number; readonly limit: number },
    options?: QueryOptions,
  ): Promise<{ readonly triples: string; readonly count: number }>
  /** The exact number of triples of a graph that match a pattern. */
  count(graph: string, pattern: TriplePattern, options?: QueryOptions): Promise<number>
  /** Loads graphs; after it resolves every query can access them. Faults: LoadRefused (nothing is loaded). */
  load(graphs: readonly GraphSource[], onProgress?: (progress: LoadProgress) => void): Promise<void>
  /** Drops graphs that no query needs any more. Unknown names are ignored. */
  drop(graphs: readonly string[]): Promise<void>
  /** Preloads frequently queried graphs; current requests have priority. */
  preload(): Promise<void>
  statistics(): Promise<StoreStatistics>
  close(): Promise<void>
}
