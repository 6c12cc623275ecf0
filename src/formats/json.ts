import { exactJson } from '../model/exact-json.ts'

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
