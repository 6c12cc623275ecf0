import { compileByteMapping } from '../../mapping/bytes/compile.ts'
import type { MappingColumn } from '../../mapping/columns.ts'
import type { RuleReport } from '../../mapping/compile.ts'
import type { Mapping } from '../../mapping/ir.ts'
import type { WrittenTriple } from '../../mapping/triple-text.ts'
import type { JsonBytes } from '../../sources/json-bytes.ts'

/** What is mapped. */
interface Task {
  readonly mapping: Mapping
  readonly columns: readonly MappingColumn[]
  /** What the ids of records begin with. */
  readonly idPrefix: string
  /** True where all values are text, and their literals as well. */
  readonly textOnly: boolean
}

/**
 * Maps the records of a JSON file without making texts of their values. Gives the report, or null where the file has to be
 * read as text: nothing of it counts then, though some triples were written already, which are the first of those that
 * reading it as text makes.
 *
 * @param rows are closed at the end
 */
export function* mapMembers(
  rows: JsonBytes,
  { mapping, columns, idPrefix, textOnly }: Task,
  out: WrittenTriple,
  count: { records: number },
): Generator<Buffer, readonly RuleReport[] | null> {
  const cells = columns.map((_, index) => index)
  const tokens = textOnly ? [] : cells.map(cell => columns.length + cell)
  const { map, report } = compileByteMapping(mapping, columns, cells, tokens)
  const id = () => idPrefix + String(rows.records)
  try {
    let found = rows.next()
    for (; found === 'row'; found = rows.next()) {
      map(rows, id, out)
      if (out.isFull()) yield out.borrowBuffer()
    }
    if (found === 'end') {
      count.records = rows.records
      return report
    }
  } finally {
    rows.close()
  }
  return null
}
