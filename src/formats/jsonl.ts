import { exactJson } from '../model/exact-json.ts'
import { lookup } from '../model/lookup.ts'
import { inOrder, losesOrder } from '../model/member-order.ts'
import { distinctColumnNames, type ExportOptions, type Table, type TableRow } from './table.ts'

/** Writes one JSON object a line (JSON Lines). */
export async function* jsonl(table: Table, options: ExportOptions): AsyncGenerator<string> {
  const shown = renamed(table, options)
  for await (const rows of table.rows) {
    if (rows.length > 0) yield rows.map(row => `${exactJson(shown(row))}\n`).join('')
  }
}

/** Writes one JSON array, one row a line. */
export function json(table: Table, options: ExportOptions): AsyncGenerator<string> {
  return jsonArray(table.rows, renamed(table, options))
}

/** Renames the members of rows to the labels of their columns, if requested, and keeps them in the order of the columns. */
function renamed(table: Table, options: ExportOptions): (row: TableRow) => TableRow {
  const names = distinctColumnNames(table.columns, options)
  if (!options.useLabels && !losesOrder(names)) return row => row
  return row => inOrder(names, (_, index) => lookup(row, table.columns[index]?.key ?? ''))
}

/** Writes rows as one JSON array, one a line, in pieces as the rows come. @param shown what is written of a row; all by default */
export async function* jsonArray<Row>(
  rows: AsyncIterable<readonly Row[]>,
  shown: (row: Row) => unknown = row => row,
): AsyncGenerator<string> {
  let before = '['
  for await (const piece of rows) {
    if (piece.length === 0) continue
    yield before + piece.map(row => exactJson(shown(row))).join(',\n')
    before = ',\n'
  }
  yield before === '[' ? '[]' : ']'
}
