import { lookup } from '../model/lookup.ts'
import { cellText } from './csv.ts'
import { columnName, type ExportOptions, type TableColumn, type TableRow, wholeDay } from './table.ts'

/** A field of a dBASE table, with its column. */
export interface DbfFieldOut {
  readonly name: string
  readonly column: TableColumn
  /** C text, N number, D day, L boolean. */
  readonly type: 'C' | 'N' | 'D' | 'L'
  /** Bytes of every value. */
  readonly length: number
  readonly decimals: number
}

/** The fields of a table, and the columns that do not fit into its records. */
export interface DbfLayoutOut {
  readonly fields: readonly DbfFieldOut[]
  readonly dropped: readonly TableColumn[]
  /** Bytes of a record, including its deletion flag. */
  readonly recordLength: number
}

/** Called with a field that cannot represent one of its values completely. */
export type Loss = (field: DbfFieldOut) => void

const NAME_BYTES = 10
const MAX_TEXT = 254
const MAX_RECORD = 65_535
const MAX_FIELDS = 255
/** Widths that GDAL reads as 64-bit integers and as doubles. */
const WIDTHS: Readonly<
  Record<TableColumn['type'], readonly [DbfFieldOut['type'], length: number, decimals: number]>
> = {
  text: ['C', MAX_TEXT, 0],
  int: ['N', 18, 0],
  double: ['N', 24, 15],
  boolean: ['L', 1, 0],
  date: ['D', 8, 0],
  datetime: ['C', 40, 0],
  geo_point_2d: ['C', 60, 0],
  geo_shape: ['C', MAX_TEXT, 0],
}

/** Lays out columns as fields with valid dBASE names, until a record is full. */
export function dbfLayout(columns: readonly TableColumn[], options: ExportOptions): DbfLayoutOut {
  const fields: DbfFieldOut[] = []
  const taken = new Set<string>()
  let recordLength = 1
  for (const column of columns) {
    const [type, length, decimals] = WIDTHS[column.type]
    if (fields.length === MAX_FIELDS || recordLength + length > MAX_RECORD) break
    fields.push({ name: fieldName(columnName(column, options), taken), column, type, length, decimals })
    recordLength += length
  }
  return { fields, dropped: columns.slice(fields.length), recordLength }
}

/** A name of at most ten of `A-Z a-z 0-9 _` that no other field has, ignoring case. */
function fieldName(long: string, taken: Set<string>): string {
  const plain = long
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_]/g, '_')
  const start = /^[A-Za-z]/.test(plain) ? plain : `f_${plain}`
  for (let count = 0; ; count++) {
    const suffix = count === 0 ? '' : `_${count}`
    const name = start.slice(0, NAME_BYTES - suffix.length) + suffix
    if (taken.has(name.toLowerCase())) continue
    taken.add(name.toLowerCase())
    return name
  }
}

/** The header of a dBASE III table (dBASE file format, version 03h) for a given number of records. */
export function dbfHeader({ fields, recordLength }: DbfLayoutOut, count: number): Uint8Array {
  const length = 33 + 32 * fields.length
  const bytes = Buffer.alloc(length)
  bytes[0] = 3
  // 1980-01-01: equal tables produce equal files.
  bytes.set([80, 1, 1], 1)
  bytes.writeUInt32LE(count, 4)
  bytes.writeUInt16LE(length, 8)
  bytes.writeUInt16LE(recordLength, 10)
  fields.forEach((field, at) => {
    const start = 32 + 32 * at
    bytes.write(field.name, start, 'ascii')
    bytes.write(field.type, start + 11, 'ascii')
    bytes[start + 16] = field.length
    bytes[start + 17] = field.decimals
  })
  bytes[length - 1] = 0x0d
  return bytes
}

/** One record: every value in the width of its field, blanks for null, `?` for a boolean, as a blank one is false for many readers. */
export function dbfRecord(
  layout: DbfLayoutOut,
  row: TableRow,
  options: ExportOptions,
  lost: Loss,
): Uint8Array {
  const bytes = Buffer.alloc(layout.recordLength, 0x20)
  let at = 1
  for (const field of layout.fields) {
    const value = lookup(row, field.column.key) ?? null
    if (value !== null) writeValue(bytes, at, value, field, options, lost)
    else if (field.type === 'L') bytes.write('?', at, 'ascii')
    at += field.length
  }
  return bytes
}

function writeValue(
  bytes: Buffer,
  at: number,
  value: unknown,
  field: DbfFieldOut,
  options: ExportOptions,
  lost: Loss,
): void {
  const text = valueText(value, field, options)
  const encoded = Buffer.from(text)
  const end = encoded.length <= field.length ? encoded.length : characterBorder(encoded, field.length)
  if (end < encoded.length || text.includes('\u0000')) lost(field)
  if (end < encoded.length && field.type !== 'C') return
  const start = field.type === 'N' ? at + field.length - end : at
  // Most readers end a text at a zero byte.
  for (let from = 0; from < end; from++) bytes[start + from] = encoded[from] || 0x20
}

function valueText(value: unknown, { type, column }: DbfFieldOut, { listSeparator }: ExportOptions): string {
  if (type === 'L') return value === true ? 'T' : 'F'
  if (type === 'D') return wholeDay(String(value)).replaceAll('-', '')
  return cellText(value, column, listSeparator)
}

/** The last position before a limit where a UTF-8 character begins. */
function characterBorder(bytes: Uint8Array, limit: number): number {
  let end = limit
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return end
}
