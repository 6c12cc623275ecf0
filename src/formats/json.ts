import { exactJson } from '../model/exact-json.ts'

/** Writes rows as one JSON array, one a line, in pieces as the rows come. */
export async function* jsonArray(rows: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  let before = '['
  for await (const piece of rows) {
    if (piece.length === 0) continue
    yield before + piece.map(row => exactJson(row)).join(',\n')
    before = ',\n'
  }
  yield before === '[' ? '[]' : ']'
}
