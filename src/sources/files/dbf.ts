import { isAscii, isUtf8 } from 'node:buffer'
import { DAMAGED, unreadable } from '../source.ts'
import { decoderOf, encodingNamed } from '../text/decode.ts'
import { EncodingSample } from '../text/detect-encoding.ts'
import { ByteReader } from './byte-reader.ts'

/** A field of a dBASE table. */
export interface DbfField {
  /** The bytes of its name. */
  readonly label: Buffer
  /** C, N, F, D, L, M … */
  readonly type: string
  readonly offset: number
  readonly length: number
}

/** The layout of the records of a dBASE table. */
interface DbfLayout {
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
  let offset = 1
  for (let at = 0; at + 32 <= rest.length && rest[at] !== 0x0d; at += 32) {
    const raw = rest.subarray(at, at + 11)
    const end = raw.indexOf(0)
    const label = raw.subarray(0, end < 0 ? 11 : end)
    const width = rest[at + 16] as number
    fields.push({ label, type: String.fromCharCode(rest[at + 11] as number), offset, length: width })
    offset += width
  }
  if (recordLength === 0 || offset > recordLength)
    throw unreadable('The header of the .dbf is damaged.', { file }, DAMAGED)
  return { fields, recordLength, codePage: head[29] as number }
}

/** The names of fields, each another; those without a name are numbered. */
export function fieldNames(fields: readonly DbfField[], texts: TableTexts): readonly string[] {
  const names = new Set<string>()
  for (const { label } of fields) {
    const base = texts.name(label).trim() || `column_${names.size + 1}`
    let name = base
    for (let n = 2; names.has(name); n++) name = `${base}_${n}`
    names.add(name)
  }
  return [...names]
}

/** The value of a field of a record: a number, boolean, day in ISO 8601 or text; null for none. */
export function dbfValue(record: Buffer, { type, offset, length }: DbfField, texts: TableTexts): unknown {
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
      const text = texts.value(end < 0 ? bytes : bytes.subarray(0, end), end < 0).replace(/ +$/, '')
      return text === '' ? null : text
    }
  }
}

/** The name of the file for messages, and what learns of an encoding that nothing declares. */
export interface EncodingReport {
  readonly file: string
  readonly onGuess: (encoding: string, cpg: string) => void
}

/** Score of Windows-1252 for the few letters of a dBASE table: most are written on Windows. */
const WINDOWS_BONUS = 2

/** The encoding of the texts of a dBASE table, detected from their bytes; undefined if all are ASCII. Throws SourceUnreadable. */
async function dbfEncoding(reader: ByteReader, file: string): Promise<string | undefined> {
  const sample = new EncodingSample()
  const { fields, recordLength } = await dbfFields(reader, file)
  const texts = fields.filter(({ type }) => !/[NFLDIOB]/.test(type))
  for (
    let record = await reader.take(recordLength);
    record !== null;
    record = await reader.take(recordLength)
  ) {
    if (isAscii(record)) continue
    // Numbers of fields beside them would look like parts of their words.
    for (const { offset, length } of texts) {
      const bytes = wholeCharacters(record.subarray(offset, offset + length))
      sample.add(Buffer.from([0x20, ...bytes.map(byte => (byte === 0 ? 0x20 : byte)), 0x20]))
    }
    if (sample.isFull) break
  }
  return sample.hasOthers ? sample.encoding(WINDOWS_BONUS) : undefined
}

/** The bytes without those of a character of UTF-8 that is cut off at their end. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes.at(-back) ?? 0
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    if (length > back) return bytes.subarray(0, -back)
    if (byte < 0x80 || length > 1) break
  }
  return bytes
}

/** Code pages by their numbers in the header of a `.dbf` (language driver ids). */
const CODE_PAGES: ReadonlyMap<number, string> = new Map(
  (
    [
      ['cp437', [0x01, 0x09, 0x0b, 0x0d, 0x0f, 0x11, 0x15, 0x18, 0x19, 0x1b]],
      ['cp737', [0x6a, 0x86]],
      ['cp850', [0x02, 0x0a, 0x0e, 0x10, 0x12, 0x14, 0x16, 0x1a, 0x1d, 0x25, 0x37]],
      ['cp852', [0x1f, 0x22, 0x23, 0x40, 0x64, 0x87]],
      ['cp857', [0x6b, 0x88]],
      ['cp860', [0x24]],
      ['cp861', [0x67]],
      ['cp863', [0x1c, 0x6c]],
      ['cp865', [0x08, 0x17, 0x66]],
      ['ibm866', [0x26, 0x65]],
      ['windows-874', [0x50, 0x7c]],
      ['shift_jis', [0x13, 0x7b]],
      ['gb18030', [0x4d, 0x7a]],
      ['euc-kr', [0x4e, 0x79]],
      ['big5', [0x4f, 0x78]],
      ['latin-1', [0x03, 0x57, 0x58, 0x59]],
      ['macintosh', [0x04]],
      ['x-mac-cyrillic', [0x96]],
      ['windows-1250', [0xc8]],
      ['windows-1251', [0xc9]],
      ['windows-1253', [0xcb]],
      ['windows-1254', [0xca]],
      ['windows-1257', [0xcc]],
    ] as const
  ).flatMap(([encoding, ids]) => ids.map(id => [id, encoding] as const)),
)

