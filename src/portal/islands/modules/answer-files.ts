import { turtleText } from '../../../formats/turtle.ts'
import { termText } from '../../../rdf/ntriples.ts'
import { type RowWriter, rowWriter } from '../../../sparql/row-writer.ts'
import { make } from './elements.ts'
import type { MessageRow } from './query-messages.ts'

/** The formats in which an answer can be downloaded. */
export type DownloadFormat = 'json' | 'csv' | 'turtle'

const FILES: Readonly<Record<DownloadFormat, readonly [type: string, ending: string]>> = {
  json: ['application/sparql-results+json', 'json'],
  csv: ['text/csv', 'csv'],
  turtle: ['text/turtle', 'ttl'],
}

/** Lets the browser save an answer. */
export function saveAnswer(
  format: DownloadFormat,
  variables: readonly string[],
  rows: readonly MessageRow[],
  prefixes: Readonly<Record<string, string>>,
): void {
  const [type, ending] = FILES[format]
  const address = URL.createObjectURL(new Blob(pieces(format, variables, rows, prefixes), { type }))
  make('a', { href: address, download: `answer.${ending}` }).click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

function pieces(
  format: DownloadFormat,
  variables: readonly string[],
  rows: readonly MessageRow[],
  prefixes: Readonly<Record<string, string>>,
): string[] {
  switch (format) {
    case 'csv':
      return written(rowWriter('csv'), variables, rows)
    case 'json':
      return written(rowWriter('json'), variables, rows)
    case 'turtle':
      return [turtleText(rows.map(triple).join(''), prefixes)]
  }
}

function written(writer: RowWriter, variables: readonly string[], rows: readonly MessageRow[]): string[] {
  return [writer.head(variables), ...rows.map(row => writer.row(row)), writer.end()]
}

function triple(row: MessageRow): string {
  return row.every(term => term !== null) ? `${row.map(termText).join(' ')} .\n` : ''
}
