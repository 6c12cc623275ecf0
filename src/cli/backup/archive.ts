import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, fstatSync, read } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { Header, Pack, Parser, ReadEntry } from 'tar'
import { Fault, SOURCE_UNREADABLE } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import type { BackupFile, OpenFile } from './contents.ts'
import { unreadableBackup } from './manifest.ts'

/** The size and checksum of a written file. */
export interface Summed {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly mode: number
  /** Modification time in milliseconds since 1970; absent for what is appended to. */
  readonly modified?: number
}

/** Most files are compressed already. */
const GZIP = { level: 1 }

/** Writes an archive (tar, compressed with gzip), file by file as a stream. */
export class ArchiveWriter {
  private readonly pack = new Pack({ gzip: GZIP, portable: true, strict: true })
  private readonly writing: Promise<void>
  private readonly failed: Promise<never>

  constructor(out: FileHandle) {
    this.writing = this.write(out)
    this.failed = this.writing.then(
      () => new Promise<never>(() => undefined),
      error => {
        throw error
      },
    )
    void ignoreRejection(this.failed, 'whoever adds a file gets it')
  }

  /** Writes one file and closes it. Faults: SourceUnreadable if it changes meanwhile. */
  async add(file: BackupFile): Promise<Summed> {
    if ('text' in file) {
      const { path, text, mode } = file
      const header = { path, size: Buffer.byteLength(text), mtime: new Date(0), mode }
      return this.entry(header, [Buffer.from(text)])
    }
    const { path, handle, size, mtimeMs, mode } = file
    try {
      const summed = await this.entry({ path, size, mtime: new Date(mtimeMs), mode }, piecesOf(file))
      return { ...summed, modified: mtimeMs }
    } finally {
      closeSync(handle)
    }
  }

  /** Ends the archive; resolves when it is completely written. */
  async end(): Promise<void> {
    this.pack.end()
    await this.writing
  }

  private async entry(
    header: {
      readonly path: string
      readonly size: number
      readonly mtime: Date
      readonly mode: number
    },
    pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
  ): Promise<Summed> {
    const { path, size, mode } = header
    const entry = new ReadEntry(new Header({ ...header, type: 'File' }))
    const hash = createHash('sha256')
    this.pack.add(entry)
    for await (const piece of pieces) {
      hash.update(piece)
      if (!entry.write(piece)) await Promise.race([once(entry, 'drain'), this.failed])
    }
    entry.end()
    return { path, bytes: size, sha256: hash.digest('hex'), mode }
  }

  private async write(out: FileHandle): Promise<void> {
    for await (const piece of this.pack) await out.writeFile(piece)
  }
}

/** The bytes of an open file, as many as it had when it was opened. */
async function* piecesOf({ path, handle, size, mtimeMs }: OpenFile): AsyncGenerator<Buffer> {
  let at = 0
  while (at < size) {
    const buffer = Buffer.allocUnsafe(Math.min(1 << 16, size - at))
    const { bytesRead } = await readPiece(handle, buffer, 0, buffer.length, at)
    if (bytesRead === 0) break
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
  const after = fstatSync(handle)
  if (at < size || after.size !== size || after.mtimeMs !== mtimeMs)
    throw new Fault(SOURCE_UNREADABLE, { reason: `${path} was written to while it was read: try again` })
}

const readPiece = promisify(read)

/**
 * Reads an archive file by file. Faults: SourceUnreadable if it is no archive, damaged, or truncated.
 *
 * @param take is called for each file in turn and must read it completely
 */
export async function readArchive(
  archive: string,
  take: (path: string, size: number, pieces: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  let failure: unknown = null
  let taking: Promise<void> = Promise.resolve()
  /** The file that is being read. */
  let reading: ReadEntry | null = null
  const fail = (error: unknown) => {
    failure ??= error
  }
  const parser = new Parser({
    strict: true,
    // The zeros of an empty database compress better than the limit for texts allows.
    maxDecompressionRatio: Number.POSITIVE_INFINITY,
    onReadEntry: entry => {
      taking = taking.then(async () => {
        if (failure === null && entry.type !== 'File')
          fail(unreadableBackup(archive, `${entry.path} is a ${entry.type}, and files alone are expected`))
        if (failure === null) {
          reading = entry
          await take(entry.path, entry.size, entry).catch(fail)
          reading = null
        }
        if (failure !== null) entry.resume()
      })
    },
  })
  const ended = new Promise<void>(resolve => {
    parser.on('end', resolve)
    parser.on('error', error => {
      fail(unreadableBackup(archive, brokenText(error as Error), error))
      // The rest of a file that was cut off never comes. The parser may still write what it has of it.
      setImmediate(() => reading?.end())
      resolve()
    })
  })
  for await (const piece of piecesOfFile(archive)) {
    if (failure !== null) break
    if (!parser.write(piece)) await Promise.race([once(parser, 'drain'), ended])
  }
  if (failure === null) parser.end()
  if (failure === null) await ended
  await taking
  if (failure !== null) throw failure
}

function brokenText({ message }: Error): string {
  return /unexpected end of file|^Truncated input/.test(message)
    ? `it was cut off, its end is missing (${message}): copy it again, or use another back-up`
    : `it cannot be read as an archive: ${message}`
}

async function* piecesOfFile(file: string): AsyncGenerator<Buffer> {
  const handle = await open(file, 'r').catch(error => {
    throw unreadableBackup(file, `it cannot be opened: ${(error as NodeJS.ErrnoException).code}`)
  })
  if ((await handle.stat()).isDirectory()) {
    await handle.close()
    throw unreadableBackup(file, 'it is a folder: an archive is expected')
  }
  yield* handle.createReadStream({ highWaterMark: 1 << 16 })
}
