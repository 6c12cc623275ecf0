import { memoised } from '../../model/memoised.ts'
import { writtenNumber } from '../typing/number-format.ts'
import { defaultWidth, isTyped, isWord, typedColumns } from '../typing/value-types.ts'
import { type Grid, type GridCell, type GridRow, gridText, isFilled } from './grid.ts'

/** Words that name a total. Brands and places have such names, too. */
const TOTAL =
  /^(?:(?:grand |sous-?|sub-?)?tota(?:l|le|ux|is|les)\b|summe\b|gesamt(?!\w*schul)|insgesamt|somme\b|ensemble$|sum$|suma\b|totale\b|totaal\b)/i
/** Signs and words that begin a note: words are followed by a colon or by the rest of a phrase. */
const NOTE =
  /^(?:\(\d+ (?:rows?|rangées?|lignes?|zeilen?|filas?|righe?|records?)(?: affected)?\)$|\*|\(?\d\)|[¹²³©]|(?:sources?|quellen?|fuentes?|fontes?|bron(?:nen)?|notes?|notas?|n\.?b\.?|légendes?|legend[ae]?|anmerkung(?:en)?|hinweise?|lecture|champ|données|stand|export|generated|last updated|dernière mise à jour)\s*:|data (?:from|source)|copyright\b|last updated|dernière mise|(?:export(?:ed|iert|é)?|generated) (?:on|at|by|from|of|vom|am|du|le|de)\b)/i
/** A line of signs above notes, as statistical offices write it. */
const RULE = /^[_\u2013\u2014=-]{3,}$/
/** A sentence: several words, the last of which is no abbreviation, and a full stop. */
const SENTENCE = /^(?:\S+\s+){4,}\S*(?<=\p{Ll}{4})[.!?]$/u
/** Characters that are too many for a name. */
const LONG_NOTE = 100

/** Maximum number of totals in a row at the end. */
const MAX_TOTALS = 5

/** The indexes of the two readings of a number: with a decimal point, and with a decimal comma. */
const READINGS = [0, 1] as const

/** What the records above a footer have in common. */
interface Records {
  readonly width: number
  /** The usual number of values of a row. */
  readonly standard: number
  /** The length of the longest first cell. */
  readonly maxLength: number
  /** True if the first cells are numbers, days and the like. */
  readonly isFirstTyped: boolean
}

/**
 * The rows at the end that are totals, sources and notes. A row counts as one only where there is evidence: a total after an empty
 * row, with few values, or whose numbers are sums of those above; a note that is alone in its row and is written like one.
 */
export async function footerOf(
  tail: readonly GridRow[],
  body: readonly GridRow[],
  grid: Grid,
  header: number,
): Promise<readonly GridRow[]> {
  const filled = (row: GridRow) => row.cells.filter(isFilled).length
  const records: Records = {
    width: defaultWidth(body),
    standard: median(body.map(filled)),
    maxLength: Math.max(0, ...body.slice(0, -1).map(({ cells }) => gridText(cells[0]).length)),
    isFirstTyped: body.length > 0 && body.filter(({ cells }) => isTyped(cells[0])).length > body.length * 0.8,
  }
  const rule = records.standard < 2 ? tail.length : ruleAt(tail)
  let sums: Sums | undefined
  let totals = 0
  let from = tail.length
  for (let at = tail.length - 1; at > 0; at--) {
    const row = tail[at] as GridRow
    if (filled(row) === 0) continue
    const isGap = gapBefore(tail, at)
    if (at < rule && !isNote(row, isAfterGap(tail, at, records), records)) {
      if (records.width < 2 || (!isGap && ++totals > MAX_TOTALS) || !isTotalWord(row)) break
      const isSparse = records.standard >= 4 && filled(row) <= records.standard / 2
      if (!isGap && !isSparse) {
        sums ??= await sumsAbove(grid, header, row.line)
        if (!isSum(row, sums)) break
      }
    }
    from = at
  }
  from = Math.min(from, wordsFrom(tail.slice(0, from), body, records))
  // Only rows with values are counted: readers skip empty ones.
  return tail.slice(from).filter(row => filled(row) > 0)
}

/** True for a row whose only value is its first cell, if that is no name as those of the records, or another that is written like a note. */
function isNote(
  { cells }: GridRow,
  isGap: boolean,
  { width, standard, maxLength, isFirstTyped }: Records,
): boolean {
  const [only, ...others] = cells.filter(isFilled)
  if (only === undefined || others.length > 0 || width < 2 || standard < 2) return false
  const text = gridText(only).trim()
  if (isNoteText(text)) return true
  if (!isFilled(cells[0])) return false
  if (isGap) return true
  return (
    (text.length > LONG_NOTE && text.length > maxLength * 1.5) || (isFirstTyped && /^\p{L}{2}/u.test(text))
  )
}

/** The index of a line of signs below which no row has more than its first cell; the length if there is none. */
function ruleAt(tail: readonly GridRow[]): number {
  const isRule = ({ cells }: GridRow) => RULE.test(gridText(cells[0]).trim())
  for (let at = tail.length - 1; at > 0; at--) {
    const row = tail[at] as GridRow
    if (row.cells.slice(1).some(isFilled)) break
    if (isRule(row)) return at
  }
  return tail.length
}

function isNoteText(text: string): boolean {
  return NOTE.test(text) || SENTENCE.test(text)
}

