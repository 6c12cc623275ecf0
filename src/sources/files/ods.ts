import type { DataFile } from '../data-file.ts'
import { unreadable } from '../source.ts'
import type { Grid, GridCell, GridRow } from '../tables/grid.ts'
import { readXml, type XmlListener } from '../xml-events.ts'
import type { CellFindings } from './cell-findings.ts'
import {
  type CellRange,
  chosenSheet,
  isoDuration,
  RowBuilder,
  type Sheet,
  type SheetChoice,
  workbookGrid,
} from './workbook.ts'

/** Maximum repetitions of a row or cell; more are the unused rest of a sheet. */
const MAX_REPEATED = 16_384

/** Maximum cells of a sheet from repetitions: a few bytes can encode billions. */
const MAX_REPETITIONS = 10_000_000

/**
 * The cells of a sheet of an OpenDocument spreadsheet (ODF 1.3, part 3, section 9), read piece by piece, with the types in the
 * file; cells merged over several rows, errors and formulas without values are reported. Throws SourceUnreadable for one with a password.
 */
export function odsGrid(data: DataFile, choice: SheetChoice, range: CellRange): Grid {
  return workbookGrid(data.name, range, async function* (findings) {
    await refuseEncrypted(data)
    const reader = new ContentReader({ range, findings, file: data.name, required: choice.sheet })
    for await (const _ of readXml(contentOf(data), data.name, reader)) {
      const rows = reader.take()
      if (rows.length > 0) yield rows
      if (reader.isDone) return
    }
    chosenSheet(reader.sheets, choice.sheet, data.name)
  })
}

async function refuseEncrypted(data: DataFile): Promise<void> {
  const manifest = await data.archive?.whole('META-INF/manifest.xml', 2 ** 22)
  if (manifest?.includes('encryption-data') === true)
    throw unreadable('The workbook has a password.', { file: data.name }, 'Save it without one.')
}

/** The sheets, in order. */
export async function odsSheets(data: DataFile): Promise<readonly Sheet[]> {
  await refuseEncrypted(data)
  const sheets: Sheet[] = []
  const styles = new TableStyles()
  let depth = 0
  const listener: XmlListener = {
    start(name, attributes) {
      styles.start(name, attributes)
      if (name === 'table' && depth++ === 0) sheets.push(styles.sheet(attributes))
    },
    end(name) {
      if (name === 'table') depth--
    },
  }
  for await (const _ of readXml(contentOf(data), data.name, listener));
  return sheets
}

function contentOf(data: DataFile): AsyncIterable<Buffer> {
  const pieces = data.archive?.read('content.xml') ?? null
  if (pieces === null)
    throw unreadable(
      'The file is no OpenDocument spreadsheet: it has no content.xml.',
      { file: data.name },
      'Save it again as .ods or .xlsx.',
    )
  return pieces
}

