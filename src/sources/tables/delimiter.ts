import { CsvParser } from './csv-parser.ts'

/** Candidate delimiters, the likeliest first. */
const DELIMITERS: readonly string[] = [',', ';', '\t', '|']

/** Number of lines that suffice to detect the delimiter. */
const LINES = 20

/** Number of characters that suffice if lines are very long. */
const SNIFFED_CHARACTERS = 65_536

/**
 * Detects the delimiter of a CSV text from its first lines, outside quotes: one that occurs in the header and equally often in
 * most lines; among equals the more frequent one. A comma if none fits.
 */
export function regularDelimiter(head: string): string {
  const lines = countByLine(head)
  const header = lines[0]
  let best: { readonly delimiter: string; readonly equal: number; readonly count: number } | undefined
  for (const [index, delimiter] of DELIMITERS.entries()) {
    const count = header?.[index] ?? 0
    const counts = lines.map(line => line[index] ?? 0)
    if (count === 0 || counts.some(other => other > count)) continue
    const equal = counts.filter(other => other === count).length
    if (best === undefined || equal > best.equal || (equal === best.equal && count > best.count))
      best = { delimiter, equal, count }
  }
  return best?.delimiter ?? ','
}

/** True if a text has enough lines to detect its delimiter. */
export function isEnoughToSniff(head: string): boolean {
  return head.length >= SNIFFED_CHARACTERS || countByLine(head).length > LINES
}

/** The number of each delimiter outside quotes, line by line; an incomplete last line is counted only if it is the only one. */
function countByLine(head: string): number[][] {
  const lines: number[][] = []
  let counts = DELIMITERS.map(() => 0)
  let quoted = false
  let atCellStart = true
  let blank = true
  for (let i = 0; i < head.length && lines.length <= LINES; i++) {
    const character = head.charAt(i)
    if (quoted) {
      if (character !== '"') continue
      if (head[i + 1] === '"') i++
      else quoted = false
      continue
    }
    if (character === '\n' || character === '\r') {
      if (!blank) lines.push(counts)
      counts = DELIMITERS.map(() => 0)
      atCellStart = blank = true
      continue
    }
    blank = false
    const delimiter = DELIMITERS.indexOf(character)
    if (delimiter >= 0) counts[delimiter] = (counts[delimiter] ?? 0) + 1
    quoted = character === '"' && atCellStart
    atCellStart = delimiter >= 0
  }
  if (lines.length === 0 && !blank) lines.push(counts)
  return lines
}

/** Candidate delimiters of messy tables, with titles, notes and other signs: the likeliest first. */
const ANY_DELIMITERS = [',', ';', '\t', '|', '^', '~', '\u0001', '\u001f', '¦', '§', ':', '*', '#', '/', ' ']

/** The lower weight of delimiters that also occur in texts. */
const DOUBTFUL: ReadonlyMap<string, number> = new Map([
  [':', 0.5],
  ['*', 0.5],
  ['#', 0.5],
  ['/', 0.4],
  [' ', 0.3],
])

/**
 * Detects the delimiter of a messy table from its first lines: the one for which most rows have the same number of cells. A line
 * `sep=;`, as in Excel, declares it. A comma if none fits: a table of one column.
 */
export function messyDelimiter(head: string, isWhole: boolean): string {
  const said = /^\ufeff?"?sep=(.)"?\r?\n/i.exec(head)?.[1]
  if (said !== undefined) return said
  let best = { delimiter: ',', score: 0 }
  for (const delimiter of ANY_DELIMITERS) {
    if (!head.includes(delimiter)) continue
    const doubt = (DOUBTFUL.get(delimiter) ?? 1) * (isWithinValues(head, delimiter) ? 0.6 : 1)
    const score = regularity(head, delimiter, isWhole) * doubt
    if (score > best.score * 1.05) best = { delimiter, score }
  }
  return best.delimiter
}

/**
 * True for a comma that nearly always occurs between digits, as decimal or thousands separator, or before a blank, as in texts and
 * positions: another delimiter that fits is then more likely.
 */
function isWithinValues(head: string, delimiter: string): boolean {
  if (delimiter !== ',') return false
  const within = head.match(/\d,(?=\d)|, /g)?.length ?? 0
  return within > (head.split(',').length - 1) * 0.9
}

/** A number with a decimal comma or with thousands, or a position. */
const NUMBER_WITH_COMMA = /^[+-]?(?:\d+,\d+|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+,[+-]?\d+\.\d+)$/

/**
 * A delimiter that leaves a text in one column; null for a table of several. Its first line, the name, has not the sign that was taken for a
 * delimiter, and below it that sign is one of texts, as in addresses and times, or stands in numbers or before blanks alone, as in `Smith,
 * John`, or in single lines here and there. Where the second line names columns of numbers, the first is a title.
 */
export function oneColumnDelimiter(head: string, delimiter: string, isWhole: boolean): string | null {
  const [name = '', ...rest] = head.trimEnd().split(/\r\n|\r|\n/)
  const lines = isWhole ? rest : rest.slice(0, -1)
  const rows = lines.map(line => line.split(delimiter))
  const [second = [], ...records] = rows
  if (rows.length < 2 || name.trim() === '' || !head.includes(delimiter) || head.includes('"')) return null
  if (name.includes(delimiter)) {
    // Words on every line, as in names of people: only numbers show that blanks separate columns.
    if (delimiter !== ' ' || rows.some(cells => cells.some(cell => isNumber(cell)))) return null
  } else if (delimiter === ',' && isWithinCells(lines)) {
    const hasNumbers = second.some((_, at) => records.every(cells => isNumber(cells[at])))
    if (hasNumbers && !second.some(cell => isNumber(cell))) return null
  } else if (!DOUBTFUL.has(delimiter) && hasTable(rows)) return null
  return [';', '\t', '|', '\u001f'].find(sign => !head.includes(sign)) ?? null
}

function isWithinCells(lines: readonly string[]): boolean {
  return lines.every(line => NUMBER_WITH_COMMA.test(line.trim()) || !/,\S|,$/.test(line))
}

/** True if rows of several cells follow one another, or are most. */
function hasTable(rows: readonly (readonly string[])[]): boolean {
  const isWide = rows.map(cells => cells.length > 1)
  return (
    isWide.some((wide, at) => wide && isWide[at + 1] === true) ||
    isWide.filter(wide => wide).length > rows.length / 2
  )
}

function isNumber(cell: string | undefined = ''): boolean {
  return cell.trim() !== '' && Number.isFinite(Number(cell))
}

/** A score for a delimiter, by the regularity and width of its rows; 0 if most have one cell. */
function regularity(head: string, delimiter: string, isWhole: boolean): number {
  const parser = new CsvParser('', delimiter, { isTolerant: true })
  const rows: { readonly cells: readonly string[] }[] = []
  try {
    parser.push(head)
    rows.push(...parser.take())
    if (isWhole) {
      parser.finish()
      rows.push(...parser.take())
    }
  } catch {
    if (rows.length < 2) return 0
  }
  const counts = new Map<number, number>()
  for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1)
  let width = 1
  for (const [cells, count] of counts)
    if (cells > 1 && count > (counts.get(width === 1 ? -1 : width) ?? 0)) width = cells
  if (width === 1) return 0
  const alike = (counts.get(width) ?? 0) / rows.length
  return alike * alike * (1 + Math.log2(width) / 8)
}
