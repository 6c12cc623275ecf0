/** One row of a source before its values are typed. */
export interface SourceRow {
  /** 1-based number of the record in the source; a header is not counted. */
  readonly row: number
  /** 1-based line on which the record begins, if the format has lines. */
  readonly line: number | undefined
  /** Columns by name, or the JSON object. Text formats give strings; JSON formats give any JSON value. */
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * A file, package or module that can be read repeatedly, in batches so that a long file is never completely in memory if its
 * format allows that.
 */
export interface RecordSource {
  /** Name for messages: `trees.csv`. */
  readonly name: string
  /** True for formats whose values are untyped text (CSV, TSV). */
  readonly textual: boolean
  /** Reads the names of the columns in order, if the format has a header with them. */
  readonly columns?: () => Promise<readonly string[]>
  /** The units of columns, once {@link columns} was read, if the format has a row with them. */
  readonly units?: () => ReadonlyMap<string, string>
  /** Reads from the start. Throws SourceUnreadable with file, line and column. */
  read(): AsyncIterable<readonly SourceRow[]>
  /** What was found in the latest reading that the publisher should correct, although it could be read. */
  readonly warnings?: () => readonly string[]
}

/** Approximate rows of a batch: enough to amortise its overhead, few enough to use little memory. */
export const BATCH_ROWS = 1000
