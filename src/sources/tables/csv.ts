import { setMember } from '../../model/lookup.ts'
import { BATCH_ROWS, type RecordSource, type SourceRow, unreadable } from '../source.ts'
import { fileNameOf, readText, type TextFile } from '../text/text.ts'
import { CsvParser } from './csv-parser.ts'
import type { CsvRow, CsvSyntax } from './csv-syntax.ts'
import { isEnoughToSniff, regularDelimiter } from './delimiter.ts'
import { BATCH_PIECES, columnNames, type Grid } from './grid.ts'

/**
 * A CSV file (RFC 4180) with a header row. An empty cell is an empty text, a missing cell of a short row is null.
 *
 * @param delimiter one character; detected from the first lines unless given
 */
export function csvSource(file: TextFile, delimiter?: string): RecordSource {
  return {
    name: fileNameOf(file),
    textual: true,
    columns: () => readColumns(file, delimiter),
    read: () => readRows(file, delimiter),
  }
}

/**
 * The rows of a CSV file unchanged, with header and titles, of any width; blank lines are empty rows.
 *
 * @param syntax delimiter and quote; a comma and a double quote by default
 */
export function csvGrid(
  file: TextFile,
  syntax: { readonly delimiter?: string; readonly quote?: string },
): Grid {
  const { delimiter = ',', quote } = syntax
  const strays = new StrayQuotes()
  return {
    name: fileNameOf(file),
    textual: true,
    warnings: () => strays.warnings(),
    async *rows() {
      strays.clear()
      const own: CsvSyntax = {
        isTolerant: true,
        onStrayQuote: (line, column) => strays.add(line, column),
        ...(quote === undefined ? {} : { quote: quote === '' ? null : quote }),
      }
      let next = 1
      /** Blank lines become empty rows: they separate a table from its notes. */
      const withGaps = (rows: readonly CsvRow[]) =>
        rows.flatMap(row => {
          const isAfterGap = row.line > next
          next = (row.end ?? row.line) + 1
          return isAfterGap ? [{ line: row.line - 1, cells: [] }, row] : [row]
        })
      for await (const rows of readCsvRows(file, delimiter, own)) yield withGaps(rows)
    },
  }
}

/** Positions that a warning names. */
const MAX_PLACES = 3

/** The quotes of a text that are neither doubled nor close their cells. */
class StrayQuotes {
  private count = 0
  private places: string[] = []

  clear(): void {
    this.count = 0
    this.places = []
  }

  add(line: number, column: number): void {
    this.count++
    if (this.places.length < MAX_PLACES) this.places.push(`line ${line}, column ${column}`)
  }

  warnings(): readonly string[] {
    if (this.count === 0) return []
    const cells = `${this.count} ${this.count === 1 ? 'cell' : 'cells'}`
    const places = `${this.places.join('; ')}${this.count > MAX_PLACES ? ' …' : ''}`
    return [
      `quotes that are not doubled or not closed in ${cells} (${places}): each cell ends on its line at the latest; double quotes within quotes, or, where cells are not quoted, write quote: '' in options`,
    ]
  }
}

async function readColumns(file: TextFile, delimiter: string | undefined): Promise<readonly string[]> {
  for await (const [header] of readCsvRows(file, delimiter))
    if (header !== undefined) return columnNames(header.cells)
  throw withoutHeader(file)
}

async function* readRows(file: TextFile, delimiter: string | undefined): AsyncIterable<readonly SourceRow[]> {
  let names: readonly string[] | undefined
  let batch: SourceRow[] = []
  let row = 0
  let pieces = 0
  for await (const lines of readCsvRows(file, delimiter)) {
    for (const line of lines) {
      if (names === undefined) {
        names = columnNames(line.cells)
        continue
      }
      batch.push({ row: ++row, line: line.line, data: byName(names, line.cells) })
      if (batch.length < BATCH_ROWS) continue
      yield batch
      batch = []
    }
    if (++pieces % BATCH_PIECES > 0 || batch.length === 0) continue
    yield batch
    batch = []
  }
  if (names === undefined) throw withoutHeader(file)
  if (batch.length > 0) yield batch
}

/**
 * The rows of a CSV file unchanged, with its header, a batch for each piece of its text.
 *
 * @param delimiter detected from the first lines unless given
 */
export async function* readCsvRows(
  file: TextFile,
  delimiter: string | undefined,
  syntax: CsvSyntax = {},
): AsyncGenerator<readonly CsvRow[]> {
  const parserFor = (found: string) => new CsvParser(fileNameOf(file), found, syntax)
  const parserOf = (head: string) => parserFor(regularDelimiter(withoutComments(head, syntax.comment)))
  let parser = delimiter === undefined ? null : parserFor(delimiter)
  let head = ''
  for await (const text of readText(file)) {
    head = parser === null ? head + text : text
    if (parser === null && !isEnoughToSniff(head)) continue
    parser ??= parserOf(head)
    parser.push(head)
    yield parser.take()
  }
  if (parser === null) {
    parser = parserOf(head)
    parser.push(head)
  }
  parser.finish()
  yield parser.take()
}

function withoutComments(head: string, comment = ''): string {
  if (comment === '') return head
  const lines = head.split('\n').filter(line => !line.startsWith(comment))
  return lines.join('\n')
}

function byName(names: readonly string[], cells: readonly string[]): Readonly<Record<string, string | null>> {
  const data: Record<string, string | null> = {}
  for (let i = 0; i < names.length; i++) setMember(data, names[i] as string, cells[i] ?? null)
  return data
}

function withoutHeader(file: TextFile): Error {
  return unreadable(
    'The file is empty: it needs a header row.',
    {
      file: fileNameOf(file),
      line: 1,
      column: 1,
    },
    'Give it a row of names and a record below it.',
  )
}
