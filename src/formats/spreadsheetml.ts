import { isTemporal } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'
import { XML_DECLARATION, xmlAttribute } from '../model/xml.ts'
import { cellText } from './csv.ts'
import { columnName, type ExportOptions, type Table, type TableColumn, type TableRow } from './table.ts'

/** Maximum rows of one sheet, without its header: the limit of current spreadsheet programs. */
export const SHEET_ROWS = 1_048_575
/** Maximum UTF-16 units of a cell. */
export const CELL_CHARACTERS = 32_767

/** A day or moment in a spreadsheet: the local time as written, without its offset. */
export interface SheetMoment {
  /** Days since 1899-12-30, with fraction. */
  readonly serial: number
  /** `YYYY-MM-DDTHH:MM:SS.mmm` */
  readonly text: string
  readonly precision: 'day' | 'second' | 'millisecond'
}

/** The value of a spreadsheet cell. */
export type SheetCell = string | number | boolean | SheetMoment | null

/**
 * A value as a cell. Lists, points and shapes are texts as in CSV. A text over 32,767 units is truncated and ends with `…`,
 * because spreadsheet programs report a file with a longer one as damaged.
 */
export function sheetCell(value: unknown, column: TableColumn, listSeparator: string): SheetCell {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean' || Number.isFinite(value)) return value as boolean | number
  if (typeof value === 'string' && isTemporal(column.type)) {
    const moment = sheetMoment(value)
    if (moment !== null) return moment
  }
  return cut(cellText(value, column, listSeparator))
}

function cut(text: string): string {
  if (text.length <= CELL_CHARACTERS) return text
  const end = /[\ud800-\udbff]/.test(text.charAt(CELL_CHARACTERS - 2)) ? 2 : 1
  return `${text.slice(0, CELL_CHARACTERS - end)}…`
}

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?$/
/** Spreadsheet programs disagree about earlier days, because some have a February 29 in 1900. */
const FIRST_DAY = '1900-03-01'
const UNIX_EPOCH = 25_569

/** A day or moment in ISO 8601 as a cell; null if spreadsheets have no number for it, so that it stays text. */
function sheetMoment(iso: string): SheetMoment | null {
  const [, day, clock, fraction] = MOMENT.exec(iso) ?? []
  if (day === undefined || day < FIRST_DAY) return null
  const milliseconds = (fraction ?? '.').padEnd(4, '0').slice(0, 4)
  const text = `${day}T${clock ?? '00:00:00'}${milliseconds}`
  const epoch = Date.parse(`${text}Z`)
  if (Number.isNaN(epoch)) return null
  const precision = clock === undefined ? 'day' : milliseconds === '.000' ? 'second' : 'millisecond'
  return { serial: epoch / 86_400_000 + UNIX_EPOCH, text, precision }
}

/** The name of a sheet: at most 31 characters, none of `: \ / ? * [ ]`, no leading or trailing quote; later sheets are numbered. */
export function sheetName(name: string, number: number): string {
  const suffix = number === 1 ? '' : ` ${number}`
  const plain = name.replace(/[:\\/?*[\]\p{Cc}]/gu, '_').slice(0, 31 - suffix.length)
  const legal = plain.toWellFormed().replace(/^'|'$/g, '_').trim()
  return (legal === '' || legal.toLowerCase() === 'history' ? `_${legal}` : legal) + suffix
}

/** The rows of each sheet, one sheet after the other: the rest of one sheet starts the next. There is always a first. */
export async function* inSheets(
  rows: AsyncIterable<readonly TableRow[]>,
  limit: number,
): AsyncGenerator<AsyncIterable<readonly TableRow[]>> {
  const pieces = rows[Symbol.asyncIterator]()
  let rest: readonly TableRow[] = []
  const more = async () => {
    while (rest.length === 0) {
      const next = await pieces.next()
      if (next.done) return false
      rest = next.value
    }
    return true
  }
  async function* sheet() {
    for (let room = limit; room > 0 && (await more()); ) {
      const piece = rest.slice(0, room)
      rest = rest.slice(room)
      room -= piece.length
      yield piece
    }
  }
  try {
    do yield sheet()
    while (await more())
  } finally {
    await pieces.return?.()
  }
}

