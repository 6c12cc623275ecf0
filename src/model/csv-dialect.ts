/** How a table is written (Metadata Vocabulary for Tabular Data, "Dialect Descriptions"); all of it is optional. */
export interface CsvDialect {
  /** One character; detected from the first lines unless given. */
  readonly delimiter?: string
  /** One character; null where cells are never quoted. */
  readonly quote?: string | null
  readonly encoding?: string
  /** Lines that begin with this are left out. */
  readonly comment?: string
  /** False where the first line is a row; columns are then called `_col.1`, `_col.2` … */
  readonly header?: boolean
  /** True where blanks around cells do not count. */
  readonly trim?: boolean
  /** Texts that stand for no value; without them an empty cell does, unless it is between quotes. */
  readonly nulls?: readonly string[]
}
