import type { Value } from '../../model/value.ts'

/** A row of a table as it stands in a file, in UTF-8 that is known to be well-formed. */
export interface ByteRow {
  readonly bytes: Buffer
  /** Where the cells begin, by column; -1 for a cell that is no value. */
  readonly starts: Int32Array
  /** Where they end. */
  readonly ends: Int32Array
  /** The values of the columns, where cells do not tell them. */
  readonly values?: () => readonly Value[]
}

/** Longest cell that is copied byte by byte; longer ones are read as text. */
export const MAX_CELL_LENGTH = 2 ** 16

/** The text of a cell; null for none. */
export function rowCellText({ bytes, starts, ends }: ByteRow, cell: number): string | null {
  const start = starts[cell] ?? -1
  return start < 0 ? null : bytes.toString('utf8', start, ends[cell])
}
