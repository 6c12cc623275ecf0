import { writtenNumber } from '../typing/number-format.ts'
import { defaultWidth, isTyped, isWord, typedColumns } from '../typing/value-types.ts'
import { footerOf } from './footer.ts'
import {
  filledWidth,
  type Grid,
  type GridCell,
  type GridRow,
  gridText,
  isFilled,
  type TableLayout,
} from './grid.ts'
import { headerNames, tableBeside, unitsBelow } from './header-rows.ts'

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

/**
 * Finds the table within a grid: the first row that is as wide as the rows below and looks like a header, and the rows at the end
 * that are totals or notes. Reads the grid once, and again where the last row has the name of a total.
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
  const below = filled.slice(at + 1)
  const units = header === undefined ? null : unitsBelow(namesAt(filled, at), below)
  const body = below.slice(units === null ? 0 : units.index + 1)
  const diagnostics: string[] = []
  const names = header === undefined ? [] : namesAt(filled, at)
  const isOfTwoRows = names.some((name, column) => name !== gridText(header?.cells[column]))
  const above = isOfTwoRows ? at - 1 : at
  if (header !== undefined && above > 0)
    diagnostics.push(`${above} ${above === 1 ? 'row' : 'rows'} above the header left out`)
  if (isOfTwoRows) diagnostics.push('the names of the columns are those of two rows')
  if (units !== null)
    diagnostics.push(
      `the row ${below[units.index]?.line} has the units of columns and is no record: ${[...units.units.values()].slice(0, 5).join(', ')}`,
    )
  const beside = header === undefined ? undefined : tableBeside(header.cells, body)
  if (beside !== undefined)
    diagnostics.push(
      `an empty column stands before ${JSON.stringify(gridText(header?.cells[beside]).trim().slice(0, 40))}, which may begin another table beside the first, whose rows are read as one: put it into a file or sheet of its own${grid.textual ? '' : ', or name the cells of one: options: { range: A1:F20 }'}`,
    )
  const footer =
    count - (header === undefined ? 0 : 1) < 3
      ? []
      : await footerOf(
          tail.filter(row => header === undefined || row.line > header.line),
          body,
          grid,
          header?.line ?? 0,
        )
  const other = header === undefined ? undefined : otherTable(head.filter(({ line }) => line >= header.line))
  if (other !== undefined)
    diagnostics.push(
      `the row ${other.line} (${JSON.stringify(gridText(other.cells.find(isFilled)).slice(0, 40))}) may be the header of another table, whose rows are read as records of the first: put it into a file or sheet of its own${grid.textual ? '' : ', or name the cells of one: options: { range: A1:F20 }'}`,
    )
  if (footer.length > 0) {
    const first = footer.find(({ cells }) => cells.some(isFilled))
    const shown =
      first === undefined ? '' : ` (${JSON.stringify(gridText(first.cells.find(isFilled)).slice(0, 40))})`
    diagnostics.push(`${footer.length} ${footer.length === 1 ? 'row' : 'rows'} at the end left out${shown}`)
  }
  if (header === undefined) diagnostics.push('no header: columns are numbered')
  else if (below.length === 0)
    diagnostics.push(
      'there are no records below the row with names; where this is one, say header: 0 in options',
    )
  return { header: header?.line ?? 0, footer: footer.length, diagnostics }
}

/** The first row after an empty one that has names as a header does, above numbers, days and the like, and does not repeat the header. */
function otherTable([header, ...rows]: readonly GridRow[]): GridRow | undefined {
  return rows.find((row, at) => {
    if (at === 0 || rows[at - 1]?.cells.some(isFilled) === true) return false
    const end = rows.findIndex(({ cells }, next) => next > at && !cells.some(isFilled))
    const below = rows.slice(at + 1, end < 0 ? undefined : end)
    const typed = typedColumns(below)
    return (
      isFilled(row.cells[0]) &&
      typed.length > 0 &&
      typed.every(column => isWord(row.cells[column]) || isYear(row.cells[column])) &&
      row.cells.some(
        (cell, column) => isFilled(cell) && gridText(cell) !== gridText(header?.cells[column]),
      ) &&
      !typed.every(column => below.every(({ cells }) => isYear(cells[column])))
    )
  })
}

