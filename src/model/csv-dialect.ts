/** The syntax of a table (Metadata Vocabulary for Tabular Data, "Dialect Descriptions"); every member is optional. */
export interface CsvDialect {
  /** One character; detected from the first lines unless given. */
  readonly delimiter?: string
  /** One character; null where cells are never quoted. */
  readonly quote?: string | null
  readonly encoding?: string
  /** Lines that begin with this are skipped. */
  readonly comment?: string
  /** False where the first line is a row; columns are then called `_col.1`, `_col.2` … */
  readonly header?: boolean
  /** True where blanks around cells are ignored. */
  readonly trim?: boolean
  /** Texts that mean no value; by default an empty cell, unless it is quoted. */
  readonly nulls?: readonly string[]
}
