import type { DataFile } from '../data-file.ts'
import type { Grid, GridCell, GridRow } from '../tables/grid.ts'
import { readXml, type XmlListener } from '../xml-events.ts'
import type { CellFindings } from './cell-findings.ts'
import {
  type CellKind,
  type CellRange,
  chosenSheet,
  formattedNumber,
  kindOfNamed,
  RowBuilder,
  type Sheet,
  type SheetChoice,
  serialOf,
  workbookGrid,
} from './workbook.ts'

/** The cells of a sheet of SpreadsheetML 2003, the XML format of workbooks before Office Open XML, read piece by piece. */
export function spreadsheetmlGrid(data: DataFile, choice: SheetChoice, range: CellRange): Grid {
  return workbookGrid(data.name, range, async function* (findings) {
    const sheets = await spreadsheetmlSheets(data)
    const required = sheets.indexOf(chosenSheet(sheets, choice.sheet, data.name))
    const reader = new SheetReader({ range, findings, file: data.name, required })
    for await (const _ of readXml(data.pieces(2 ** 18), data.name, reader)) {
      const rows = reader.take()
      if (rows.length > 0) yield rows
    }
  })
}

/** The sheets, in order. */
export async function spreadsheetmlSheets(data: DataFile): Promise<readonly Sheet[]> {
  const sheets: Sheet[] = []
  let isVisibility = false
  const listener: XmlListener = {
    start(name, attributes) {
      if (name === 'Worksheet') sheets.push({ name: attributes.get('Name') ?? '', isHidden: false })
      isVisibility = name === 'Visible'
    },
    text(text) {
      const isHidden = isVisibility && /^Sheet(?:Very)?Hidden$/.test(text.trim())
      const sheet = isHidden ? sheets.pop() : undefined
      if (sheet !== undefined) sheets.push({ ...sheet, isHidden })
    },
    end() {
      isVisibility = false
    },
  }
  for await (const _ of readXml(data.pieces(2 ** 18), data.name, listener));
  return sheets
}

interface SheetContext {
  readonly range: CellRange
  readonly findings: CellFindings
  readonly file: string
  readonly required: number
}

class SheetReader implements XmlListener {
  private readonly row: RowBuilder
  private readonly required: number
  private readonly findings: CellFindings
  private rows: GridRow[] = []
  private sheet = -1
  private number = -1
  private column = -1
  /** Columns that the last cell is merged with: the next one stands behind them. */
  private merged = 0
  private type = 'String'
  /** The kinds of numbers by the ids of their styles, which precede the sheets. */
  private readonly kinds = new Map<string, CellKind>()
  private style = ''
  private kind: CellKind = 'number'
  private text_ = ''
  private isData = false
  /** Within the comment of a cell, whose text is written as data, too. */
  private isComment = false
  private isFormula = false

  constructor({ range, findings, file, required }: SheetContext) {
    this.row = new RowBuilder(range, file)
    this.findings = findings
    this.required = required
  }

  take(): readonly GridRow[] {
    const { rows } = this
    this.rows = []
    return rows
  }

  start(name: string, attributes: ReadonlyMap<string, string>): void {
    if (name === 'Worksheet') {
      this.sheet++
      this.number = -1
    }
    if (name === 'Style') this.style = attributes.get('ID') ?? ''
    if (name === 'NumberFormat') this.kinds.set(this.style, kindOfNamed(attributes.get('Format') ?? ''))
    if (this.sheet !== this.required) return
    const index = Number(attributes.get('Index') ?? 0)
    if (name === 'Row') {
      this.number = index > this.number + 1 ? index - 1 : this.number + 1
      this.column = -1
      this.merged = 0
    }
    if (name === 'Cell') {
      const next = this.column + this.merged + 1
      this.column = index > next ? index - 1 : next
      this.merged = Math.max(0, Math.trunc(Number(attributes.get('MergeAcross') ?? 0)) || 0)
      this.text_ = ''
      this.type = ''
      this.isFormula = attributes.has('Formula')
      this.kind = this.kinds.get(attributes.get('StyleID') ?? '') ?? 'number'
    }
    if (name === 'Comment') this.isComment = true
    if (name === 'Data' && !this.isComment) {
      this.isData = true
      this.type = attributes.get('Type') ?? 'String'
    }
  }

  text(text: string): void {
    if (this.isData) this.text_ += text
  }

  end(name: string): void {
    if (this.sheet !== this.required) return
    if (name === 'Data') this.isData = false
    if (name === 'Comment') this.isComment = false
    if (name === 'Cell') this.row.set(this.column, this.cell())
    if (name !== 'Row') return
    this.rows.push(...this.row.takeAfterGap(this.number))
  }

  private cell(): GridCell {
    const text = this.text_
    if (text.trim() === '' && (this.type === 'Number' || this.type === 'Boolean')) return null
    switch (this.type) {
      case '':
        if (this.isFormula) this.findings.addFormula(this.number, this.column)
        return null
      case 'Error':
        this.findings.addError(this.number, this.column, text)
        return null
      case 'Number':
        if (!Number.isFinite(Number(text))) return text
        return typeof this.kind === 'object' ? formattedNumber(Number(text), this.kind, '1900') : Number(text)
      case 'Boolean':
        return text === '1'
      case 'DateTime': {
        const serial = this.kind === 'time' || this.kind === 'duration' ? serialOf(text) : Number.NaN
        if (serial >= 0) return formattedNumber(serial, this.kind, '1900')
        return text.replace(/T00:00:00(?:\.0*)?$/, '').replace(/\.0+$/, '')
      }
      default:
        return text
    }
  }
}
