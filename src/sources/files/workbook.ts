import { unreadable } from '../source.ts'
import { type Grid, type GridCell, type GridRow, MAX_WIDTH } from '../tables/grid.ts'
import { CellFindings, type CellRange } from './cell-findings.ts'

export type { CellRange } from './cell-findings.ts'

/** Selects the cells of a workbook that form the grid. */
export interface SheetChoice {
  /** Name of a sheet, or its number from 1; the first with cells by default. */
  readonly sheet?: string | number
  /** `B3:F200`, `B:F` or `3:200`. */
  readonly range?: string
}

/** Maximum columns and rows of a sheet in spreadsheet programs. */
const MAX_COLUMNS = 16_384
const ROWS = 2 ** 20

const ALL: CellRange = { top: 0, left: 0, bottom: ROWS * 16, right: MAX_COLUMNS - 1 }

const RANGE = /^\$?([A-Z]{1,3})?\$?(\d{1,7})?(?::\$?([A-Z]{1,3})?\$?(\d{1,7})?)?$/i

/** Parses a range of cells; undefined for an invalid text. */
export function cellRange(text: string | undefined): CellRange | undefined {
  if (text === undefined) return ALL
  const match = RANGE.exec(text.trim())
  if (match === null || text.trim() === '') return undefined
  const [, left, top, right, bottom] = match
  const range = {
    left: left === undefined ? 0 : columnNumber(left),
    top: top === undefined ? 0 : Number(top) - 1,
    right: right === undefined ? ALL.right : columnNumber(right),
    bottom: bottom === undefined ? ALL.bottom : Number(bottom) - 1,
  }
  return range.left <= range.right && range.top <= range.bottom ? range : undefined
}

/** The number of a column, from 0, from its letters; also from a cell reference, `AB12`. */
export function columnNumber(letters: string): number {
  let number = 0
  for (let i = 0; i < letters.length; i++) {
    const code = letters.charCodeAt(i) & ~32
    if (code < 65 || code > 90) break
    number = number * 26 + (code - 64)
  }
  return number - 1
}

/** Collects the cells of one row, within a range. */
export class RowBuilder {
  private readonly range: CellRange
  private readonly file: string
  private cells: GridCell[] = []
  private latest = -1

  constructor(range: CellRange, file: string) {
    this.range = range
    this.file = file
  }

  /** Sets a cell; those before it are empty. Throws SourceUnreadable beyond the columns of a sheet, and of a table. */
  set(column: number, cell: GridCell): void {
    if (cell === null) return
    const at = column - this.range.left
    if (column >= MAX_COLUMNS || (at >= MAX_WIDTH && column <= this.range.right))
      throw unreadable(
        `The sheet has a cell in column ${column + 1}, and at most ${MAX_WIDTH} columns are read.`,
        { file: this.file },
        'Delete what is beyond the table, or name its cells: options: { range: A:Z }.',
      )
    if (at < 0 || column > this.range.right) return
    while (this.cells.length < at) this.cells.push(null)
    this.cells[at] = cell
  }

  /** The row, if it is within the range. @param number of the row, from 0 */
  take(number: number): GridRow | undefined {
    const { cells, range } = this
    this.cells = []
    return number < range.top || number > range.bottom ? undefined : { line: number + 1, cells }
  }

  /** The row as of {@link take}, with an empty one before it where the file leaves empty rows out: it parts tables from notes. */
  takeAfterGap(number: number): readonly GridRow[] {
    const isGap = number > Math.max(this.latest + 1, this.range.top)
    this.latest = number
    const row = this.take(number)
    if (row === undefined) return []
    return isGap ? [{ line: number, cells: [] }, row] : [row]
  }
}

/** A grid of the rows from a generator, which reports what it finds. */
export function workbookGrid(
  name: string,
  range: CellRange,
  rows: (findings: CellFindings) => AsyncIterable<readonly GridRow[]>,
): Grid {
  const findings = new CellFindings(range)
  return {
    name,
    textual: false,
    rows: () => {
      findings.clear()
      return rows(findings)
    },
    warnings: header => findings.warnings(header),
  }
}

/** A sheet of a workbook. */
export interface Sheet {
  readonly name: string
  readonly isHidden: boolean
}

/** The selected sheet of a workbook. Throws SourceUnreadable if it does not exist. */
export function chosenSheet<T extends Sheet>(
  sheets: readonly T[],
  required: string | number | undefined,
  file: string,
): T {
  const isNumber = typeof required === 'number' || /^\d+$/.test(required ?? '')
  const found =
    required === undefined
      ? (sheets.find(({ isHidden }) => !isHidden) ?? sheets[0])
      : (sheets.find(({ name }) => name === String(required)) ??
        (isNumber ? sheets[Number(required) - 1] : undefined))
  if (found !== undefined) return found
  const names = sheets
    .slice(0, 20)
    .map(({ name }) => JSON.stringify(name))
    .join(', ')
  throw unreadable(
    required === undefined
      ? 'The workbook has no sheet.'
      : `The workbook has no sheet ${JSON.stringify(required)}.`,
    { file },
    names === '' ? 'Save it again as .xlsx, with a sheet that has the table.' : `Sheets: ${names}`,
  )
}

const DAY = 86_400_000

/** Maximum days that a format of hours alone denotes as a duration; larger numbers are moments of which it shows the hours. */
const MAX_HOURS_ALONE = 366

/**
 * What the serial numbers of a workbook count from (ECMA-376, part 1, 18.17.4.1): `1900` is for compatibility, with a February 29 in
 * 1900, so that 1 is January 1 of that year; `1899` without that day, and 1904.
 */
export type DateBase = '1900' | '1899' | '1904'

