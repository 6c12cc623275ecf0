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
    yield fields([4, SIGNATURE.descriptor], [4, tally.crc], [4, tally.compressed], [4, tally.size])
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

/** Consecutive integers, each with its width in bytes, little-endian. */
function fields(...values: readonly (readonly [width: 2 | 4 | 8, value: number])[]): Buffer {
  const bytes = Buffer.alloc(values.reduce((sum, [width]) => sum + width, 0))
  let at = 0
  for (const [width, value] of values) {
    if (width === 2) bytes.writeUInt16LE(value, at)
    else if (width === 4) bytes.writeUInt32LE(value, at)
    else bytes.writeBigUInt64LE(BigInt(value), at)
    at += width
  }
  return bytes
}

function localHeader(name: Uint8Array): Buffer {
  const head = fields(
    [4, SIGNATURE.local],
    [2, 20],
    [2, FLAGS],
    [2, DEFLATE],
    [2, 0],
    [2, DAY],
    [4, 0],
    [4, 0],
    [4, 0],
    [2, name.length],
    [2, 0],
  )
  return Buffer.concat([head, name])
}

function centralHeader({ name, offset, crc, compressed, size }: Written): Buffer {
  const far = offset >= LIMIT
  const extra = far ? fields([2, 1], [2, 8], [8, offset]) : Buffer.alloc(0)
  const head = fields(
    [2, 45],
    [2, far ? 45 : 20],
    [2, FLAGS],
    [2, DEFLATE],
    [2, 0],
    [2, DAY],
    [4, crc],
    [4, compressed],
    [4, size],
    [2, name.length],
    [2, extra.length],
    [2, 0],
    [2, 0],
    [2, 0],
    [4, 0],
    [4, far ? LIMIT : offset],
  )
  return Buffer.concat([fields([4, SIGNATURE.central]), head, name, extra])
}

function endOfArchive(count: number, offset: number, length: number): Buffer {
  const far = offset >= LIMIT
  const end = fields(
    [4, END.plain],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, length],
    [4, far ? LIMIT : offset],
    [2, 0],
  )
  return far ? Buffer.concat([endOfZip64(count, offset, length), end]) : end
}

function endOfZip64(count: number, offset: number, length: number): Buffer {
  return fields(
    [4, END.zip64],
    [8, 44],
    [2, 45],
    [2, 45],
    [4, 0],
    [4, 0],
    [8, count],
    [8, count],
    [8, length],
    [8, offset],
    [4, END.locator],
    [4, 0],
    [8, offset + length],
    [4, 1],
  )
}
