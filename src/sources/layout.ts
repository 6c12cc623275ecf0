import { coordinatePair } from './coordinates.ts'
import {
  filledWidth,
  type Grid,
  type GridCell,
  type GridRow,
  gridText,
  isFilled,
  type TableLayout,
} from './grid.ts'
import { meansNothing } from './guess/words.ts'
import { writtenNumber } from './number-format.ts'
import { typesOf } from './value-types.ts'

/** Rows at the beginning and at the end of a grid that are examined. */
const HEAD_ROWS = 200
const TAIL_ROWS = 40
/** Rows within which a header is searched. */
const HEADER_ROWS = 60

/** The position of the table within a grid, and what was left out around it. */
export interface DetectedLayout extends TableLayout {
  /** Notes about rows that are no records, for a report. */
  readonly diagnostics: readonly string[]
}

const TOTAL =
  /^(?:(?:grand |sous-?|sub-?)?tota(?:l|le|ux|is|les)\b|summe\b|gesamt|insgesamt|somme\b|ensemble$|sum$|suma\b|totale\b|totaal\b)/i
const NOTE =
  /^(?:\*|\(?\d\)|¹|source|sources|quelle|fuente|fonte|bron|note|notes|nb\b|n\.b\.|légende|legende|legend|anmerkung|lecture|champ|données|data (?:from|source)|©|copyright|last updated|dernière mise|stand:|export|generated)/i

/**
 * Finds the table within a grid: the first row that is as wide as the rows below and looks like a header, and the rows at the end
 * that are totals or notes. Reads the grid once.
 */
export async function detectLayout(grid: Grid): Promise<DetectedLayout> {
  const head: GridRow[] = []
  let tail: GridRow[] = []
  let count = 0
  for await (const rows of grid.rows()) {
    for (const row of rows) {
      count++
      if (head.length < HEAD_ROWS) head.push(row)
    }
    tail = [...tail, ...rows.slice(-TAIL_ROWS)].slice(-TAIL_ROWS)
  }
  const filled = head.filter(({ cells }) => cells.some(isFilled))
  const at = headerIndex(filled)
  const header = filled[at]
  const body = filled.slice(at + 1)
  const diagnostics: string[] = []
  if (header !== undefined && at > 0)
    diagnostics.push(`${at} ${at === 1 ? 'row' : 'rows'} above the header left out`)
  const footer =
    count - (header === undefined ? 0 : 1) < 3
      ? []
      : footerOf(
          tail.filter(row => header === undefined || row.line > header.line),
          body,
        )
  if (footer.length > 0) {
    const first = footer.find(({ cells }) => cells.some(isFilled))
    const shown =
      first === undefined ? '' : ` (${JSON.stringify(gridText(first.cells.find(isFilled)).slice(0, 40))})`
    diagnostics.push(`${footer.length} ${footer.length === 1 ? 'row' : 'rows'} at the end left out${shown}`)
  }
  if (header === undefined) diagnostics.push('no header: columns are numbered')
  return { header: header?.line ?? 0, footer: footer.length, diagnostics }
}

/** The index of the header among non-empty rows; -1 if the first is a record already. */
function headerIndex(rows: readonly GridRow[]): number {
  if (rows.length === 0) return 0
  const width = defaultWidth(rows)
  for (let at = 0; at < Math.min(rows.length, HEADER_ROWS); at++) {
    const row = rows[at] as GridRow
    if (!isWide(row, width)) continue
    return isHeader(row, rows.slice(at + 1, at + 60), at === 0) ? lowerHeader(rows, at) : -1
  }
  return 0
}

/** Maximum rows below a first row of names that may contain the column names: after titles in several cells, or in headers of two rows. */
const MAX_HEADERS = 10

/**
 * The last row of names among the following ones: texts in columns (at least two) whose values below are numbers, days and the
 * like. A word in a single such column may denote a missing value.
 */
function lowerHeader(rows: readonly GridRow[], at: number): number {
  let found = at
  for (let next = at + 1; next <= at + MAX_HEADERS && next < rows.length - 2; next++) {
    const typed = typedColumns(rows.slice(next + 1, next + 60))
    if (typed.length >= 2 && isLowerHeader(rows, at, next, typed)) found = next
  }
  return found
}

function isLowerHeader(
  rows: readonly GridRow[],
  at: number,
  next: number,
  typed: readonly number[],
): boolean {
  const names = rows[next] as GridRow
  const above = rows.slice(at, next)
  // The rows in between and this one have no typed value there: they are no records. The first row may have years.
  if (![...above.slice(1), names].every(({ cells }) => typed.every(column => !isTyped(cells[column]))))
    return false
  const words = typed.filter(column => isWord(names.cells[column])).length
  if (words === typed.length) return true
  const isAfterGap = names.line - (above.at(-1) as GridRow).line > 1
  return isAfterGap ? words > 0 : words >= 2 && words >= typed.length * (2 / 3)
}