/** The serial number of 1900-02-29, which spreadsheet programs count. */
const NO_DAY = 60

/** A day or moment of a spreadsheet as ISO 8601. Null for a number out of range. */
function serialDate(serial: number, base: DateBase): string | null {
  if (!Number.isFinite(serial) || serial < 0 || serial > 2_958_466) return null
  const days = base === '1904' ? serial + 1462 : base === '1900' && serial < NO_DAY ? serial + 1 : serial
  const milliseconds = Math.round(days * DAY)
  const date = new Date(milliseconds - 25_569 * DAY)
  const iso = date.toISOString()
  if (milliseconds % DAY === 0) return iso.slice(0, 10)
  return iso.endsWith('.000Z') ? iso.slice(0, 19) : iso.slice(0, 23)
}

/**
 * A time of the day as `HH:MM:SS`, and a number of some days in a format of times as a duration: programs choose the format by the first
 * value of a column. Null for moments.
 */
function serialTime(serial: number): string | null {
  return serial >= 0 && serial < MAX_HOURS_ALONE ? serialDuration(serial) : null
}

/** The serial number of a moment as SpreadsheetML writes it: times of the day are those of 1899-12-31, of which the number is 0. */
export function serialOf(moment: string): number {
  const days = (Date.parse(`${moment}Z`) - Date.UTC(1899, 11, 31)) / DAY
  return days < NO_DAY ? days : days + 1
}

/** A duration in days as `HH:MM:SS`, with as many hours as it has. */
function serialDuration(serial: number): string {
  return clockText(serial * DAY)
}

/** Years, months, days, hours, minutes and seconds of a duration (XML Schema 1.1, part 2, 3.3.6). */
const DURATION =
  /^(-)?P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/

/**
 * A duration of ISO 8601, `PT9H30M1.5S`, as `HH:MM:SS`; one with years or months, which have no certain length, remains as it is.
 * Undefined for another text.
 */
export function isoDuration(text: string): string | undefined {
  const match = DURATION.exec(text)
  if (match === null) return undefined
  const [, sign, years, months, ...parts] = match
  if (Number(years ?? 0) > 0 || Number(months ?? 0) > 0) return text
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map(part =>
    Number((part ?? '0').replace(',', '.')),
  )
  const milliseconds = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
  return clockText(sign === undefined ? milliseconds : -milliseconds)
}

/** Milliseconds as `HH:MM:SS`, with a fraction where there is one: beyond thousandths serial numbers are inexact. */
function clockText(milliseconds: number): string {
  const rounded = Math.round(Math.abs(milliseconds))
  const seconds = Math.floor(rounded / 1000)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const fraction = String(rounded % 1000)
    .padStart(3, '0')
    .replace(/0+$/, '')
  const sign = milliseconds < 0 && rounded > 0 ? '-' : ''
  return `${sign}${parts.map(part => String(part).padStart(2, '0')).join(':')}${fraction === '' ? '' : `.${fraction}`}`
}

/**
 * Numbers of the built-in formats of dates and times (ECMA-376, part 1, 18.8.30). Those from 27 on belong to Chinese, Japanese and Korean
 * programs, which do not write them out; those that are times in one of these languages are days in another, as the numbers themselves tell.
 */
const BUILT_IN_DATES: ReadonlySet<number> = new Set([
  14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36, 50, 51, 54, 57, 58,
])
const BUILT_IN_TIMES: ReadonlySet<number> = new Set([18, 19, 20, 21, 32, 33, 34, 35, 45, 47, 52, 53, 55, 56])
const BUILT_IN_DURATION = 46

/** The kind of a number by the format of its cell; `digits` of a format of zeros alone, which codes have. */
export type CellKind = 'number' | 'date' | 'time' | 'duration' | { readonly digits: number }

/** The kind of a number format by its id, among the formats of the workbook. */
export function kindOfFormat(format: number, formats: ReadonlyMap<number, string>): CellKind {
  const code = formats.get(format)
  if (code !== undefined) return kindOfCode(code)
  if (BUILT_IN_DATES.has(format)) return 'date'
  if (BUILT_IN_TIMES.has(format)) return 'time'
  return format === BUILT_IN_DURATION ? 'duration' : 'number'
}

/** The kind of a format of SpreadsheetML: the code of a number format, or the name of one, such as `Short Time`. */
export function kindOfNamed(format: string): CellKind {
  return / time$/i.test(format) ? 'time' : kindOfCode(format)
}

/** The kind of a number format: a date if it has years or days, a time if it has hours alone, a duration with `[h]`, `[m]` or `[s]`. */
function kindOfCode(code: string): CellKind {
  const [first = ''] = code.split(';')
  if (/^00+$/.test(first)) return { digits: first.length }
  const plain = first.replace(/"[^"]*"|\\.|_.|\*./g, '').replace(/\[(?!h+\]|m+\]|s+\])[^[\]]*\]/gi, '')
  if (/general/i.test(plain)) return 'number'
  if (/[yd]/i.test(plain)) return 'date'
  if (/\[[hms]/i.test(plain)) return 'duration'
  if (/m/i.test(plain) && !/[hs0#?]/i.test(plain)) return 'date'
  return /[hs]/i.test(plain) ? 'time' : 'number'
}

/** A number as the format of its cell denotes it. */
export function formattedNumber(number: number, kind: CellKind, base: DateBase): GridCell {
  switch (kind) {
    case 'number':
      return number
    case 'date':
      return serialDate(number, base) ?? number
    case 'time':
      return serialTime(number) ?? serialDate(number, base) ?? number
    case 'duration':
      return serialDuration(number)
    default:
      return Number.isSafeInteger(number) && number >= 0 ? String(number).padStart(kind.digits, '0') : number
  }
}
