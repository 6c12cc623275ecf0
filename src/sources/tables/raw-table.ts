import type { CsvDialect } from '../../model/csv-dialect.ts'
import { misconfigured, unreadable } from '../source.ts'
import { encodingNamed } from '../text/decode.ts'
import { fileNameOf, type TextFile } from '../text/text.ts'
import { readCsvRows } from './csv.ts'
import type { CsvRow, CsvSyntax } from './csv-syntax.ts'

/** The requested cells of a row; null for no value. */
type Cells = readonly (string | null)[]

/** A table with the unconverted texts of its cells. */
export interface RawTable {
  readonly columns: readonly string[]
  /** Reads the rows: the cells of the requested columns, by index. */
  rows(indexes: readonly number[]): AsyncIterable<readonly Cells[]>
}

/** Bytes that are read at a time until the columns are known. */
const HEAD = 2 ** 13

/**
 * Opens a table: reads its columns, and the rows on demand. An empty cell is null, and one in quotes is an empty text, unless the
 * dialect names its nulls, which then are the only ones; a short row lacks its last cells.
 *
 * Throws SourceUnreadable with position, and ConfigInvalid for an unusable dialect.
 */
export async function openTable(file: TextFile, dialect: CsvDialect = {}): Promise<RawTable> {
  const { header = true, trim = false, delimiter, quote } = dialect
  for (const character of [delimiter, quote])
    if (typeof character === 'string' && character.length !== 1)
      throw misconfigured(
        `${JSON.stringify(character)} is not one character: delimiter and quote of ${fileNameOf(file)} are.`,
      )
  const tidy = trim ? (cell: string) => cell.trim() : (cell: string) => cell
  const head = { ...file, chunkSize: Math.min(file.chunkSize ?? HEAD, HEAD) }
  for await (const [first] of readLines(head, dialect)) {
    if (first === undefined) continue
    const columns = header ? first.cells.map(tidy) : first.cells.map((_, index) => `_col.${index + 1}`)
    return { columns, rows: indexes => readRows(file, dialect, indexes, tidy) }
  }
  if (header)
    throw unreadable(
      'The file is empty: it needs a header row.',
      {
        file: fileNameOf(file),
        line: 1,
        column: 1,
      },
      'Give it a row of names and a record below it.',
    )
  return { columns: [], rows: indexes => readRows(file, dialect, indexes, tidy) }
}

async function* readRows(
  file: TextFile,
  dialect: CsvDialect,
  indexes: readonly number[],
  tidy: (cell: string) => string,
): AsyncGenerator<readonly Cells[]> {
  const { nulls, header = true } = dialect
  const absent = new Set(nulls)
  const isAbsent = (text: string, index: number, { emptyTexts }: CsvRow) =>
    nulls === undefined ? text === '' && emptyTexts?.includes(index) !== true : absent.has(text)
  const read = (row: CsvRow) =>
    indexes.map(index => {
      const cell = row.cells[index]
      if (cell === undefined) return null
      const text = tidy(cell)
      return isAbsent(text, index, row) ? null : text
    })
  let skip = header
  for await (const lines of readLines(file, dialect)) {
    const rows = skip && lines.length > 0 ? lines.slice(1) : lines
    if (lines.length > 0) skip = false
    yield rows.map(read)
  }
}

function readLines(file: TextFile, dialect: CsvDialect): AsyncIterable<readonly CsvRow[]> {
  const syntax: CsvSyntax = {
    ...(dialect.quote === undefined ? {} : { quote: dialect.quote }),
    ...(dialect.comment === undefined ? {} : { comment: dialect.comment }),
  }
  const delimiter = dialect.delimiter ?? (/\.tsv(\.gz)?$/i.test(file.path) ? '\t' : undefined)
  return readCsvRows(encoded(file, dialect.encoding), delimiter, syntax)
}

function encoded(file: TextFile, name: string | undefined): TextFile {
  if (name === undefined || /^us-?ascii$/i.test(name)) return { encoding: 'utf-8', ...file }
  const encoding = encodingNamed(name)
  if (encoding === undefined)
    throw misconfigured(
      `The encoding ${JSON.stringify(name)} of ${fileNameOf(file)} is not one that is read.`,
    )
  return { ...file, encoding }
}