/** How programs show an error of a formula, which without their extensions is stored as an empty text. */
const ERROR = /^(?:#[A-Z][A-Z0-9/]*[!?]?|Err:\d+)$/

interface ContentContext {
  readonly range: CellRange
  readonly findings: CellFindings
  readonly file: string
  readonly required: string | number | undefined
}

class ContentReader implements XmlListener {
  isDone = false
  /** The sheets so far. */
  readonly sheets: Sheet[] = []
  private readonly styles = new TableStyles()
  private readonly row: RowBuilder
  private readonly required: string | number | undefined
  private isInside = false
  private rows: GridRow[] = []
  private depth = 0
  private number = 0
  private rowRepeats = 1
  private column = 0
  private cellRepeats = 1
  private attributes: ReadonlyMap<string, string> = new Map()
  private paragraphs: string[] = []
  private isParagraph = false
  private isNote = false
  private repetitions = 0
  private readonly file: string
  private readonly findings: CellFindings

  constructor({ range, findings, file, required }: ContentContext) {
    this.file = file
    this.findings = findings
    this.row = new RowBuilder(range, file)
    this.required = required
  }

  take(): readonly GridRow[] {
    const { rows } = this
    this.rows = []
    return rows
  }

  private get isRequired(): boolean {
    return this.depth === 1 && this.isInside
  }

  start(name: string, attributes: ReadonlyMap<string, string>): void {
    if (this.depth === 0) this.styles.start(name, attributes)
    if (name === 'table') {
      if (this.depth++ === 0) this.enter(this.styles.sheet(attributes))
      return
    }
    if (!this.isRequired) return
    switch (name) {
      case 'table-row':
        this.rowRepeats = repeats(attributes.get('number-rows-repeated'))
        this.column = 0
        return
      case 'table-cell':
      case 'covered-table-cell':
        this.cellRepeats = repeats(attributes.get('number-columns-repeated'))
        this.attributes = attributes
        this.paragraphs = []
        return
      case 'annotation':
        this.isNote = true
        return
      case 'p':
        if (this.isNote) return
        this.isParagraph = true
        this.paragraphs.push('')
        return
      case 's':
        this.add(' '.repeat(Math.min(1000, Number(attributes.get('c') ?? 1) || 1)))
        return
      case 'tab':
        this.add('\t')
        return
      case 'line-break':
        this.add('\n')
    }
  }

  text(text: string): void {
    this.add(text)
  }

  end(name: string): void {
    if (name === 'table') {
      this.depth--
      if (this.depth === 0 && this.isInside) this.isDone = true
      return
    }
    if (!this.isRequired) return
    switch (name) {
      case 'p':
        this.isParagraph = false
        return
      case 'annotation':
        this.isNote = false
        return
      case 'table-cell':
      case 'covered-table-cell': {
        const cell = name === 'table-cell' ? this.cell() : null
        if (name === 'table-cell') this.findMerged()
        if (cell !== null) {
          const times = Math.min(this.cellRepeats, MAX_REPEATED)
          this.countRepetitions(times - 1)
          for (let i = 0; i < times; i++) this.row.set(this.column + i, cell)
        }
        this.column += this.cellRepeats
        return
      }
      case 'table-row': {
        const row = this.row.take(this.number)
        const times =
          row === undefined || row.cells.length === 0 ? 1 : Math.min(this.rowRepeats, MAX_REPEATED)
        this.countRepetitions((times - 1) * (row?.cells.length ?? 0))
        for (let i = 0; row !== undefined && i < times; i++) this.rows.push({ ...row, line: row.line + i })
        this.number += this.rowRepeats
      }
    }
  }

  /** A sheet is selected by name or number, by default the first that is shown; a sheet with that number as its name may follow later, which is not checked. */
  private enter(sheet: Sheet): void {
    const { required, sheets } = this
    sheets.push(sheet)
    this.isInside =
      !this.isDone &&
      (required === undefined
        ? !sheet.isHidden
        : sheet.name === String(required) || sheets.length === Number(required))
  }

  private countRepetitions(count: number): void {
    this.repetitions += count
    if (this.repetitions > MAX_REPETITIONS)
      throw unreadable(
        `The sheet repeats more than ${MAX_REPETITIONS} cells: it is refused as a bomb.`,
        { file: this.file },
        'Delete the rows and columns beyond the table, or publish it as CSV.',
      )
  }

  private add(text: string): void {
    if (!this.isParagraph || this.isNote) return
    this.paragraphs.push((this.paragraphs.pop() ?? '') + text)
  }

  private textValue(): GridCell {
    const { attributes, paragraphs } = this
    const text = attributes.get('string-value')
    const shown = paragraphs.join('\n')
    if (text !== '' || !attributes.has('formula') || !ERROR.test(shown)) return text ?? shown
    this.findings.addError(this.number, this.column, shown)
    return null
  }

  /** Reports a cell that spans several rows (`table:number-rows-spanned`). */
  private findMerged(): void {
    const { number: top, column: left, attributes } = this
    const bottom = top + repeats(attributes.get('number-rows-spanned')) - 1
    const right = left + repeats(attributes.get('number-columns-spanned')) - 1
    if (bottom > top) this.findings.addMerged({ top, left, bottom, right })
  }

  private cell(): GridCell {
    const type = this.attributes.get('value-type')
    const value = this.attributes.get('value')
    switch (type) {
      case undefined:
        if (this.attributes.has('formula')) this.findings.addFormula(this.number, this.column)
        return null
      case 'error':
        this.findings.addError(this.number, this.column, this.paragraphs.join(' '))
        return null
      case 'float':
      case 'percentage':
      case 'currency': {
        const number = Number(value)
        if (value === undefined || value.trim() === '' || !Number.isFinite(number)) return null
        // A format with leading zeros is that of a code.
        const [shown = ''] = this.paragraphs
        return /^0\d+$/.test(shown) && Number(shown) === number ? shown : number
      }
      case 'boolean':
        return this.attributes.get('boolean-value') === 'true'
      case 'date':
        return this.attributes.get('date-value') ?? null
      case 'time':
        return isoDuration(this.attributes.get('time-value') ?? '') ?? this.paragraphs.join('\n')
      default:
        return this.textValue()
    }
  }
}

function repeats(text: string | undefined): number {
  const number = Number(text ?? 1)
  return Number.isInteger(number) && number > 0 ? number : 1
}

/** The styles that hide sheets (ODF 1.3, part 3, 19.620); they precede the sheets. */
class TableStyles {
  private readonly hidden = new Set<string>()
  private style = ''

  start(name: string, attributes: ReadonlyMap<string, string>): void {
    if (name === 'style') this.style = attributes.get('name') ?? ''
    if (name === 'table-properties' && attributes.get('display') === 'false') this.hidden.add(this.style)
  }

  /** The sheet that begins with these attributes of its element. */
  sheet(attributes: ReadonlyMap<string, string>): Sheet {
    return {
      name: attributes.get('name') ?? '',
      isHidden: this.hidden.has(attributes.get('style-name') ?? ''),
    }
  }
}