/** Code pages that bytes are not tested for: who writes them into the header means it. */
const NEVER_DETECTED: ReadonlySet<string | undefined> = new Set([
  'cp737',
  'cp852',
  'cp857',
  'cp860',
  'cp861',
  'cp863',
  'cp865',
  'x-mac-cyrillic',
])

/** Encodings whose characters have several bytes, so that a field may end within one. */
const SEVERAL_BYTES: ReadonlySet<string> = new Set([
  'utf-8',
  'gbk',
  'gb18030',
  'shift_jis',
  'euc-jp',
  'euc-kr',
  'big5',
])

/** Decodes the texts of a table. */
export interface TableTexts {
  readonly name: (bytes: Buffer) => string
  /** Throws SourceUnreadable. @param isFull true for a value as long as its field, which may end within a character */
  readonly value: (bytes: Buffer, isFull: boolean) => string
}

/** The decoder of the texts of a table: declared, by its `.cpg`, its bytes or its header. */
export async function attributeDecoder(
  { cpg, pieces }: { readonly cpg: string | undefined; readonly pieces: () => AsyncIterable<Buffer> | null },
  codePage: number,
  declared: string | undefined,
  { file, onGuess }: EncodingReport,
): Promise<TableTexts> {
  const named =
    cpg === undefined || cpg === ''
      ? undefined
      : encodingNamed(cpg.replace(/^(?=\d{3,5}$)(?!8859)/, 'cp').replace(/^8859[-_ ]?(?=\d)/, 'iso-8859-'))
  const paged = CODE_PAGES.get(codePage)
  const detectedOrPaged = async () => {
    const detected = await detectedEncoding(pieces(), file)
    return detected !== 'utf-8' && NEVER_DETECTED.has(paged) ? paged : detected
  }
  const found = declared ?? named ?? (await detectedOrPaged())
  const encoding = found ?? paged ?? 'latin-1'
  const isGuessed = declared === undefined && named === undefined && found !== undefined && found !== paged
  if (isGuessed && found !== 'utf-8') onGuess(found, cpg ?? '')
  const isWide = SEVERAL_BYTES.has(encoding)
  return {
    name: bytes => (isWide || !isUtf8(bytes) ? decoded(bytes, encoding, isWide) : null) ?? plainName(bytes),
    value: (bytes, isFull) => {
      const text = decoded(bytes, encoding, isWide && isFull)
      if (text !== null) return text
      throw unreadable(`An attribute is not ${encoding}.`, { file }, 'options: { encoding: latin-1 }')
    },
  }
}

function plainName(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
}

/** A text, or null for bytes that are not of the encoding. @param isCut true to leave out a character that is cut off at the end */
function decoded(bytes: Buffer, encoding: string, isCut: boolean): string | null {
  for (let cut = 0; cut <= 3; cut++) {
    if (cut > 0 && !(isCut && (bytes.at(-cut) ?? 0) >= 0x80)) return null
    try {
      const decoder = decoderOf(encoding)
      return decoder.decode(bytes.subarray(0, bytes.length - cut)) + decoder.finish()
    } catch {
      // Tried with a byte less.
    }
  }
  return null
}

/** The encoding detected from the bytes of the attributes; undefined if all are ASCII. */
async function detectedEncoding(
  pieces: AsyncIterable<Buffer> | null,
  file: string,
): Promise<string | undefined> {
  if (pieces === null) return undefined
  const reader = new ByteReader(pieces)
  try {
    return await dbfEncoding(reader, file)
  } finally {
    await reader.close()
  }
}
