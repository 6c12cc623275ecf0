import type { Archive, DataFile } from '../data-file.ts'
import { unreadable } from '../source.ts'
import type { Grid, GridCell, GridRow } from '../tables/grid.ts'
import { readXml, type XmlListener } from '../xml-events.ts'
import type { CellFindings } from './cell-findings.ts'
import {
  type CellKind,
  type CellRange,
  cellRange,
  chosenSheet,
  columnNumber,
  type DateBase,
  formattedNumber,
  kindOfFormat,
  RowBuilder,
  type Sheet,
  type SheetChoice,
  workbookGrid,
} from './workbook.ts'

/** Maximum characters of the shared texts of a workbook. */
const MAX_SHARED = 2 ** 29
/** Maximum shared texts that are empty, which are packed in next to nothing: programs write one. */
const MAX_EMPTY = 1_000_000

/** A sheet, with the path of its part. */
interface XlsxSheet extends Sheet {
  readonly path: string
}

/**
 * The cells of a sheet of an Office Open XML workbook (ECMA-376, part 1, SpreadsheetML), read piece by piece: formulas as their
 * last computed values, days and moments according to the formats of their cells, no value for errors. Of merged cells the first
 * has the value; those over several rows are reported, as errors and formulas without values are.
 */
export function xlsxGrid(data: DataFile, choice: SheetChoice, range: CellRange): Grid {
  return workbookGrid(data.name, range, findings => readSheet(data, choice, range, findings))
}

async function* readSheet(
  data: DataFile,
  choice: SheetChoice,
  range: CellRange,
  findings: CellFindings,
): AsyncGenerator<readonly GridRow[]> {
  const { archive, sheets, base } = await openWorkbook(data)
  const sheet = chosenSheet(sheets, choice.sheet, data.name)
  const pieces = archive.read(sheet.path)
  if (pieces === null)
    throw unreadable(
      `The workbook lacks its sheet ${sheet.name}.`,
      { file: data.name },
      'Save it again as .xlsx.',
    )
  const kinds = await readKinds(archive, data.name)
  const texts = await readShared(archive, data.name)
  const reader = new SheetReader({ kinds, texts, base, range, findings, file: data.name })
  for await (const _ of readXml(pieces, data.name, reader)) {
    const rows = reader.take()
    if (rows.length > 0) yield rows
  }
}

/** The sheets of a workbook, in order. */
export async function xlsxSheets(data: DataFile): Promise<readonly XlsxSheet[]> {
  return (await openWorkbook(data)).sheets
}