function isTotalWord({ cells }: GridRow): boolean {
  return TOTAL.test(gridText(cells.find(isFilled)).trim())
}

/**
 * The index of the first row at the end with words instead of values in columns of numbers and days; the length if there is none. A
 * row with as many values as a record is a record, and so is a single row that is not written like a note.
 */
function wordsFrom(tail: readonly GridRow[], body: readonly GridRow[], { standard }: Records): number {
  const typed = typedColumns(body.slice(0, Math.max(5, Math.floor(body.length / 2))))
  if (typed.length < 2 || body.length < 6) return tail.length
  let hasWord = false
  let hasNote = false
  let count = 0
  let at = tail.length - 1
  for (; at > 0; at--) {
    const { cells } = tail[at] as GridRow
    const values = cells.filter(isFilled)
    if (values.length >= standard || typed.some(column => isTyped(cells[column]))) break
    if (values.length === 0) continue
    count++
    if (typed.some(column => isWord(cells[column]))) hasWord = true
    if (gapBefore(tail, at) || values.some(cell => isNoteText(gridText(cell).trim()))) hasNote = true
  }
  return hasWord && (count > 1 || hasNote) ? at + 1 : tail.length
}

/** The sums of a column, in each of the two readings of a number. */
interface ColumnSums {
  readonly sum: [number, number]
  readonly min: [number, number]
  readonly max: [number, number]
  count: number
}

type Sums = ReadonlyMap<number, ColumnSums>

/** The sums of the columns of the rows between the header and a line, without other totals. */
async function sumsAbove(grid: Grid, header: number, line: number): Promise<Sums> {
  const sums = new Map<number, ColumnSums>()
  for await (const rows of grid.rows())
    for (const row of rows) {
      if (row.line <= header || row.line >= line || isTotalWord(row)) continue
      row.cells.forEach((cell, column) => {
        const numbers = readings(cell)
        if (numbers !== undefined) add(sums, column, numbers)
      })
    }
  return sums
}

function add(sums: Map<number, ColumnSums>, column: number, numbers: readonly [number, number]): void {
  const of = memoised(sums, column, (): ColumnSums => {
    return { sum: [0, 0], min: [Infinity, Infinity], max: [-Infinity, -Infinity], count: 0 }
  })
  of.count++
  for (const at of READINGS) {
    of.sum[at] += numbers[at]
    of.min[at] = Math.min(of.min[at], numbers[at])
    of.max[at] = Math.max(of.max[at], numbers[at])
  }
}

/**
 * True if the numbers of a row are sums or means of their columns, or at least half of them are. A single mean is no evidence, and
 * no mean of equal numbers is.
 */
function isSum({ cells }: GridRow, columns: Sums): boolean {
  let sums = 0
  let means = 0
  let others = 0
  cells.forEach((cell, column) => {
    const numbers = readings(cell)
    const of = columns.get(column)
    if (numbers === undefined || of === undefined || of.count < 2) return
    // Sums of rounded numbers differ from the rounded sum.
    if (READINGS.some(at => of.sum[at] !== 0 && isNear(numbers[at], of.sum[at], 0.01))) sums++
    else if (
      READINGS.some(at => of.min[at] !== of.max[at] && isNear(numbers[at], of.sum[at] / of.count, 0.001))
    )
      means++
    else others++
  })
  return (sums > 0 || means > 1) && sums + means >= others
}

function isNear(value: number, expected: number, share: number): boolean {
  return Math.abs(value - expected) <= Math.abs(expected) * share + 1e-9
}

/** A number in both readings: with a decimal point, and with a decimal comma; undefined for other cells. */
function readings(cell: GridCell | undefined): readonly [number, number] | undefined {
  if (typeof cell === 'number' || typeof cell === 'bigint') return [Number(cell), Number(cell)]
  if (typeof cell !== 'string' || !/\d/.test(cell)) return undefined
  const written = writtenNumber(cell.trim())
  if (written === undefined) return undefined
  const digits = written.core.replace(/[^\d.,eE+-]/g, '')
  const sign = /^\s*[-\u2212\u2013(]|[-\u2212]\s*$/.test(cell) ? -1 : 1
  const point = sign * Number(digits.replaceAll(',', ''))
  const comma = sign * Number(digits.replaceAll('.', '').replace(',', '.'))
  if (Number.isNaN(point) && Number.isNaN(comma)) return undefined
  return [point, comma]
}

function gapBefore(rows: readonly GridRow[], at: number): boolean {
  const before = rows[at - 1]
  return before !== undefined && !before.cells.some(isFilled)
}

/**
 * True for a row with nothing but its first cell, below an empty row or below others of this kind: a block of notes, if one of them is
 * longer than what stands in the records, or written like a note.
 */
function isAfterGap(rows: readonly GridRow[], at: number, { maxLength }: Records): boolean {
  const isAlone = ({ cells }: GridRow) => isFilled(cells[0]) && !cells.slice(1).some(isFilled)
  let from = at
  while (from > 0 && isAlone(rows[from] as GridRow) && !gapBefore(rows, from)) from--
  if (from === 0 || !isAlone(rows[from] as GridRow)) return false
  let to = at
  while (to + 1 < rows.length && isAlone(rows[to + 1] as GridRow)) to++
  const texts = rows.slice(from, to + 1).map(({ cells }) => gridText(cells[0]).trim())
  return texts.length === 1 || texts.some(text => text.length > maxLength || isNoteText(text))
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}
