import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { createGunzip } from 'node:zlib'
import { unreadable } from './unreadable.ts'

/** Encodings of text that are read: latin-1 means windows-1252, as the Encoding Standard has it. */
export const ENCODINGS = ['utf-8', 'utf-16le', 'latin-1'] as const

/** An encoding of text. */
export type Encoding = (typeof ENCODINGS)[number]

/** UTF-16 may begin with a mark that tells the order of its bytes. */
type DecodedEncoding = Encoding | 'utf-16be'

/** A file of text, packed with gzip where its name ends with `.gz`. */
export interface TextFile {
  readonly path: string
  /** Name for messages; the last part of the path unless told. */
  readonly name?: string
  /** utf-8 unless told. A byte order mark of UTF-16 wins over utf-8. */
  readonly encoding?: Encoding
  /** Bytes that are read at a time. */
  readonly chunkSize?: number
}

/** Name of a file for messages. */
export function nameOf(file: TextFile): string {
  return file.name ?? basename(file.path)
}

/** The encoding that a name stands for: `UTF8`, `latin1`, `ISO-8859-1`, `windows-1252` …; undefined for another. */
export function encodingNamed(name: string): Encoding | undefined {
  const plain = name.toLowerCase().replace(/[-_ ]/g, '')
  if (plain === 'utf8') return 'utf-8'
  if (plain === 'utf16' || plain === 'utf16le') return 'utf-16le'
  return ['latin1', 'iso88591', 'windows1252', 'cp1252'].includes(plain) ? 'latin-1' : undefined
}

/**
 * Reads a file as text, chunk by chunk, without its byte order mark. Throws SourceUnreadable for a file that cannot
 * be opened or unpacked, and for bytes that are not of the encoding, with their line and column.
 */
export async function* readText(file: TextFile): AsyncIterable<string> {
  const bytes = readBytes(file)[Symbol.asyncIterator]()
  try {
    let head: Buffer = Buffer.alloc(0)
    while (head.length < 3) {
      const next = await bytes.next()
      if (next.done) break
      head = Buffer.concat([head, next.value])
    }
    const encoding = encodingOf(file, head)
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

interface Decoder {
  decode(bytes: Buffer): string
  finish(): string
}

/** What windows-1252 has at 0x80 to 0x9F (Encoding Standard, index windows-1252); TextDecoder of Node 20 lacks it. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

function decoderOf(encoding: DecodedEncoding): Decoder {
  if (encoding === 'latin-1') {
    return {
      decode: bytes =>
        bytes.toString('latin1').replace(/[\x80-\x9f]/g, c => WINDOWS_1252.charAt(c.charCodeAt(0) - 0x80)),
      finish: () => '',
    }
  }
  const decoder = new TextDecoder(encoding, { fatal: true })
  return { decode: bytes => decoder.decode(bytes, { stream: true }), finish: () => decoder.decode() }
}

function encodingOf(file: TextFile, head: Buffer): DecodedEncoding {
  const declared = file.encoding ?? 'utf-8'
  if (declared === 'utf-16le' && head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  if (declared !== 'utf-8') return declared
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) {
    const place = { file: nameOf(file), line: 1, column: 1 }
    throw unreadable('The file is UTF-16 with the most significant byte first.', place, 'Save it as UTF-8.')
  }
  return 'utf-8'
}

function attempt(decode: () => string): string | undefined {
  try {
    return decode()
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

async function* readBytes(file: TextFile): AsyncGenerator<Buffer, void> {
  const input = createReadStream(file.path, { highWaterMark: file.chunkSize ?? 1 << 18 })
  try {
    if (!file.path.endsWith('.gz')) yield* input as AsyncIterable<Buffer>
    else {
      const unpacked = createGunzip({ chunkSize: Math.max(64, file.chunkSize ?? 1 << 18) })
      input.on('error', error => unpacked.destroy(error))
      yield* input.pipe(unpacked) as AsyncIterable<Buffer>
    }
  } catch (error) {
    throw unreadable(`The file cannot be read: ${whyNot(error)}.`, { file: nameOf(file) }, undefined, error)
  } finally {
    input.destroy()
  }
}

function whyNot(error: unknown): string {
  const code = (error as { readonly code?: unknown }).code
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a folder'
  if (code === 'EACCES') return 'permission is denied'
  if (code === 'Z_BUF_ERROR') return 'the gzip data end too soon'
  return error instanceof Error ? error.message : String(error)
}

/** Bytes within which a character begins anew, even across the end of a chunk. */
const LOOK_BACK = 8

/** Finds the first ill-formed byte by reading again, byte by byte from a place that is known to be before it. */
async function illFormed(file: TextFile, encoding: DecodedEncoding, before: number): Promise<Error> {
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
  const place = { file: nameOf(file), line: position.line, column: position.column }
  const hint = encoding === 'utf-8' ? 'encoding: latin-1' : undefined
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
