/** The value of a cell: text formats have texts alone, workbooks typed values, with days and moments in ISO 8601. */
export type GridCell = string | number | bigint | boolean | null

/** A row of cells, with its line in a text or its number in a sheet. */
export interface GridRow {
  readonly line: number
  readonly cells: readonly GridCell[]
  /** Indexes of cells that are an empty text in quotes; absent where there are none or the format has no quotes. */
  readonly emptyTexts?: readonly number[]
}

/** The number of cells up to the last non-empty one. */
export function filledWidth(cells: readonly GridCell[]): number {
  for (let at = cells.length; at > 0; at--) if (isFilled(cells[at - 1])) return at
  return 0
}

/** True for a non-empty cell. */
export function isFilled(cell: GridCell | undefined): boolean {
  return cell !== null && cell !== undefined && (typeof cell !== 'string' || cell.trim() !== '')
}

/** A cell as text. */
export function gridText(cell: GridCell | undefined): string {
  return cell === null || cell === undefined ? '' : String(cell)
}
