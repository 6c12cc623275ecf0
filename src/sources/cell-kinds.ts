import { coordinatePair } from './coordinates.ts'
import { filledWidth, type GridCell, type GridRow, isFilled } from './grid-cells.ts'
import { meansNothing } from './guess/words.ts'
import { writtenNumber } from './number-format.ts'
import { typesOf } from './value-types.ts'

/** True for a cell with a number, day, position or the like. */
export function isTyped(cell: GridCell | undefined): boolean {
  if (typeof cell !== 'string') return cell !== null && cell !== undefined
  const text = cell.trim()
  if (text === '' || /^(?:true|false)$/i.test(text)) return false
  if (/^\{|^(?:MULTI)?(?:POINT|POLYGON|LINESTRING)\s*\(/i.test(text)) return true
  if (/^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]|$)/.test(text)) return true
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)) return true
  if (/^https?:\/\/\S+$/i.test(text) || /^[^@\s]+@[^@\s]+\.[a-z]{2,}$/i.test(text)) return true
  const { types } = typesOf(text, 0xffff, false)
  return (
    types !== typesOf('x', 0xffff, false).types ||
    writtenNumber(text) !== undefined ||
    coordinatePair(text) !== undefined
  )
}

/** Columns in which nearly all values have a type. */
export function typedColumns(rows: readonly GridRow[]): readonly number[] {
  const width = Math.max(0, ...rows.map(({ cells }) => cells.length))
  return Array.from({ length: width }, (_, at) => at).filter(at => {
    const values = rows.map(({ cells }) => cells[at]).filter(isFilled) as GridCell[]
    return values.length >= rows.length / 2 && values.filter(isTyped).length >= values.length * 0.9
  })
}

/** True for a text that is no typed value, and no word for a missing value. */
export function isWord(cell: GridCell | undefined): boolean {
  return typeof cell === 'string' && isFilled(cell) && !isTyped(cell) && !meansNothing(cell.trim())
}

/** The most frequent number of columns of a row. */
export function defaultWidth(rows: readonly GridRow[]): number {
  const counts = new Map<number, number>()
  for (const { cells } of rows) {
    const width = filledWidth(cells)
    counts.set(width, (counts.get(width) ?? 0) + 1)
  }
  let best = 1
  for (const [width, count] of counts) {
    const known = counts.get(best) ?? 0
    if (count > known || (count === known && width > best)) best = width
  }
  return best
}
