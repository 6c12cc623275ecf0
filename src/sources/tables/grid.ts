import { setMember } from '../../model/lookup.ts'
import { BATCH_CHARACTERS, BATCH_ROWS, type RecordSource, type SourceRow, unreadable } from '../source.ts'
import { filledWidth, type GridCell, type GridRow, gridText, isFilled } from '../typing/grid-cells.ts'
import { headerNames, unitsBelow } from './header-rows.ts'

export { filledWidth, type GridCell, type GridRow, gridText, isFilled } from '../typing/grid-cells.ts'

/** Rows of cells, some of which may be titles, notes and totals. */
export interface Grid {
  readonly name: string
  readonly textual: boolean
  /** True if the numbers of rows are no lines or rows that anybody sees: those of an array. */
  readonly isUnnumbered?: boolean
  rows(): AsyncIterable<readonly GridRow[]>
  /** What was found in the latest reading that the publisher should correct. @param header its line */
  readonly warnings?: (header: number) => readonly string[]
}

/** The position of the table within a grid. */
export interface TableLayout {
  /** The line of the header; 0 if there is none. */
  readonly header: number
  /** Rows at the end that are no records. */
  readonly footer: number
}

/** Rows that are examined to determine the width of a table. */
const LOOK_ROWS = 200

/** Pieces of a grid, of 64 KB in a text, after which a batch of fewer rows ends. */
export const BATCH_PIECES = BATCH_CHARACTERS / 2 ** 16

/** Maximum columns of a table. */
export const MAX_WIDTH = 4000

/** The table within a grid as records: rows without values and empty cells beyond the header are left out. */
export function tableSource(grid: Grid, layout: TableLayout): RecordSource {
  let units: ReadonlyMap<string, string> = new Map()
  return {
    name: grid.name,
    textual: grid.textual,
    columns: async () => {
      for await (const piece of tableRows(grid, layout)) {
        units = piece.units
        return piece.names
      }
      throw empty(grid)
    },
    units: () => units,
    read: () => readTable(grid, layout),
    warnings: () => grid.warnings?.(layout.header) ?? [],
  }
}

interface Piece {
  readonly names: readonly string[]
  /** By column, where a row below the header has them. */
  readonly units: ReadonlyMap<string, string>
  readonly rows: readonly GridRow[]
}

async function* readTable(
  grid: Grid,
  { footer, ...layout }: TableLayout,
): AsyncGenerator<readonly SourceRow[]> {
  let batch: SourceRow[] = []
  let row = 0
  /** The latest rows, which may be the footer. */
  let last: { readonly names: readonly string[]; readonly row: GridRow }[] = []
  let isEmpty = true
  let pieces = 0
  for await (const { names, rows } of tableRows(grid, { footer, ...layout })) {
    isEmpty = false
    for (const next of rows) {
      if (!next.cells.some(isFilled) && !isEmptyRecord(names, next)) continue
      last.push({ names, row: next })
      if (last.length <= footer) continue
      const [first] = last
      last = last.slice(1)
      if (first === undefined) continue
      const line = grid.isUnnumbered === true ? undefined : first.row.line
      batch.push({ row: ++row, line, data: byName(first.names, first.row, grid) })
      if (batch.length < BATCH_ROWS) continue
      yield batch
      batch = []
    }
    if (++pieces % BATCH_PIECES > 0 || batch.length === 0) continue
    yield batch
    batch = []
  }
  if (isEmpty) throw empty(grid)
  if (batch.length > 0) yield batch
}

/** True for an empty text in quotes where there is one column: so CSV writes a record without a value, since readers skip empty lines. */
function isEmptyRecord(names: readonly string[], { emptyTexts }: GridRow): boolean {
  return names.length === 1 && emptyTexts?.[0] === 0
}