/** The index of the header among non-empty rows; -1 if the first is a record already. */
function headerIndex(rows: readonly GridRow[]): number {
  if (rows.length === 0) return 0
  const width = defaultWidth(rows)
  for (let at = 0; at < Math.min(rows.length, HEADER_ROWS); at++) {
    const row = rows[at] as GridRow
    if (!isWide(row, width) && !(at === 0 && isIndexHeader(rows, width))) continue
    return isHeader(row, rows.slice(at + 1, at + 60), at === 0) ? lowerHeader(rows, at) : -1
  }
  return 0
}

/** Maximum rows below a first row of names that may contain the column names: after titles in several cells, or in headers of two rows. */
const MAX_HEADERS = 10

/** The names of the columns in a row, and of those that it does not name in the row above. */
function namesAt(rows: readonly GridRow[], at: number): readonly string[] {
  const [head, above] = [rows[at] as GridRow, rows[at - 1]]
  const isHeader = above?.line === head.line - 1 && above.cells.filter(isFilled).length > 1
  const upper = isHeader ? above.cells : []
  return headerNames(head.cells, upper, Math.max(head.cells.length, upper.length))
}

/** Some of the rows below a header, without one of units. */
function recordsBelow(rows: readonly GridRow[], at: number): readonly GridRow[] {
  const below = rows.slice(at + 1, at + 60)
  const units = at < rows.length ? unitsBelow(namesAt(rows, at), below) : null
  return units === null ? below : below.slice(units.index + 1)
}

/**
 * The last row of names among the following ones: texts in columns (at least two) whose values below are numbers, days and the
 * like. A word in a single such column may denote a missing value.
 */
function lowerHeader(rows: readonly GridRow[], at: number): number {
  let found = hasGroups(rows, at) ? at + 1 : at
  for (let next = at + 1; next <= at + MAX_HEADERS && next < rows.length - 2; next++) {
    const typed = typedColumns(recordsBelow(rows, next))
    if (typed.length < 2 || !isLowerHeader(rows, at, next, typed)) continue
    if (unitsBelow(namesAt(rows, found), rows.slice(next)) === null) found = next
  }
  return found
}

/**
 * True for a header of two rows whose upper names are those of one column or of several: the row below has names for these, and no
 * other cells. All records have a first value, which that row lacks.
 */
function hasGroups(rows: readonly GridRow[], at: number): boolean {
  const upper = (rows[at] as GridRow).cells
  const lower = rows[at + 1]?.cells ?? []
  const below = recordsBelow(rows, at + 1)
  const width = Math.max(filledWidth(upper), filledWidth(lower))
  let groups = 0
  for (let column = 0; column < width; column++) {
    const isUpper = isFilled(upper[column])
    const isGroup = isUpper && !isFilled(upper[column + 1]) && isFilled(lower[column + 1])
    if (isGroup) groups++
    if (isFilled(lower[column]) !== (isGroup || !isUpper)) return false
    if (isFilled(lower[column]) && !isWord(lower[column]) && !isYear(lower[column])) return false
  }
  const isNameless = isFilled(upper[0]) && !isFilled(lower[0])
  return groups > 0 && isNameless && below.length > 1 && below.every(({ cells }) => isFilled(cells[0]))
}

function isLowerHeader(
  rows: readonly GridRow[],
  at: number,
  next: number,
  typed: readonly number[],
): boolean {
  const names = rows[next] as GridRow
  const above = rows.slice(at, next)
  const years = yearsBelowNames(rows, at, next)
  // The rows in between and this one have no typed value there: they are no records. The first row may have years.
  if (!above.slice(1).every(({ cells }) => typed.every(column => !isTyped(cells[column])))) return false
  if (!typed.every(column => years.has(column) || !isTyped(names.cells[column]))) return false
  const words = typed.filter(column => years.has(column) || isWord(names.cells[column])).length
  if (words === typed.length) return true
  const isAfterGap = names.line - (above.at(-1) as GridRow).line > 1
  return isAfterGap ? words > 0 : words >= 2 && words >= typed.length * (2 / 3)
}

