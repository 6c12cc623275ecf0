import { isAscii } from 'node:buffer'
import { decoderOf, encodingNamed } from '../decode.ts'
import { EncodingSample } from '../detect-encoding.ts'
import { unreadable } from '../unreadable.ts'
import { ByteReader } from './byte-reader.ts'
import { dbfFields } from './dbf.ts'

/** The name of the file for messages, and what learns of an encoding that nothing declares. */
export interface EncodingReport {
  readonly file: string
  readonly onGuess: (encoding: string) => void
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
      const bytes = record.subarray(offset, offset + length)
      sample.add(Buffer.from([0x20, ...bytes.map(byte => (byte === 0 ? 0x20 : byte)), 0x20]))
    }
    if (sample.isFull) break
  }
  return sample.hasOthers ? sample.encoding(WINDOWS_BONUS) : undefined
}

/** Code pages by their number in the header of a `.dbf`. */
const CODE_PAGES: ReadonlyMap<number, string> = new Map([
  [0x01, 'cp437'],
  [0x02, 'cp850'],
  [0x03, 'latin-1'],
  [0x04, 'macintosh'],
  [0x57, 'latin-1'],
  [0x58, 'latin-1'],
  [0xc8, 'windows-1250'],
  [0xc9, 'windows-1251'],
  [0xca, 'windows-1254'],
  [0xcb, 'windows-1253'],
])

/** The decoder of the texts of a table: declared, by its `.cpg`, its bytes or its header. */
export async function attributeDecoder(
  { cpg, pieces }: { readonly cpg: string | undefined; readonly pieces: () => AsyncIterable<Buffer> | null },
  codePage: number,
  declared: string | undefined,
  { file, onGuess }: EncodingReport,
) {
  const named =
    cpg === undefined || cpg === ''
      ? undefined
      : encodingNamed(/^\d{3,4}$/.test(cpg) ? `cp${cpg}` : cpg.replace(/^8859/, 'iso-8859'))
  const paged = CODE_PAGES.get(codePage)
  const found = declared ?? named ?? (await detected(pieces(), file))
  const encoding = found ?? paged ?? 'latin-1'
  const isGuessed = declared === undefined && named === undefined && found !== undefined && found !== paged
  if (isGuessed && found !== 'utf-8') onGuess(found)
  return (bytes: Buffer) => {
    try {
      const decoder = decoderOf(encoding)
      return decoder.decode(bytes) + decoder.finish()
    } catch {
      throw unreadable(`An attribute is not ${encoding}.`, { file }, 'options: { encoding: latin-1 }')
    }
  }
}

/** The encoding detected from the bytes of the attributes; undefined if all are ASCII. */
async function detected(pieces: AsyncIterable<Buffer> | null, file: string): Promise<string | undefined> {
  if (pieces === null) return undefined
  const reader = new ByteReader(pieces)
  try {
    return await dbfEncoding(reader, file)
  } finally {
    await reader.close()
  }
}
