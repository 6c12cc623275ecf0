import { lookup } from '../model/lookup.ts'
import { XML_DECLARATION, xmlAttribute, xmlText } from '../model/xml.ts'
import {
  CELL_CHARACTERS,
  inSheets,
  SHEET_ROWS,
  type SheetCell,
  sheetCell,
  sheetName,
} from './spreadsheetml.ts'
import { columnName, type ExportOptions, type Table, type TableColumn, type TableRow } from './table.ts'
import { type ZipEntry, zip } from './zip-stream.ts'

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** Limits of one sheet; a sheet of so many characters stays below 4 GiB of UTF-8. */
export interface SheetLimits {
  readonly rows: number
  readonly characters: number
}

const LIMITS: SheetLimits = { rows: SHEET_ROWS, characters: 2 ** 30 }

/** Cell styles by their index in `cellXfs`. */
const STYLE = { header: 1, day: 2, second: 3, millisecond: 4 } as const

/**
 * Writes an Office Open XML workbook (ECMA-376, SpreadsheetML): names in the first row, which is frozen, typed cells, none for
 * null, moments in local time as written. Rows beyond the limits of one sheet continue in further sheets.
 */
export function xlsx(table: Table, options: ExportOptions, limits = LIMITS): AsyncIterable<Uint8Array> {
  return zip(parts(table, options, limits))
}

/** The files of the workbook. Those that name the sheets are last, when their number is known. */
async function* parts(table: Table, options: ExportOptions, limits: SheetLimits): AsyncGenerator<ZipEntry> {
  const sheets: string[] = []
  const progress: Progress = { count: null, written: 0 }
  for await (const rows of inSheets(countedRows(table, progress), limits.rows)) {
    sheets.push(sheetName(table.name, sheets.length + 1))
    yield {
      name: `xl/worksheets/sheet${sheets.length}.xml`,
      content: sheetXml(rows, progress, table.columns, options, limits),
    }
  }
  yield part('xl/styles.xml', STYLES)
  yield part('xl/workbook.xml', workbookXml(sheets))
  yield part('xl/_rels/workbook.xml.rels', workbookRelations(sheets))
  yield part('_rels/.rels', relations([['officeDocument', 'xl/workbook.xml']]))
  yield part('[Content_Types].xml', contentTypes(sheets))
}

/** Progress of writing the rows of a table. */
interface Progress {
  /** The number of all rows, if known before the first row; otherwise null. */
  count: number | null
  written: number
}

/** The rows of a table; before the first row, the total number is stored, if the table reports it or a look-ahead finds it. */
async function* countedRows({ rows, count }: Table, progress: Progress): AsyncGenerator<readonly TableRow[]> {
  progress.count = (await count?.()) ?? null
  if (progress.count !== null) {
    yield* rows
    return
  }
  const read: (readonly TableRow[])[] = []
  for await (const piece of rows) {
    if (read.length > 1) yield piece
    else if (piece.length > 0 && read.push(piece) > 1) yield* read
  }
  if (read.length > 1) return
  progress.count = read[0]?.length ?? 0
  yield* read
}

function part(name: string, xml: string): ZipEntry {
  return { name, content: [XML_DECLARATION + xml] }
}

const WIDTHS: Readonly<Partial<Record<TableColumn['type'], number>>> = { text: 24, date: 12, datetime: 20 }

