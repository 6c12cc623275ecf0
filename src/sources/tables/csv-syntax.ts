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

/** Maximum cells of a row. */
const MAX_CELLS = 20_000

/** Collects cells to rows. The first row is the header and determines the maximum number of cells, unless rows may have any. */
export class CsvRows {
  private readonly isTolerant: boolean
  private rows: CsvRow[] = []
  private cells: string[] = []
  private emptyTexts: number[] = []
  private width = Number.POSITIVE_INFINITY

  constructor(isTolerant: boolean) {
    this.isTolerant = isTolerant
  }

  /** Adds a cell to the row; returns reason and hint if that has too many, else null. */
  add(cell: string, isQuoted: boolean): readonly [reason: string, hint: string] | null {
    const at = this.cells.length
    if (at >= MAX_CELLS)
      return [
        `The row has more than ${MAX_CELLS} cells, and a table has at most as many columns.`,
        'Is this the delimiter? Set options: { delimiter: … }.',
      ]
    if (at >= this.width)
      return [
        `The row has more cells than the header, which has ${this.width}.`,
        'Quote a cell that holds the delimiter, or set options.delimiter.',
      ]
    if (cell === '' && isQuoted) this.emptyTexts.push(at)
    this.cells.push(cell)
    return null
  }

  /** Ends the row. */
  end(line: number, end: number): void {
    const { cells, emptyTexts, isTolerant } = this
    if (this.width === Number.POSITIVE_INFINITY && !isTolerant) this.width = cells.length
    const row = isTolerant ? { line, end, cells } : { line, cells }
    if (emptyTexts.length === 0) this.rows.push(row)
    else {
      this.rows.push({ ...row, emptyTexts })
      this.emptyTexts = []
    }
    this.cells = []
  }

  /** Returns and removes the complete rows. */
  take(): readonly CsvRow[] {
    const { rows } = this
    this.rows = []
    return rows
  }
}
