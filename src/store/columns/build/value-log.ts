import { closeSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { Arena, NumberReader } from '../bytes.ts'

/** Bytes of a chunk of a log: chunks end with whole entries. */
const PIECE_BYTES = 2 ** 18

/** Maximum bytes of all logs in memory before they are moved to the file. */
const MEMORY_BYTES = 160 * 2 ** 20

/** Spill file for logs that do not fit into memory: one file for all, removed at the end. */
export class SpillFile {
  buffered = 0
  private readonly path: string | null
  private readonly limit: number
  private readonly logs = new Set<ValueLog>()
  private file: number | null = null
  private length = 0

  /** @param path of the file; null keeps everything in memory */
  constructor(path: string | null, limit = MEMORY_BYTES) {
    this.path = path
    this.limit = limit
  }

  add(log: ValueLog): void {
    this.logs.add(log)
  }

  /** Counts bytes that a log buffers, and spills all logs when they exceed the limit. */
  countBuffered(bytes: number): void {
    this.buffered += bytes
    if (this.buffered < this.limit || this.path === null) return
    for (const log of this.logs) log.spill()
    this.buffered = 0
  }

  write(piece: Uint8Array): number {
    if (this.path === null) throw new Error('there is no file to write to')
    this.file ??= openSync(this.path, 'w+')
    const offset = this.length
    writeFileSync(this.file, piece)
    this.length += piece.length
    return offset
  }

  read(offset: number, length: number): Buffer {
    const piece = Buffer.allocUnsafe(length)
    if (this.file === null) throw new Error('nothing was written')
    for (let done = 0; done < length; ) {
      const count = readSync(this.file, piece, done, length - done, offset + done)
      if (count === 0) throw new Error('the file of values ends too soon')
      done += count
    }
    return piece
  }

  close(): void {
    if (this.file === null) return
    closeSync(this.file)
    if (this.path !== null) rmSync(this.path, { force: true })
    this.file = null
  }
}

/** The values of one predicate in order of occurrence, in memory or in the file. */
export class ValueLog {
  entries = 0
  private readonly spillFile: SpillFile
  private readonly pieces: (Buffer | { readonly at: number; readonly length: number })[] = []
  private pending = new Arena(2 ** 10)
  private last = 0

  constructor(spillFile: SpillFile) {
    this.spillFile = spillFile
    spillFile.add(this)
  }

  addResource(subject: number, resource: number): void {
    this.begin(subject)
    this.pending.addNumber(0)
    this.pending.addNumber(resource)
    this.end()
  }

  /** @param ending from 1 */
  addLiteral(subject: number, ending: number, bytes: Uint8Array, start: number, end: number): void {
    this.begin(subject)
    this.pending.addNumber(ending)
    this.pending.addNumber(end - start)
    this.pending.add(bytes, start, end)
    this.end()
  }

  /** Starts reading the entries. */
  reader(): LogReader {
    const { pending, pieces, spillFile } = this
    const last = pending.bytes.subarray(0, pending.length)
    return new LogReader(number => {
      const piece = pieces[number]
      if (piece === undefined) return number === pieces.length ? last : null
      return Buffer.isBuffer(piece) ? piece : spillFile.read(piece.at, piece.length)
    })
  }

  /** Moves the entries in memory to the file. */
  spill(): void {
    this.closePiece()
    for (let at = 0; at < this.pieces.length; at++) {
      const piece = this.pieces[at]
      if (Buffer.isBuffer(piece)) this.pieces[at] = { at: this.spillFile.write(piece), length: piece.length }
    }
  }

  /** Releases everything. */
  clear(): void {
    this.pieces.length = 0
    this.pending = new Arena(0)
  }

  private begin(subject: number): void {
    const step = subject - this.last
    this.pending.addNumber(step >= 0 ? 2 * step : -2 * step - 1)
    this.last = subject
    this.entries += 1
  }

  private end(): void {
    if (this.pending.length < PIECE_BYTES) return
    const { length } = this.pending
    this.closePiece()
    this.spillFile.countBuffered(length)
  }

  private closePiece(): void {
    const { bytes, length } = this.pending
    if (length === 0) return
    this.pieces.push(Buffer.from(bytes.subarray(0, length)))
    this.pending.length = 0
  }
}

/** Reads a log sequentially: the fields are those of the last entry read. */
class LogReader {
  subject = 0
  /** Number of the literal's ending, from 1; 0 where the value is a resource. */
  ending = 0
  resource = 0
  bytes: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  private readonly pieceAt: (number: number) => Buffer | null
  private number = 0
  private readonly numbers = new NumberReader(this.bytes)

  constructor(pieceAt: (number: number) => Buffer | null) {
    this.pieceAt = pieceAt
  }

  /** Reads the next entry; false after the last. */
  next(): boolean {
    const { numbers } = this
    while (numbers.at >= this.bytes.length) {
      const piece = this.pieceAt(this.number++)
      if (piece === null) return false
      this.bytes = piece
      numbers.begin(piece)
    }
    const step = numbers.next()
    this.subject += step % 2 === 0 ? step / 2 : -(step + 1) / 2
    this.ending = numbers.next()
    if (this.ending === 0) this.resource = numbers.next()
    else {
      const length = numbers.next()
      this.start = numbers.at
      this.end = this.start + length
      numbers.at = this.end
    }
    return true
  }
}
