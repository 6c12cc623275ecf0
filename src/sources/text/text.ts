import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { createGunzip } from 'node:zlib'
import { fileUnreadable, unreadable } from '../source.ts'
import { decoderOf, markedEncoding } from './decode.ts'
import { EncodingSample } from './detect-encoding.ts'

/** An encoding as named by `encodingNamed`. */
export type Encoding = string

/** A text file, compressed with gzip if its name ends with `.gz`. */
export interface TextFile {
  readonly path: string
  /** Name for messages; the last part of the path by default. */
  readonly name?: string
  /** By default according to the byte order mark, or detected from the bytes: utf-8 if they are valid. */
  readonly encoding?: Encoding
  /** Bytes that are read at a time. */
  readonly chunkSize?: number
  /** Reads the bytes if they are not simply those of the file at the path: decompressed, or a member of an archive. */
  readonly pieces?: (chunkSize: number) => AsyncIterable<Buffer>
}

/** Name of a file for messages. */
export function fileNameOf(file: TextFile): string {
  return file.name ?? basename(file.path)
}

/**
 * Reads a file as text, chunk by chunk, without its byte order mark. Throws SourceUnreadable for a file that cannot be opened or
 * decompressed, and for bytes that are invalid in the encoding, with their line and column.
 */
export async function* readText(file: TextFile): AsyncIterable<string> {
  const bytes = readBytes(file)[Symbol.asyncIterator]()
  try {
    let head: Buffer = Buffer.alloc(0)
    while (head.length < 4) {
      const next = await bytes.next()
      if (next.done) break
      head = Buffer.concat([head, next.value])
    }
    const encoding = await encodingOf(file, head)
    const decoder = decoderOf(encoding)
    let offset = 0
    for (let chunk = head; ; ) {
      const text = attempt(() => decoder.decode(chunk))
      if (text === undefined) throw await illFormed(file, encoding, offset - LOOK_BACK)
      if (text !== '') yield text
      offset += chunk.length
      const next = await bytes.next()
      if (next.done) break
      chunk = next.value
    }
    if (attempt(() => decoder.finish()) === undefined)
      throw await illFormed(file, encoding, offset - LOOK_BACK)
  } finally {
    await bytes.return?.()
  }
}

/** The encoding of a file: as declared, according to its byte order mark, or detected. */
async function encodingOf(file: TextFile, head: Buffer): Promise<Encoding> {
  const { encoding } = file
  const marked = markedEncoding(head)
  // The names UTF-16 and UTF-32 leave the order of bytes to the mark.
  if (marked !== undefined && (encoding === undefined || encoding === 'utf-8')) return marked
  if (marked === 'utf-16be' && encoding === 'utf-16le') return marked
  if (marked === 'utf-32be' && encoding === 'utf-32le') return marked
  return encoding ?? detectEncoding(file)
}

/** Bytes that are examined before the whole text is examined if they are not UTF-8. */
const FIRST_LOOK = 2 ** 20

/**
 * The encoding of a file that declares none: UTF-8 if its first megabyte is UTF-8 with non-ASCII characters, or if all of it is
 * ASCII; else detected from its bytes, which are then read to the end or until the sample is large enough.
 */
export async function detectEncoding(file: TextFile): Promise<Encoding> {
  const sample = new EncodingSample()
  let read = 0
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of readBytes({ ...file, chunkSize: FIRST_LOOK })) {
    if (read === 0) {
      const marked = markedEncoding(chunk)
      if (marked !== undefined) return marked
    }
    sample.add(chunk)
    read += chunk.length
    if (read <= FIRST_LOOK) rest = Buffer.concat([rest, chunk])
    if (sample.isFull || (read >= FIRST_LOOK && sample.hasOthers && sample.isUtf8)) break
  }
  return isUtf8Start(rest) && sample.isUtf8 ? 'utf-8' : sample.encoding()
}

/** True for valid UTF-8, apart from an incomplete last character. */
function isUtf8Start(bytes: Buffer): boolean {
  return (
    [0, 1, 2, 3].some(cut => isUtf8(bytes.subarray(0, Math.max(0, bytes.length - cut)))) &&
    !bytes.subarray(0, 4096).includes(0)
  )
}

function attempt(decode: () => string): string | undefined {
  try {
    return decode()
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Bytes that are read at a time: the rows of a larger piece would survive a garbage collection, which has to move them. */
const CHUNK = 2 ** 16

/** Reads the bytes of a file, decompressed. Throws SourceUnreadable for a file that cannot be opened or decompressed. */
export async function* readBytes(file: TextFile): AsyncGenerator<Buffer, void> {
  if (file.pieces !== undefined) {
    yield* file.pieces(file.chunkSize ?? CHUNK)
    return
  }
  const input = createReadStream(file.path, { highWaterMark: file.chunkSize ?? CHUNK })
  try {
    if (!file.path.endsWith('.gz')) yield* input as AsyncIterable<Buffer>
    else {
      const unpacked = createGunzip({ chunkSize: Math.max(64, file.chunkSize ?? CHUNK) })
      input.on('error', error => unpacked.destroy(error))
      yield* input.pipe(unpacked) as AsyncIterable<Buffer>
    }
  } catch (error) {
    throw fileUnreadable(error, fileNameOf(file))
  } finally {
    input.destroy()
  }
}

/** Bytes within which a new character begins, even across the end of a chunk. */
const LOOK_BACK = 8

/** Finds the first invalid byte by reading again, byte by byte from a position before it. */
async function illFormed(file: TextFile, encoding: Encoding, before: number): Promise<Error> {
  const decoder = decoderOf(encoding)
  const position = { line: 1, column: 1, afterReturn: false }
  let offset = 0
  let sequence = 0
  search: for await (const chunk of readBytes(file)) {
    const whole = Math.max(0, Math.min(chunk.length, before - offset))
    advance(position, attempt(() => decoder.decode(chunk.subarray(0, whole))) ?? '')
    offset += whole
    if (whole > 0) sequence = offset
    for (let i = whole; i < chunk.length; i++) {
      const text = attempt(() => decoder.decode(chunk.subarray(i, i + 1)))
      if (text === undefined) break search
      advance(position, text)
      offset++
      if (text !== '') sequence = offset
    }
  }
  const place = { file: fileNameOf(file), line: position.line, column: position.column }
  const hint =
    encoding === 'utf-8'
      ? 'Write it as UTF-8 there, or, where the whole text is in another encoding, name that: options: { encoding: latin-1 }.'
      : 'Save the file as UTF-8, or name another encoding.'
  return unreadable(`The text is not ${encoding} at byte ${sequence}.`, place, hint)
}

function advance(position: { line: number; column: number; afterReturn: boolean }, text: string): void {
  for (const unit of text) {
    const feed = unit === '\n'
    if (feed && position.afterReturn) position.column = 1
    else if (feed || unit === '\r') {
      position.line++
      position.column = 1
    } else position.column += unit.length
    position.afterReturn = unit === '\r'
  }
}