const HEAD = `${XML_DECLARATION}<?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Styles>
<Style ss:ID="Default" ss:Name="Normal"/>
<Style ss:ID="header"><Font ss:Bold="1"/></Style>
<Style ss:ID="day"><NumberFormat ss:Format="yyyy\\-mm\\-dd"/></Style>
<Style ss:ID="second"><NumberFormat ss:Format="yyyy\\-mm\\-dd\\ hh:mm:ss"/></Style>
<Style ss:ID="millisecond"><NumberFormat ss:Format="yyyy\\-mm\\-dd\\ hh:mm:ss.000"/></Style>
</Styles>
`
const SHEET_FOOT = `</Table>
<WorksheetOptions xmlns="urn:schemas-microsoft-com:office:excel"><FreezePanes/><FrozenNoSplit/><SplitHorizontal>1</SplitHorizontal><TopRowBottomPane>1</TopRowBottomPane><ActivePane>2</ActivePane></WorksheetOptions>
</Worksheet>
`

/**
 * Writes SpreadsheetML 2003 (the XML format of spreadsheets before Office Open XML): names in the first row, typed cells, none
 * for null, moments in local time as written. More than 1,048,575 rows continue in further sheets.
 */
export async function* spreadsheetml(
  table: Table,
  options: ExportOptions,
  sheetRows = SHEET_ROWS,
): AsyncGenerator<string> {
  const names = table.columns.map(column => columnName(column, options))
  const header = `<Row>${names.map(name => `<Cell ss:StyleID="header">${textData(cut(name))}</Cell>`).join('')}</Row>\n`
  let head = HEAD
  let number = 0
  for await (const sheet of inSheets(table.rows, sheetRows)) {
    yield `${head}<Worksheet ss:Name="${xmlAttribute(sheetName(table.name, ++number))}">\n<Table>\n${header}`
    head = ''
    for await (const rows of sheet) yield rows.map(row => rowXml(row, table.columns, options)).join('')
    yield SHEET_FOOT
  }
  yield '</Workbook>\n'
}

function rowXml(row: TableRow, columns: readonly TableColumn[], { listSeparator }: ExportOptions): string {
  let cells = ''
  let skipped = false
  columns.forEach((column, index) => {
    const cell = sheetCell(lookup(row, column.key), column, listSeparator)
    if (cell !== null) cells += cellXml(cell, skipped ? ` ss:Index="${index + 1}"` : '')
    skipped = cell === null
  })
  return `<Row>${cells}</Row>\n`
}

function cellXml(cell: NonNullable<SheetCell>, place: string): string {
  if (typeof cell === 'string') return `<Cell${place}>${textData(cell)}</Cell>`
  if (typeof cell === 'number') return `<Cell${place}><Data ss:Type="Number">${cell}</Data></Cell>`
  if (typeof cell === 'boolean') return booleanXml(cell, place)
  return `<Cell${place} ss:StyleID="${cell.precision}"><Data ss:Type="DateTime">${cell.text}</Data></Cell>`
}

/** A boolean with a formula: LibreOffice 7 treats a boolean without one as an empty cell. */
function booleanXml(value: boolean, place: string): string {
  const formula = value ? '=TRUE()' : '=FALSE()'
  return `<Cell${place} ss:Formula="${formula}"><Data ss:Type="Boolean">${value ? 1 : 0}</Data></Cell>`
}

/** A text with its line breaks as character references: spreadsheets replace others with spaces. */
function textData(text: string): string {
  return `<Data ss:Type="String">${xmlAttribute(text)}</Data>`
}
