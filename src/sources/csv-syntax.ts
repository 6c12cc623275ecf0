/** One row of a CSV text: the lines on which it begins and ends, and its cells. */
export interface CsvRow {
  readonly line: number
  readonly end?: number
  readonly cells: readonly string[]
  /** Indexes of cells that are a quoted empty text; absent if there are none. */
  readonly emptyTexts?: readonly number[]
}

/** Deviations from RFC 4180 (Model for Tabular Data, section 8). */
export interface CsvSyntax {
  /** One character, a double quote by default; null if cells are never quoted. */
  readonly quote?: string | null
  /** Lines that begin with this text are left out. */
  readonly comment?: string
  /** True if rows may have any number of cells, and quotes within quotes need not be doubled. */
  readonly isTolerant?: boolean
  /** Called with the position of each quote that is neither doubled nor closes its cell; these cells end on their line. */
  readonly onStrayQuote?: (line: number, column: number) => void
}

/** The number of characters at the end of a text that may be the beginning of a comment. */
export function startLength(text: string, comment: string): number {
  for (let length = Math.min(comment.length - 1, text.length); length > 0; length--)
    if (comment.startsWith(text.slice(-length))) return length
  return 0
}
