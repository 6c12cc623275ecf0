import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'

/** Bytes of an id: forty hexadecimal digits. */
export const ID_BYTES = 20

/** Ids that are buffered before they are written. */
const PIECE_IDS = 4096

/**
 * The ids of the records of one version in their order, twenty bytes each. With a file they are written as they come and
 * read on demand; without a file they stay in memory.
 */
export class RecordIds {
  private file: number | null
  private buffer: Buffer = Buffer.alloc(ID_BYTES * 16)
  private bufferedBytes = 0
  /** Bytes in the file, or in full pieces. */
  private writtenBytes = 0
  /** Full pieces, where there is no file. */
  private readonly pieces: Buffer[] = []
  /** The id that was read last: where all records are equal it is read repeatedly. */
  private read = { offset: -1, id: '' }

  /** @param file where they are written; null for ids that are not needed later */
  constructor(file: string | null) {
    this.file = file === null ? null : openSync(file, 'w+')
  }

  /** Number of ids so far. */
  get length(): number {
    return (this.writtenBytes + this.bufferedBytes) / ID_BYTES
  }

  /** @param id forty hexadecimal digits */
  add(id: string): void {
    if (this.bufferedBytes === this.buffer.length) this.makeRoom()
    this.bufferedBytes += this.buffer.write(id, this.bufferedBytes, ID_BYTES, 'hex')
  }

  /** The id of the record at a position. */
  at(position: number): string {
    const offset = position * ID_BYTES
    const start = offset - this.writtenBytes
    if (start >= 0) return this.buffer.toString('hex', start, start + ID_BYTES)
    if (this.read.offset !== offset) this.read = { offset, id: this.readAt(offset) }
    return this.read.id
  }

  /** Ends the file, which is on the disk when this returns. */
  close(): void {
    if (this.file === null) return
    this.writeBuffered(this.file)
    fsyncSync(this.file)
    this.abandon()
  }

  /** Gives up: closes the file without caring for what it holds. */
  abandon(): void {
    if (this.file !== null) closeSync(this.file)
    this.file = null
  }

  private makeRoom(): void {
    if (this.bufferedBytes < ID_BYTES * PIECE_IDS)
      this.buffer = Buffer.concat([this.buffer, Buffer.alloc(this.buffer.length)])
    else if (this.file !== null) this.writeBuffered(this.file)
    else {
      this.pieces.push(this.buffer)
      this.buffer = Buffer.alloc(this.buffer.length)
      this.writtenBytes += this.bufferedBytes
      this.bufferedBytes = 0
    }
  }

  private writeBuffered(file: number): void {
    for (let at = 0; at < this.bufferedBytes; )
      at += writeSync(file, this.buffer, at, this.bufferedBytes - at)
    this.writtenBytes += this.bufferedBytes
    this.bufferedBytes = 0
  }

  private readAt(offset: number): string {
    const piece = this.pieces[Math.floor(offset / (ID_BYTES * PIECE_IDS))]
    const start = offset % (ID_BYTES * PIECE_IDS)
    if (piece !== undefined) return piece.toString('hex', start, start + ID_BYTES)
    const bytes = Buffer.alloc(ID_BYTES)
    if (this.file !== null) readSync(this.file, bytes, 0, ID_BYTES, offset)
    return bytes.toString('hex')
  }
}
