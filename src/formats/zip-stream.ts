import { pipeline } from 'node:stream/promises'
import { crc32, createDeflateRaw } from 'node:zlib'
import { ignoreRejection } from '../errors/ignore-rejection.ts'

/** One file of an archive. Its content is requested after all previous files are written. */
export interface ZipEntry {
  /** Path with `/` between folders. */
  readonly name: string
  readonly content: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>
}

/** The sizes and checksum of a file, known after its last byte. */
interface Written {
  readonly name: Uint8Array
  readonly offset: number
  readonly crc: number
  readonly compressed: number
  readonly size: number
}

const SIGNATURE = { local: 0x04034b50, descriptor: 0x08074b50, central: 0x02014b50 } as const
const END = { plain: 0x06054b50, zip64: 0x06064b50, locator: 0x07064b50 } as const
/** Sizes follow the content (bit 3); names are UTF-8 (bit 11). */
const FLAGS = 0x0808
const DEFLATE = 8
/** 1980-01-01, the first day of the format: equal tables produce equal archives. */
const DAY = 0x21
const LIMIT = 0xffff_ffff

/**
 * Writes a ZIP archive (PKWARE APPNOTE 6.3) as a stream: no file is held in memory, its sizes follow its content. A file may have
 * up to 4 GiB; an archive may have more (ZIP64).
 */
export async function* zip(
  entries: AsyncIterable<ZipEntry> | Iterable<ZipEntry>,
): AsyncGenerator<Uint8Array> {
  const files: Written[] = []
  let offset = 0
  for await (const entry of entries) {
    const name = Buffer.from(entry.name)
    const head = localHeader(name)
    yield head
    const tally = { crc: 0, size: 0, compressed: 0 }
    for await (const piece of deflated(entry.content, tally)) yield piece
    if (tally.size > LIMIT || tally.compressed > LIMIT) throw new RangeError(`${entry.name} is over 4 GiB`)
    yield integers(4, SIGNATURE.descriptor, tally.crc, tally.compressed, tally.size)
    files.push({ name, offset, ...tally })
    offset += head.length + tally.compressed + 16
  }
  const directory = Buffer.concat(files.map(centralHeader))
  yield directory
  yield endOfArchive(files.length, offset, directory.length)
}

/** The compressed content, piece by piece; the tally has its sizes and checksum at the end. */
async function* deflated(
  content: ZipEntry['content'],
  tally: { crc: number; size: number; compressed: number },
): AsyncGenerator<Uint8Array> {
  const deflate = createDeflateRaw()
  const counted = async function* () {
    for await (const piece of content) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
      tally.crc = crc32(bytes, tally.crc)
      tally.size += bytes.length
      yield bytes
    }
  }
  void ignoreRejection(pipeline(counted, deflate), 'it destroys the deflater, so that the loop throws it')
  for await (const piece of deflate as AsyncIterable<Uint8Array>) {
    tally.compressed += piece.length
    yield piece
  }
}

/** Consecutive integers of a width in bytes, little-endian. */
function integers(width: 2 | 4 | 8, ...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(width * values.length)
  for (const [at, value] of values.entries())
    if (width === 8) bytes.writeBigUInt64LE(BigInt(value), 8 * at)
    else bytes.writeUIntLE(value, width * at, width)
  return bytes
}

function localHeader(name: Uint8Array): Buffer {
  return Buffer.concat([
    integers(4, SIGNATURE.local),
    integers(2, 20, FLAGS, DEFLATE, 0, DAY),
    integers(4, 0, 0, 0),
    integers(2, name.length, 0),
    name,
  ])
}

function centralHeader({ name, offset, crc, compressed, size }: Written): Buffer {
  const far = offset >= LIMIT
  const extra = far ? Buffer.concat([integers(2, 1, 8), integers(8, offset)]) : Buffer.alloc(0)
  return Buffer.concat([
    integers(4, SIGNATURE.central),
    integers(2, 45, far ? 45 : 20, FLAGS, DEFLATE, 0, DAY),
    integers(4, crc, compressed, size),
    integers(2, name.length, extra.length, 0, 0, 0),
    integers(4, 0, far ? LIMIT : offset),
    name,
    extra,
  ])
}

function endOfArchive(count: number, offset: number, length: number): Buffer {
  const far = offset >= LIMIT
  return Buffer.concat([
    ...(far ? endOfZip64(count, offset, length) : []),
    integers(4, END.plain),
    integers(2, 0, 0, count, count),
    integers(4, length, far ? LIMIT : offset),
    integers(2, 0),
  ])
}

function endOfZip64(count: number, offset: number, length: number): readonly Buffer[] {
  return [
    integers(4, END.zip64),
    integers(8, 44),
    integers(2, 45, 45),
    integers(4, 0, 0),
    integers(8, count, count, length, offset),
    integers(4, END.locator, 0),
    integers(8, offset + length),
    integers(4, 1),
  ]
}
