import type { PublishMessage } from '../publishing/publish-all.ts'

const COLUMNS = ['dataset', 'records', 'triples', 'seconds', 'state'] as const
/** Results that make a table worth while: failures alone are on stderr. */
const SHOWN: ReadonlySet<PublishMessage['type']> = new Set(['published', 'unchanged', 'withdrawn'])
/** Right-aligned columns. */
const NUMBERS: ReadonlySet<number> = new Set([1, 2, 3])

type Row = readonly [dataset: string, records: string, triples: string, seconds: string, state: string]

/** The results of publishing datasets, one a line with records, triples, seconds and state; an empty text if all failed. */
export function publicationTable(messages: readonly PublishMessage[]): string {
  if (!messages.some(({ type }) => SHOWN.has(type))) return ''
  const rows: Row[] = []
  for (const message of messages) {
    const { dataset, type } = message
    switch (type) {
      case 'published':
      case 'unchanged':
        rows.push([dataset, ...sizeCells(message), type])
        break
      case 'failed':
        rows.push([dataset, '-', '-', message.seconds.toFixed(1), 'failed'])
        break
      case 'withdrawn':
        rows.push([dataset, '-', '-', '-', 'withdrawn'])
        break
      case 'mapping-refused': {
        const at = rows.findLastIndex(row => row[0] === dataset)
        const [, records = '-', triples = '-', seconds = '-'] = rows[at] ?? []
        rows.splice(at < 0 ? rows.length : at, 1, [dataset, records, triples, seconds, 'mapping refused'])
        break
      }
      case 'progress':
      case 'loading':
      case 'waiting':
        break
      default:
        message satisfies never
    }
  }
  const lines = [COLUMNS, ...rows.sort(([a], [b]) => (a < b ? -1 : 1))]
  const widths = COLUMNS.map((_, column) => Math.max(...lines.map(line => (line[column] as string).length)))
  return lines
    .map(
      line =>
        `${line
          .map((cell, at) => aligned(cell, at, widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function sizeCells(size: { readonly records: number; readonly triples: number; readonly seconds: number }) {
  return [String(size.records), String(size.triples), size.seconds.toFixed(1)] as const
}

function aligned(cell: string, column: number, width: number): string {
  return NUMBERS.has(column) ? cell.padStart(width) : cell.padEnd(width)
}
