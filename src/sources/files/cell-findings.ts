/** Rows and columns of a range, from 0; the last ones are inclusive. */
export interface CellRange {
  readonly top: number
  readonly left: number
  readonly bottom: number
  readonly right: number
}

/** Cells that are remembered by kind, and that a warning names. */
const MAX_CELLS = 10_000
const SHOWN_CELLS = 3

interface Finding {
  /** The cell or range, as a warning shows it. */
  readonly text: string
  readonly line: number
}

/** Cells of one kind: all are counted, and the first ones remembered. */
interface Found {
  count: number
  first: Finding[]
}

/**
 * What is found in the cells of a sheet that the publisher should correct: cells of one column that are merged over several rows, of
 * which the first alone has the value, formulas whose values are not stored, and errors.
 */
export class CellFindings {
  private readonly range: CellRange
  private merged: Found = { count: 0, first: [] }
  private formulas: Found = { count: 0, first: [] }
  private errors: Found = { count: 0, first: [] }

  /** @param range the cells that are read */
  constructor(range: CellRange) {
    this.range = range
  }

  clear(): void {
    this.merged = { count: 0, first: [] }
    this.formulas = { count: 0, first: [] }
    this.errors = { count: 0, first: [] }
  }

  addMerged({ top, left, bottom, right }: CellRange): void {
    if (left !== right || bottom <= top || !this.includes(top, left) || !this.includes(bottom, right)) return
    add(this.merged, top, () => `${cellName(top, left)}:${cellName(bottom, right)}`)
  }

  /** A formula without a stored value. */
  addFormula(row: number, column: number): void {
    if (this.includes(row, column)) add(this.formulas, row, () => cellName(row, column))
  }

  /** @param error as the cell shows it: `#N/A` */
  addError(row: number, column: number, error: string): void {
    if (this.includes(row, column)) add(this.errors, row, () => `${cellName(row, column)}: ${error}`)
  }

  /** Warnings about the cells below the header. */
  warnings(header: number): readonly string[] {
    const [merged, formulas, errors] = [this.merged, this.formulas, this.errors].map(found =>
      below(found, header),
    )
    return [
      ...(merged === undefined
        ? []
        : [
            `cells are merged over several rows (${merged.shown}): the first row has the value, and the others have none; write it into each row`,
          ]),
      ...(formulas === undefined
        ? []
        : [
            `no value is read of ${cells(formulas.count)} with a formula whose value is not stored (${formulas.shown}): open the file in a spreadsheet program, which calculates them, and save it`,
          ]),
      ...(errors === undefined
        ? []
        : [
            `no value is read of ${cells(errors.count)} with an error (${errors.shown}): correct the formulas`,
          ]),
    ]
  }

  private includes(row: number, column: number): boolean {
    const { top, left, bottom, right } = this.range
    return row >= top && row <= bottom && column >= left && column <= right
  }
}

function add(found: Found, row: number, text: () => string): void {
  found.count += 1
  if (found.first.length < MAX_CELLS) found.first.push({ text: text(), line: row + 1 })
}

function below({ count, first }: Found, header: number) {
  const found = first.filter(({ line }) => line > header)
  const left = count - (first.length - found.length)
  if (left === 0) return undefined
  const shown = found.slice(0, SHOWN_CELLS).map(({ text }) => text)
  return { count: left, shown: `${shown.join(', ')}${left > SHOWN_CELLS ? ' …' : ''}` }
}

function cells(count: number): string {
  return count === 1 ? '1 cell' : `${count} cells`
}

/** `AB12` of a row and a column from 0. */
function cellName(row: number, column: number): string {
  let letters = ''
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters
  return `${letters}${row + 1}`
}