async function openWorkbook(data: DataFile) {
  const { archive, name } = data
  if (archive === null)
    throw unreadable('The file is no workbook: it is no ZIP archive.', { file: name }, 'Save it as .xlsx.')
  const targets = new Map<string, string>()
  await heard(archive, 'xl/_rels/workbook.xml.rels', name, {
    start(element, attributes) {
      const [id, target] = [attributes.get('Id'), attributes.get('Target')]
      if (element !== 'Relationship' || id === undefined || target === undefined) return
      if (attributes.get('TargetMode') === 'External') return
      targets.set(id, target.startsWith('/') ? target.slice(1) : `xl/${target}`)
    },
    end() {},
  })
  const sheets: XlsxSheet[] = []
  let base: DateBase = '1900'
  await heard(archive, 'xl/workbook.xml', name, {
    start(element, attributes) {
      if (element === 'workbookPr') base = dateBase(attributes)
      const path = targets.get(attributes.get('id') ?? '')
      if (element !== 'sheet' || path === undefined || !/worksheets?\//.test(path)) return
      const state = attributes.get('state')
      sheets.push({
        name: attributes.get('name') ?? '',
        isHidden: state === 'hidden' || state === 'veryHidden',
        path,
      })
    },
    end() {},
  })
  return { archive, sheets, base }
}

/** The date base by the attributes `date1904` and `dateCompatibility` (ECMA-376, part 1, 18.2.28). */
function dateBase(attributes: ReadonlyMap<string, string>): DateBase {
  if (/^(?:1|true)$/.test(attributes.get('date1904') ?? '')) return '1904'
  return /^(?:0|false)$/.test(attributes.get('dateCompatibility') ?? '') ? '1899' : '1900'
}

/** Reads a part of the workbook into a listener, if it exists. */
async function heard(archive: Archive, part: string, file: string, listener: XmlListener): Promise<void> {
  const pieces = archive.read(part)
  if (pieces !== null) for await (const _ of readXml(pieces, `${file}/${part}`, listener));
}

async function readKinds(archive: Archive, file: string): Promise<readonly CellKind[]> {
  const formats = new Map<number, string>()
  const kinds: CellKind[] = []
  let isInCells = false
  await heard(archive, 'xl/styles.xml', file, {
    start(element, attributes) {
      if (element === 'numFmt')
        formats.set(Number(attributes.get('numFmtId')), attributes.get('formatCode') ?? '')
      if (element === 'cellXfs') isInCells = true
      if (element === 'xf' && isInCells)
        kinds.push(kindOfFormat(Number(attributes.get('numFmtId') ?? 0), formats))
    },
    end(element) {
      if (element === 'cellXfs') isInCells = false
    },
  })
  return kinds
}

/** The shared texts by their places, without phonetic hints; those that are empty take no memory. */
async function readShared(archive: Archive, file: string): Promise<readonly string[]> {
  const texts: string[] = []
  let count = 0
  let empty = 0
  let text = ''
  let isText = false
  let isHint = false
  let length = 0
  await heard(archive, 'xl/sharedStrings.xml', file, {
    start(element) {
      if (element === 'si') text = ''
      if (element === 'rPh') isHint = true
      isText = element === 't'
    },
    text(piece) {
      if (isText && !isHint) text += piece
    },
    end(element) {
      if (element === 't') isText = false
      if (element === 'rPh') isHint = false
      if (element !== 'si') return
      length += text.length
      if (text === '') empty++
      else texts[count] = unescaped(text)
      count++
      if (length > MAX_SHARED || empty > MAX_EMPTY)
        throw unreadable(
          length > MAX_SHARED
            ? 'The texts of the workbook are too large to be read.'
            : `The workbook has more than ${MAX_EMPTY} shared texts that are empty.`,
          { file },
          'Save the sheet as CSV.',
        )
    },
  })
  return texts
}

/** Characters that XML cannot represent are escaped as `_xHHHH_` (ECMA-376, ST_Xstring). */
function unescaped(text: string): string {
  return text.includes('_x')
    ? text.replace(/_x([0-9a-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text
}

interface SheetContext {
  readonly kinds: readonly CellKind[]
  readonly texts: readonly string[]
  readonly base: DateBase
  readonly range: CellRange
  readonly findings: CellFindings
  readonly file: string
}

class SheetReader implements XmlListener {
  private readonly context: SheetContext
  private readonly row: RowBuilder
  private rows: GridRow[] = []
  private number = -1
  private column = -1
  private type = 'n'
  private kind: CellKind = 'number'
  private value = ''
  private isFormula = false
  private hasValue = false
  private isValue = false
  private isHint = false

  constructor(context: SheetContext) {
    this.context = context
    this.row = new RowBuilder(context.range, context.file)
  }

  take(): readonly GridRow[] {
    const { rows } = this
    this.rows = []
    return rows
  }

  start(name: string, attributes: ReadonlyMap<string, string>): void {
    switch (name) {
      case 'row': {
        const number = Number(attributes.get('r') ?? this.number + 2) - 1
        this.number = Number.isInteger(number) && number > this.number ? number : this.number + 1
        this.column = -1
        return
      }
      case 'c': {
        const reference = attributes.get('r')
        this.column = reference === undefined ? this.column + 1 : columnNumber(reference)
        this.type = attributes.get('t') ?? 'n'
        this.kind = this.context.kinds[Number(attributes.get('s') ?? 0)] ?? 'number'
        this.value = ''
        this.isFormula = false
        this.hasValue = false
        return
      }
      case 'f':
        this.isFormula = true
        return
      case 'v':
      case 't':
        this.isValue = !this.isHint
        this.hasValue = true
        return
      case 'rPh':
        this.isHint = true
        return
      case 'mergeCell': {
        const merged = cellRange(attributes.get('ref'))
        if (merged !== undefined) this.context.findings.addMerged(merged)
      }
    }
  }

  text(text: string): void {
    if (this.isValue) this.value += text
  }

  end(name: string): void {
    switch (name) {
      case 'v':
      case 't':
        this.isValue = false
        return
      case 'rPh':
        this.isHint = false
        return
      case 'c':
        this.row.set(this.column, this.cell())
        return
      case 'row': {
        this.rows.push(...this.row.takeAfterGap(this.number))
      }
    }
  }

  private cell(): GridCell {
    const { value, type } = this
    if (value === '') {
      // The stored value of a formula may be an empty text.
      if (this.isFormula && !(type === 'str' && this.hasValue))
        this.context.findings.addFormula(this.number, this.column)
      return null
    }
    switch (type) {
      case 's':
        return this.context.texts[Number(value)] ?? null
      case 'str':
      case 'inlineStr':
        return unescaped(value)
      case 'b':
        return value === '1' || value === 'true'
      case 'e':
        this.context.findings.addError(this.number, this.column, value)
        return null
      case 'd':
        return value.replace(/Z$/, '')
      default: {
        const number = Number(value)
        return Number.isFinite(number) ? formattedNumber(number, this.kind, this.context.base) : value
      }
    }
  }
}