async function* tableRows(grid: Grid, { header }: TableLayout): AsyncGenerator<Piece> {
  let names: readonly string[] | undefined
  let units: ReadonlyMap<string, string> = new Map()
  let head: readonly GridCell[] | undefined
  let above: readonly GridCell[] = []
  let first: GridRow[] = []
  const settle = () => {
    const width = widthOf(head, first, grid.textual)
    if (width === 0) throw empty(grid)
    refuseWide(grid.name, width)
    const found = columnNames(headerNames(head ?? [], above, width))
    names = found
    const row = head === undefined ? null : unitsBelow(headerNames(head, above, width), first)
    if (row !== null) {
      units = new Map([...row.units].map(([column, unit]) => [found[column] ?? '', unit]))
      first = first.slice(row.index + 1)
    }
    return { names: found, units, rows: first }
  }
  for await (const rows of grid.rows()) {
    for (const row of rows) {
      if (header > 0 && head === undefined) {
        // A header of two rows.
        if (row.line === header - 1 && row.cells.filter(isFilled).length > 1) above = row.cells
        if (row.line < header || !row.cells.some(isFilled)) continue
        head = row.cells
      } else if (head === undefined || !repeats(head, row.cells)) first.push(row)
    }
    if (names !== undefined) {
      yield { names, units, rows: first }
      first = []
    } else if (first.length >= LOOK_ROWS) {
      yield settle()
      first = []
    }
  }
  if (names === undefined && (head !== undefined || first.length > 0)) yield settle()
  else if (names !== undefined && first.length > 0) yield { names, units, rows: first }
}

/**
 * The number of columns: those of the header, or more if most rows have more; in a workbook, or without a header, if any of the
 * first rows has.
 */
function widthOf(head: readonly GridCell[] | undefined, rows: readonly GridRow[], isText: boolean): number {
  const widths = rows.map(({ cells }) => filledWidth(cells)).sort((a, b) => a - b)
  const standard = widths[Math.floor(widths.length / 2)] ?? 0
  if (head === undefined) return widths.at(-1) ?? 0
  if (!isText) return Math.max(filledWidth(head), widths.at(-1) ?? 0)
  return Math.max(filledWidth(head), standard)
}

/** True for a repeated header, as in paginated or concatenated files. */
function repeats(head: readonly GridCell[], cells: readonly GridCell[]): boolean {
  if (cells[0] !== head[0] || cells[1] !== head[1] || filledWidth(head) < 2) return false
  return head.every((cell, at) => gridText(cell) === gridText(cells[at])) && head.filter(isFilled).length > 1
}

function byName(
  names: readonly string[],
  { line, cells }: GridRow,
  { name: file, textual: isText, isUnnumbered = false }: Grid,
): Readonly<Record<string, GridCell>> {
  for (let at = names.length; at < cells.length; at++)
    if (isFilled(cells[at]))
      throw unreadable(
        `The row${isUnnumbered ? ` ${line}` : ''} has more cells than the header, which has ${names.length}: cell ${at + 1} is ${JSON.stringify(gridText(cells[at]).slice(0, 60))}.`,
        isUnnumbered ? { file } : { file, line },
        isText
          ? 'Quote a cell that holds the delimiter, or name the line of the header: options: { header: 1 }.'
          : 'Give the column a name in the header, or name the cells: options: { range: A1:F200 }.',
      )
  const data: Record<string, GridCell> = {}
  for (let at = 0; at < names.length; at++) setMember(data, names[at] as string, cells[at] ?? null)
  return data
}

/** Throws SourceUnreadable for a table with too many columns. */
export function refuseWide(file: string, width: number): void {
  if (width > MAX_WIDTH)
    throw unreadable(
      `The table has ${width} columns, and at most ${MAX_WIDTH} are read.`,
      { file },
      'Make rows of columns that stand for values, as of years or places.',
    )
}

function empty(grid: Grid): Error {
  return unreadable(
    'The table is empty: it needs a header row.',
    { file: grid.name, line: 1, column: 1 },
    'Give it a row of names and a record below it; where the table is on another sheet or in another file, name that.',
  )
}

/**
 * Column names for the cells of a header: trimmed; an empty one becomes `column_3` after its position, and a repeated one
 * `name_2`, never a name that the header itself contains.
 */
export function columnNames(header: readonly string[]): readonly string[] {
  const given = new Set(header.map(cell => cell.trim()))
  const used = new Set<string>()
  return header.map((cell, index) => {
    const trimmed = cell.trim()
    const base = trimmed === '' || trimmed === '__proto__' ? `column_${index + 1}` : trimmed
    let name = base
    for (let n = 2; used.has(name) || (name !== trimmed && given.has(name)); n++) name = `${base}_${n}`
    used.add(name)
    return name
  })
}
