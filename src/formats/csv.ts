import { lookup } from '../model/lookup.ts'
import { columnName, type ExportOptions, type Table, type TableColumn } from './table.ts'

/** The beginning of a text that spreadsheets interpret as a formula (OWASP, "CSV Injection"), also after white space. */
const FORMULA = /^[\s\0]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/

/**
 * Writes CSV (RFC 4180; REST 6.3): names in the first row, lines ending with CR LF, quotes only if needed, nothing for null,
 * points as `lat, lon`, shapes as the JSON of their geometry.
 */
export async function* csv(table: Table, options: ExportOptions): AsyncGenerator<string> {
  const { delimiter, withBom } = options
  const needsQuotes = new RegExp(`["\\r\\n${delimiter}]|^\\s|\\s$`)
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
  const cell = (given: string, isText: boolean) => {
    const text = options.escapesFormulas === true && isText && FORMULA.test(given) ? `'${given}` : given
    return (options.quoteAll && isText) || needsQuotes.test(text) ? quoted(text) : text
  }
  const head = table.columns.map(column => cell(columnName(column, options), true)).join(delimiter)
  yield `${withBom ? '\ufeff' : ''}${head}\r\n`
  for await (const rows of table.rows) {
    let text = ''
    for (const row of rows) {
      const line = table.columns
        .map(column => {
          const value = lookup(row, column.key) ?? null
          return value === null
            ? ''
            : cell(cellText(value, column, options.listSeparator), isText(value, column))
        })
        .join(delimiter)
      // Readers skip an empty line, which would be a record without a value in its only column.
      text += `${line === '' ? '""' : line}\r\n`
    }
    if (text !== '') yield text
  }
}

function isText(value: unknown, { type }: TableColumn): boolean {
  if (typeof value === 'number' || typeof value === 'bigint') return false
  return typeof value !== 'boolean' && type !== 'date' && type !== 'datetime'
}

/** A value as the text of a cell. */
export function cellText(value: unknown, { type }: TableColumn, listSeparator: string): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(String).join(listSeparator)
  if (typeof value !== 'object') return String(value)
  if (type === 'geo_point_2d' && 'lat' in value && 'lon' in value) return `${value.lat}, ${value.lon}`
  if (type === 'geo_shape' && 'geometry' in value) return JSON.stringify(value.geometry)
  return JSON.stringify(value)
}