async function* sheetXml(
  pieces: AsyncIterable<readonly TableRow[]>,
  progress: Progress,
  columns: readonly TableColumn[],
  options: ExportOptions,
  limits: SheetLimits,
): AsyncGenerator<string> {
  const letters = columns.map((_, index) => columnLetters(index))
  const head = (extent: string) =>
    `${XML_DECLARATION}<worksheet xmlns="${MAIN}">${extent}<sheetViews><sheetView workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
    `${widths(columns)}<sheetData>${headerXml(columns, letters, options)}`
  let number = 1
  let characters = 0
  for await (const rows of pieces) {
    let text = ''
    for (const row of rows) text += rowXml(row, ++number, columns, letters, options)
    if (characters === 0) {
      const left = progress.count === null ? null : Math.min(limits.rows, progress.count - progress.written)
      const isWhole = left !== null && (text.length / rows.length) * left * MARGIN < limits.characters
      yield head(isWhole ? dimension(letters, left) : '')
    }
    yield text
    characters += text.length
    progress.written += rows.length
    if (characters >= limits.characters) break
  }
  if (characters === 0) yield head(dimension(letters, 0))
  yield '</sheetData></worksheet>'
}

/** If rows are on average more than this factor longer than the first, a sheet ends before the last row of its dimension. */
const MARGIN = 8

/** The cell range of a sheet, from which readers know the number of rows in advance. */
function dimension(letters: readonly string[], rows: number): string {
  const last = `${letters.at(-1) ?? 'A'}${rows + 1}`
  return `<dimension ref="${last === 'A1' ? last : `A1:${last}`}"/>`
}

function widths(columns: readonly TableColumn[]): string {
  if (columns.length === 0) return ''
  const width = ({ type }: TableColumn) => WIDTHS[type] ?? 16
  const col = (column: TableColumn, index: number) =>
    `<col min="${index + 1}" max="${index + 1}" width="${width(column)}" customWidth="1"/>`
  return `<cols>${columns.map(col).join('')}</cols>`
}

function headerXml(
  columns: readonly TableColumn[],
  letters: readonly string[],
  options: ExportOptions,
): string {
  const cells = columns.map((column, index) =>
    textCell(
      `r="${letters[index]}1" s="${STYLE.header}"`,
      columnName(column, options).slice(0, CELL_CHARACTERS),
    ),
  )
  return `<row r="1">${cells.join('')}</row>`
}

function rowXml(
  row: TableRow,
  number: number,
  columns: readonly TableColumn[],
  letters: readonly string[],
  { listSeparator }: ExportOptions,
): string {
  let cells = ''
  columns.forEach((column, index) => {
    const cell = sheetCell(lookup(row, column.key), column, listSeparator)
    if (cell !== null) cells += cellXml(cell, `r="${letters[index]}${number}"`)
  })
  return `<row r="${number}">${cells}</row>`
}

function cellXml(cell: NonNullable<SheetCell>, place: string): string {
  if (typeof cell === 'string') return textCell(place, cell)
  if (typeof cell === 'number') return `<c ${place}><v>${cell}</v></c>`
  if (typeof cell === 'boolean') return `<c ${place} t="b"><v>${cell ? 1 : 0}</v></c>`
  return `<c ${place} s="${STYLE[cell.precision]}"><v>${cell.serial}</v></c>`
}

function textCell(place: string, text: string): string {
  const space = /^\s|\s$|[\n\t]/.test(text) ? ' xml:space="preserve"' : ''
  return `<c ${place} t="inlineStr"><is><t${space}>${xmlText(escaped(text))}</t></is></c>`
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are meant
const UNWRITABLE = /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|_(?=x[0-9a-f]{4}_)/gi

/**
 * Escapes characters that XML cannot represent as `_xHHHH_`, and `_` as `_x005F_` if it would begin such an escape (ECMA-376,
 * ST_Xstring).
 */
function escaped(text: string): string {
  return text.replace(UNWRITABLE, it => `_x${it.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
}

/** A, B … Z, AA, AB … */
function columnLetters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26))
  return index < 26 ? last : columnLetters(Math.floor(index / 26) - 1) + last
}

const NUMBER_FORMATS = [
  'yyyy\\-mm\\-dd',
  'yyyy\\-mm\\-dd\\ hh:mm:ss',
  'yyyy\\-mm\\-dd\\ hh:mm:ss.000',
] as const

const STYLES =
  `<styleSheet xmlns="${MAIN}"><numFmts count="3">` +
  NUMBER_FORMATS.map((code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${code}"/>`).join('') +
  '</numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>' +
  '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  '<cellXfs count="5"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>' +
  '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>' +
  NUMBER_FORMATS.map(
    (_, index) =>
      `<xf numFmtId="${164 + index}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`,
  ).join('') +
  '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'

function workbookXml(sheets: readonly string[]): string {
  const sheet = (name: string, index: number) =>
    `<sheet name="${xmlAttribute(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`
  return `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${sheets.map(sheet).join('')}</sheets></workbook>`
}

function workbookRelations(sheets: readonly string[]): string {
  const targets = sheets.map((_, index) => ['worksheet', `worksheets/sheet${index + 1}.xml`] as const)
  return relations([...targets, ['styles', 'styles.xml']])
}

function relations(targets: readonly (readonly [type: string, target: string])[]): string {
  const relation = ([type, target]: readonly [string, string], index: number) =>
    `<Relationship Id="rId${index + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`
  return `<Relationships xmlns="${PACKAGE}/relationships">${targets.map(relation).join('')}</Relationships>`
}

function contentTypes(sheets: readonly string[]): string {
  const override = (path: string, type: string) =>
    `<Override PartName="/xl/${path}.xml" ContentType="${CONTENT}.${type}+xml"/>`
  return (
    `<Types xmlns="${PACKAGE}/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    '<Default Extension="xml" ContentType="application/xml"/>' +
    override('workbook', 'sheet.main') +
    override('styles', 'styles') +
    sheets.map((_, index) => override(`worksheets/sheet${index + 1}`, 'worksheet')).join('') +
    '</Types>'
  )
}
