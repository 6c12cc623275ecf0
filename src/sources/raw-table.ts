import type { CsvDialect } from '../model/csv-dialect.ts'
import { CsvBytes } from './csv-bytes.ts'
import { CsvParser, type CsvRow, type CsvSyntax } from './csv-parser.ts'
import { encodingNamed } from './decode.ts'
import { isEnoughToSniff, sniffDelimiter } from './delimiter.ts'
import { fileNameOf, readText, type TextFile } from './text.ts'
import { misconfigured, unreadable } from './unreadable.ts'

/** One row of a table: its line and its cells in the order of the columns; null or nothing is no value. */
export interface RawRow {
  readonly line: number
  readonly cells: readonly (string | null)[]
}

/** A table whose cells are the texts that the file has, and nothing but that. */
export interface RawTable {
  readonly columns: readonly string[]
  readonly rows: AsyncIterable<readonly RawRow[]>
  /** Opens the same rows as bytes, for who need not read them; null where only reading them tells what they are. */
  readonly bytes: () => CsvBytes | null
}

/** Bytes that are read at a time until the columns are known. */
const HEAD = 2 ** 13

/**
 * Opens a table: reads its columns, and the rows when they are asked for. An empty cell is no value, and one between quotes is
 * an empty text, unless the dialect names its nulls, which then are all that there are; a short row lacks its last cells.
 *
 * Throws SourceUnreadable with place, and ConfigInvalid for a dialect that cannot be read with.
 */
export async function openTable(file: TextFile, dialect: CsvDialect = {}): Promise<RawTable> {
  const { header = true, trim = false, delimiter, quote } = dialect
  for (const character of [delimiter, quote])
    if (typeof character === 'string' && character.length !== 1)
      throw misconfigured(
        `${JSON.stringify(character)} is not one character: delimiter and quote of ${fileNameOf(file)} are.`,
      )
  const tidy = trim ? (cell: string) => cell.trim() : (cell: string) => cell
  let found = ''
  const report = (delimiter: string) => {
    found = delimiter
  }
  const head = { ...file, chunkSize: Math.min(file.chunkSize ?? HEAD, HEAD) }
  for await (const [first] of readLines(head, dialect, report)) {
    if (first === undefined) continue
    const columns = header ? first.cells.map(tidy) : first.cells.map((_, index) => `_col.${index + 1}`)
    const width = columns.length
    const bytes = () => openBytes(file, dialect, found, width)
    return { columns, rows: readRows(file, dialect, width, tidy), bytes }
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
  return { columns: [], rows: readRows(file, dialect, 0, tidy), bytes: () => null }
}

async function* readRows(
  file: TextFile,
  dialect: CsvDialect,
  width: number,
  tidy: (cell: string) => string,
): AsyncGenerator<readonly RawRow[]> {
  const { trim = false, nulls, header = true } = dialect
  const absent = new Set(nulls ?? [''])
  const isPlain = !trim && absent.size === 0
  const read = ({ cells, emptyTexts }: CsvRow) => {
    const values: (string | null)[] = []
    for (let i = 0; i < width; i++) {
      const cell = cells[i]
      const text = cell === undefined ? null : tidy(cell)
      const isText = nulls === undefined && emptyTexts?.includes(i) === true
      values.push(text === null || (absent.has(text) && !isText) ? null : text)
    }
    return values
  }
  let skip = header
  for await (const lines of readLines(file, dialect)) {
    const rows = skip && lines.length > 0 ? lines.slice(1) : lines
    if (lines.length > 0) skip = false
    yield isPlain ? rows : rows.map(row => ({ line: row.line, cells: read(row) }))
  }
}

function openBytes(
  file: TextFile,
  { quote = '"', encoding, comment, header = true, trim = false, nulls }: CsvDialect,
  delimiter: string,
  width: number,
): CsvBytes | null {
  const coding = encoding ?? file.encoding ?? 'utf-8'
  const isUtf8 = coding === 'utf-8' || encodingNamed(coding) === 'utf-8'
  const isAscii = delimiter < '\x80' && (quote ?? '') < '\x80' && delimiter !== quote
  const isPlain = !trim && (comment ?? '') === '' && (nulls ?? []).every(text => text === '')
  if (!isUtf8 || !isAscii || !isPlain) return null
  const emptyIsNull = nulls === undefined ? 'unquoted' : nulls.length > 0 ? 'all' : 'none'
  return CsvBytes.open(file.path, { delimiter, quote, header, width, emptyIsNull })
}

async function* readLines(
  file: TextFile,
  dialect: CsvDialect,
  report: (delimiter: string) => void = () => undefined,
): AsyncGenerator<readonly CsvRow[]> {
  const text = encoded(file, dialect.encoding)
  const syntax: CsvSyntax = {
    ...(dialect.quote === undefined ? {} : { quote: dialect.quote }),
    ...(dialect.comment === undefined ? {} : { comment: dialect.comment }),
  }
  const begin = (delimiter: string) => {
    report(delimiter)
    return new CsvParser(fileNameOf(file), delimiter, syntax)
  }
  const given = dialect.delimiter ?? (/\.tsv(\.gz)?$/i.test(file.path) ? '\t' : undefined)
  let parser = given === undefined ? undefined : begin(given)
  let head = ''
  for await (const piece of readText(text)) {
    if (parser !== undefined) parser.push(piece)
    else {
      head += piece
      if (!isEnoughToSniff(head)) continue
      parser = begin(sniffDelimiter(withoutComments(head, dialect.comment)))
      parser.push(head)
    }
    yield parser.take()
  }
  if (parser === undefined) {
    parser = begin(sniffDelimiter(withoutComments(head, dialect.comment)))
    parser.push(head)
  }
  parser.finish()
  yield parser.take()
}

function withoutComments(head: string, comment: string | undefined): string {
  if (comment === undefined || comment === '') return head
  const lines = head.split('\n').filter(line => !line.startsWith(comment))
  return lines.join('\n')
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
