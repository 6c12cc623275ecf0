import type { Term, TriplePattern } from '../../../rdf/term.ts'
import type { QueryOperation } from '../../../sparql/algebra.ts'
import type { ResultFormat } from '../../../sparql/result-formats.ts'
import type { CursorContext } from '../../../sparql/row-writer.ts'
import type { GraphHeader, SectionNumber } from '../file-layout.ts'

/** The location of a graph's columns: a file, or sections in memory. */
export interface GraphPlace {
  readonly name: string
  readonly header: GraphHeader
  /** Null for a graph whose sections are all in memory. */
  readonly path: string | null
  /** The sections of such a graph. */
  readonly memory: readonly SharedArrayBuffer[] | null
}

/** Data of a graph in memory that all threads share: a section of its file by its number, or derived data by its name. */
export type SharedPart = readonly [key: SectionNumber | string, buffers: readonly SharedArrayBuffer[]]

/** The graphs that a query can access, by their names in the store. */
export interface QueriedGraphs {
  readonly defaultGraphs: readonly string[]
  /** Named graphs: their names in queries, and in the store. */
  readonly namedGraphs: readonly (readonly [iri: string, graph: string])[]
}

/** The format of a query's answer: text, in chunks. */
export type TextFormat = ResultFormat | 'nt'

/** A request to a thread. */
export type Job =
  /** Queries of the same graphs whose answers are small enough to be returned at once. */
  | {
      readonly type: 'table'
      readonly queries: readonly QueryOperation[]
      readonly graphs: QueriedGraphs
      /** True where the total number of solutions is requested in addition to those of the page. */
      readonly counted: boolean
      /** Columns that the caller will read for the subjects of the answer. */
      readonly contents: readonly string[]
    }
  /** A query whose answer is written as text. */
  | {
      readonly type: 'text'
      readonly query: QueryOperation
      readonly graphs: QueriedGraphs
      readonly format: TextFormat
      readonly base: string | null
      readonly piece: number
      /** Null where the answer must be complete. */
      readonly continuation: CursorContext | null
    }
  /** The answer of a SELECT in tables, for exports. */
  | {
      readonly type: 'tables'
      readonly query: QueryOperation
      readonly graphs: QueriedGraphs
      readonly rows: number
    }
  | {
      readonly type: 'match'
      readonly graph: string
      readonly pattern: TriplePattern
      readonly offset: number
      readonly limit: number
    }
  /** The triples of the first subjects of a graph, of some at a time. */
  | { readonly type: 'lines'; readonly graph: string; readonly subjects: number; readonly size: number }
  | {
      readonly type: 'build'
      readonly text: string
      readonly subjects: readonly string[]
      readonly predicates: readonly string[]
      readonly isSearched: boolean
    }
  /** Computes the data that queries of a column need in addition to its file. */
  | { readonly type: 'prepare'; readonly graph: string; readonly column: number }
  /** Loads sections into memory. */
  | { readonly type: 'touch'; readonly graph: string; readonly predicates: readonly string[] }

/** Limits of one job. */
export interface JobLimits {
  /** Milliseconds of work. */
  readonly milliseconds: number
  /** Bytes of intermediate results. */
  readonly memory: number
}

export type ColumnRequest =
  | { readonly type: 'attach'; readonly place: GraphPlace }
  | { readonly type: 'detach'; readonly graphs: readonly string[] }
  | { readonly type: 'share'; readonly graph: string; readonly parts: readonly SharedPart[] }
  /** What nothing refers to any more is to be given back. */
  | { readonly type: 'collect' }
  /** Its job is a {@link Job} as JSON: a text is copied in a third of the time that its objects take. */
  | { readonly type: 'run'; readonly id: number; readonly job: string; readonly limits: JobLimits }
  /** The next chunk of a job that answers in chunks. */
  | { readonly type: 'next'; readonly id: number }
  | { readonly type: 'close'; readonly id: number }

/** The values of a variable over the rows of a table. */
export type WireVector =
  /** Subjects of a graph, numbered from 0; -1 for none. */
  | { readonly type: 'subjects'; readonly graph: string; readonly ids: Int32Array }
  /** Terms, and the index of the term of each row; -1 for none. Texts are literals of xsd:string. */
  | {
      readonly type: 'terms'
      readonly terms: readonly (Term | string)[]
      readonly places: Int32Array
    }
  | {
      readonly type: 'numbers'
      readonly kind: 'integer' | 'double' | 'float'
      readonly values: Float64Array
      readonly bound: Uint8Array | null
    }

export interface WireTable {
  readonly rows: number
  /** Total number of solutions; -1 if not requested. */
  readonly total: number
  readonly vectors: readonly (readonly [variable: string, vector: WireVector])[]
  /** Predicates whose columns were read. */
  readonly columns: readonly string[]
}

/** Why a job failed. */
export type Failure =
  | { readonly reason: 'deadline' | 'cancelled' | 'memory' | 'cursor' }
  /** Columns cannot evaluate it. */
  | { readonly reason: 'not in columns'; readonly what: string }
  | { readonly reason: 'damaged'; readonly message: string }
  | { readonly reason: 'error'; readonly message: string }

export type ColumnReply =
  /** The native number for its priority is null where the thread has none. */
  | { readonly type: 'up'; readonly thread: number | null }
  /** A section was read, or data was derived, for use by other threads. */
  | { readonly type: 'part'; readonly graph: string; readonly part: SharedPart }
  /** A section of a graph cannot be read. */
  | { readonly type: 'damaged'; readonly graph: string; readonly reason: string }
  | { readonly type: 'table'; readonly id: number; readonly tables: readonly WireTable[] }
  /** A chunk of text, or a table; the last is `done` and may be null. */
  | {
      readonly type: 'piece'
      readonly id: number
      readonly piece: Uint8Array | WireTable | null
      readonly done: boolean
      /** The position at which the answer continues, with its end; null if it is complete. */
      readonly cursor?: string | null
    }
  | { readonly type: 'matched'; readonly id: number; readonly triples: string; readonly count: number }
  | {
      readonly type: 'built'
      readonly id: number
      readonly header: GraphHeader
      readonly buffers: readonly SharedArrayBuffer[]
    }
  | { readonly type: 'touched'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly failure: Failure }

/** The end of an answer in chunks. */
export interface LastPiece {
  readonly piece: Uint8Array | null
  /** The position at which the answer continues; null if it is complete. */
  readonly cursor: string | null
}

/** The initial data of a thread. */
export interface ThreadSetup {
  /**
   * Its first number is that of the job to stop; its second changes each time that other work starts while this thread has low
   * priority.
   */
  readonly signal: SharedArrayBuffer
}