/** Columns in which nearly all values have a type. */
function typedColumns(rows: readonly GridRow[]): readonly number[] {
  const width = Math.max(0, ...rows.map(({ cells }) => cells.length))
  return Array.from({ length: width }, (_, at) => at).filter(at => {
    const values = rows.map(({ cells }) => cells[at]).filter(isFilled) as GridCell[]
    return values.length >= rows.length / 2 && values.filter(isTyped).length >= values.length * 0.9
  })
}

/** True for a text that is no typed value, and no word for a missing value. */
function isWord(cell: GridCell | undefined): boolean {
  return typeof cell === 'string' && isFilled(cell) && !isTyped(cell) && !meansNothing(cell.trim())
}

/** The most frequent number of columns of a row. */
function defaultWidth(rows: readonly GridRow[]): number {
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

/** True for a row with values in most columns, unlike a title. */
function isWide({ cells }: GridRow, width: number): boolean {
  const filled = cells.filter(isFilled).length
  if (width === 1) return true
  return filled >= Math.max(2, Math.ceil(width * 0.5))
}

/** True for names, false for a first record: names are of another kind than the values below them. */
function isHeader(row: GridRow, below: readonly GridRow[], isFirst: boolean): boolean {
  const names = row.cells.filter(isFilled)
  if (names.every(cell => typeof cell === 'string' && !isTyped(cell))) return true
  if (below.length === 0) return isFirst
  let typed = 0
  let alike = 0
  row.cells.forEach((cell, at) => {
    const values = below.map(({ cells }) => cells[at]).filter(isFilled) as GridCell[]
    if (values.length === 0 || values.filter(isTyped).length < values.length * 0.8) return
    typed++
    if (isFilled(cell) && isTyped(cell as GridCell)) alike++
  })
  if (typed === 0) return true
  const numbers = names.filter(isTyped).map(cell => Number(cell))
  // Years and other integers in sequence are column names, if there is also a name that is a text.
  if (numbers.length > 1 && names.some(cell => !isTyped(cell as GridCell)) && isSeries(numbers)) return true
  // A single name among numbers is a word for a missing value, or the only text of a first record.
  return alike < typed * 0.8
}

/** True for years in order, and for at least three integers at equal distances. */
function isSeries(numbers: readonly number[]): boolean {
  if (!numbers.every(Number.isInteger)) return false
  const steps = numbers.slice(1).map((number, at) => number - (numbers[at] as number))
  const isOrdered = steps.every(step => step > 0) || steps.every(step => step < 0)
  if (isOrdered && numbers.every(it => it >= 1500 && it <= 2200)) return true
  return isOrdered && numbers.length > 2 && steps.every(step => step === steps[0])
}

/** True for a cell with a number, day, position or the like. */
function isTyped(cell: GridCell | undefined): boolean {
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

/** The rows at the end that are totals, sources and notes. */
function footerOf(tail: readonly GridRow[], body: readonly GridRow[]): readonly GridRow[] {
  const width = defaultWidth(body)
  const standard = median(body.map(({ cells }) => cells.filter(isFilled).length))
  const maxLength = Math.max(0, ...body.slice(0, -1).map(({ cells }) => gridText(cells[0]).length))
  const isNumber = body.length > 0 && body.filter(({ cells }) => isTyped(cells[0])).length > body.length * 0.8
  let from = tail.length
  for (let at = tail.length - 1; at > 0; at--) {
    const row = tail[at] as GridRow
    const filled = row.cells.filter(isFilled)
    if (filled.length === 0) continue
    const first = gridText(filled[0]).trim()
    const isAlone = filled.length === 1 && isFilled(row.cells[0]) && width >= 2 && standard >= 2
    const isGap = gapBefore(tail, at)
    const isOther =
      isAlone &&
      (NOTE.test(first) || first.length > maxLength * 1.5 || (isNumber && !isTyped(first)) || isGap)
    const isTotal = TOTAL.test(first) && (isGap || at >= tail.length - 5) && width >= 2
    if (!isOther && !isTotal) break
    from = at
  }
  from = Math.min(from, wordsFrom(tail.slice(0, from), body))
  // Only rows with values are counted: readers skip empty ones.
  return tail.slice(from).filter(({ cells }) => cells.some(isFilled))
}

/** The index of the first row at the end with words instead of values in columns of numbers and days; the length if there is none. */
function wordsFrom(tail: readonly GridRow[], body: readonly GridRow[]): number {
  const typed = typedColumns(body.slice(0, Math.max(5, Math.floor(body.length / 2))))
  if (typed.length < 2 || body.length < 6) return tail.length
  let hasWord = false
  let at = tail.length - 1
  for (; at > 0; at--) {
    const { cells } = tail[at] as GridRow
    if (typed.some(column => isTyped(cells[column]))) break
    if (typed.some(column => isWord(cells[column]))) hasWord = true
  }
  return hasWord ? at + 1 : tail.length
}

function gapBefore(rows: readonly GridRow[], at: number): boolean {
  const before = rows[at - 1]
  return before !== undefined && !before.cells.some(isFilled)
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}
