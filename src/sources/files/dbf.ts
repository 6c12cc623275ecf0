import { isUtf8 } from 'node:buffer'
import { DAMAGED, unreadable } from '../unreadable.ts'
import type { ByteReader } from './byte-reader.ts'

/** A field of a dBASE table. */
export interface DbfField {
  readonly name: string
  /** C, N, F, D, L, M … */
  readonly type: string
  readonly offset: number
  readonly length: number
}

/** The layout of the records of a dBASE table. */
export interface DbfLayout {
  readonly fields: readonly DbfField[]
  readonly recordLength: number
  readonly codePage: number
}

/** Reads the header of a dBASE table; the reader is then positioned at the first record. Throws SourceUnreadable. */
export async function dbfFields(reader: ByteReader, file: string): Promise<DbfLayout> {
  const head = await reader.take(32)
  if (head === null || head.length < 32) throw unreadable('The .dbf has no header.', { file }, DAMAGED)
  const length = head.readUInt16LE(8) - 32
  const rest = length > 0 ? await reader.take(length) : null
  if (rest === null) throw unreadable('The .dbf ends within its header.', { file }, DAMAGED)
  const recordLength = head.readUInt16LE(10)
  const fields: DbfField[] = []
  const names = new Set<string>()
  let offset = 1
  for (let at = 0; at + 32 <= rest.length && rest[at] !== 0x0d; at += 32) {
    const raw = rest.subarray(at, at + 11)
    const end = raw.indexOf(0)
    const bytes = raw.subarray(0, end < 0 ? 11 : end)
    const written = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1').trim()
    const base = written === '' ? `column_${fields.length + 1}` : written
    let name = base
    for (let n = 2; names.has(name); n++) name = `${base}_${n}`
    names.add(name)
    const width = rest[at + 16] as number
    fields.push({ name, type: String.fromCharCode(rest[at + 11] as number), offset, length: width })
    offset += width
  }
  if (recordLength === 0 || offset > recordLength)
    throw unreadable('The header of the .dbf is damaged.', { file }, DAMAGED)
  return { fields, recordLength, codePage: head[29] as number }
}

/** The value of a field of a record: a number, boolean, day in ISO 8601 or text; null for none. */
export function dbfValue(
  record: Buffer,
  { type, offset, length }: DbfField,
  decode: (bytes: Buffer) => string,
): unknown {
  const bytes = record.subarray(offset, offset + length)
  switch (type) {
    case 'N':
    case 'F': {
      const text = bytes.toString('latin1').replace(/\0/g, ' ').trim()
      if (text === '' || text.startsWith('*')) return null
      if (/^[+-]?\d{16,}$/.test(text)) return BigInt(text)
      const number = Number(text.replace(',', '.'))
      return Number.isFinite(number) ? number : null
    }
    case 'L': {
      const letter = bytes.toString('latin1').charAt(0)
      return /[YyTt1]/.test(letter) ? true : /[NnFf0]/.test(letter) ? false : null
    }
    case 'D': {
      const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(bytes.toString('latin1').trim()) ?? []
      return year === undefined || year === '0000' ? null : `${year}-${month}-${day}`
    }
    case 'I':
      return bytes.length === 4 ? bytes.readInt32LE(0) : null
    case 'O':
    case 'B':
      return bytes.length === 8 ? bytes.readDoubleLE(0) : null
    default: {
      const end = bytes.indexOf(0)
      const text = decode(end < 0 ? bytes : bytes.subarray(0, end)).replace(/ +$/, '')
      return text === '' ? null : text
    }
  }
}