/**
 * The columns in which a row has years as the lower part of a header: it follows a row of names that extend over several columns,
 * has no name of its own for the first one, where all records have a value, and the records have other values than years.
 */
function yearsBelowNames(rows: readonly GridRow[], at: number, next: number): ReadonlySet<number> {
  const [upper, lower] = [rows[at] as GridRow, rows[next] as GridRow]
  const below = recordsBelow(rows, next)
  const isSpanning = lower.cells.some(
    (cell, column) => column > 1 && isFilled(cell) && !isFilled(upper.cells[column]),
  )
  const isNameless = isFilled(upper.cells[0]) && !isFilled(lower.cells[0])
  if (next !== at + 1 || !isSpanning || !isNameless || !below.every(({ cells }) => isFilled(cells[0])))
    return new Set()
  const columns = lower.cells.map((_, column) => column).filter(column => isYear(lower.cells[column]))
  return new Set(columns.filter(column => !below.every(({ cells }) => isYear(cells[column]))))
}

function isYear(cell: GridCell | undefined): boolean {
  return isFilled(cell) && /^(?:1[5-9]|2[01])\d\d$/.test(gridText(cell).trim())
}

function isDay(cell: GridCell | undefined): boolean {
  return isFilled(cell) && /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]|$)/.test(gridText(cell).trim())
}

function isQuantity(cell: GridCell | undefined): boolean {
  return (
    isFilled(cell) && (typeof cell !== 'string' || isDay(cell) || writtenNumber(cell.trim()) !== undefined)
  )
}

/** True for a row with values in most columns, unlike a title. */
function isWide({ cells }: GridRow, width: number): boolean {
  const filled = cells.filter(isFilled).length
  if (width === 1) return true
  return filled >= Math.max(2, Math.ceil(width * 0.5))
}

/**
 * True for a first row of two columns that names only the second, as for a series with its index; false for a title above the
 * names of the columns.
 */
function isIndexHeader(rows: readonly GridRow[], width: number): boolean {
  const [row, next] = rows
  if (row === undefined || next === undefined || width !== 2) return false
  if (isFilled(row.cells[0]) || filledWidth(row.cells) !== 2 || !isFilled(next.cells[0])) return false
  const typed = typedColumns(rows.slice(2, 60))
  return typed.length === 0 || !typed.every(column => isWord(next.cells[column]))
}

/** True for names, false for a first record: names are of another kind than the values below them. */
function isHeader(row: GridRow, below: readonly GridRow[], isFirst: boolean): boolean {
  const names = row.cells.filter(isFilled)
  if (names.every(cell => typeof cell === 'string' && !isTyped(cell))) return true
  // A single row of several numbers or days is a record; one value, or a piece of JSON, may be the message of a service that fails.
  if (below.length === 0) return isFirst && !(names.length > 1 && names.every(isQuantity))
  let typed = 0
  let alike = 0
  let hasValue = false
  const days = new Set<string>()
  row.cells.forEach((cell, at) => {
    const values = below.map(({ cells }) => cells[at]).filter(isFilled) as GridCell[]
    const isDayName = isDay(cell) && values.length > 0 && !values.some(isDay)
    if (isDayName) days.add(gridText(cell))
    if (values.length === 0 || values.filter(isTyped).length < values.length * 0.8) return
    typed++
    if (!isFilled(cell) || !isTyped(cell as GridCell)) return
    alike++
    if (!isDayName) hasValue = true
  })
  if (typed === 0) return true
  // Several days above other values are names, as in a series of days, if no other cell is like those below it.
  if (days.size > 1 && !hasValue && names.some(cell => !isTyped(cell as GridCell))) return true
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
