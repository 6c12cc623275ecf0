import type { CsvRow } from './csv-syntax.ts'

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
