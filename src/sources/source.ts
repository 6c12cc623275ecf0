/** One row of a source before its values are typed. */
export interface SourceRow {
  /** 1-based number of the record in the source; a header is not counted. */
  readonly row: number
  /** 1-based line on which the record begins, where the format has lines. */
  readonly line: number | undefined
  /** Columns by name, or the JSON object. Text formats give strings; JSON formats give any JSON value. */
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * A file, package or module that can be read again and again, in batches so that a long file is never in memory whole
 * where its format allows that.
 */
export interface RecordSource {
  /** Name for messages: `trees.csv`. */
  readonly name: string
  /** True for formats whose values are untyped text (CSV, TSV). */
  readonly textual: boolean
  /** Reads the names of the columns in their order, where the format has a header with them. */
  readonly columns?: () => Promise<readonly string[]>
  /** Reads from the start. Throws SourceUnreadable with file, line and column. */
  read(): AsyncIterable<readonly SourceRow[]>
}

/** Rows of a batch, about: enough to make the cost of a batch small, few enough to be no weight in memory. */
export const BATCH_ROWS = 1000
