import type { DatasetRecord } from '../model/value.ts'
import { openColumns } from '../store/columns/graph.ts'
import { RecordReader, type RecordsOf } from '../store/record-reader.ts'

/** Records of a piece. */
const PIECE = 1000

/**
 * The records of a published version in order, read from the columns of its facts, in bounded pieces: everything that is derived
 * from records can be rebuilt from them, without the source.
 */
export async function* publishedRecords(
  columns: string,
  of: RecordsOf,
): AsyncGenerator<readonly DatasetRecord[]> {
  const reader = new RecordReader(openColumns(columns), of)
  for (let first = 0; first < reader.count; first += PIECE) {
    const length = Math.min(PIECE, reader.count - first)
    yield Array.from({ length }, (_, index) => reader.record(first + index))
  }
}
