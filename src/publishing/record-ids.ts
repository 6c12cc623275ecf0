import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'

/** Bytes of an id: forty hexadecimal digits. */
export const ID_BYTES = 20

/** Ids that are held before they are written. */
const PIECE_IDS = 4096

/**
 * The ids of the records of one version in their order, twenty bytes each. With a file they are written as they come and
 * read where one of them is asked for; without they are held.
 */
export class RecordIds {
  private file: number | null
  private held: Buffer = Buffer.alloc(ID_BYTES * 16)
  private heldBytes = 0
  /** Bytes in the file, or in full pieces. */
  private writtenBytes = 0
  /** Full pieces, where there is no file. */
  private readonly pieces: Buffer[] = []
  /** The id that was read last: where all records are equal it is asked for again and again. */
  private read = { offset: -1, id: '' }

  /** @param file where they are written; null for ids that nobody needs later */
  constructor(file: string | null) {
    this.file = file === null ? null : openSync(file, 'w+')
  }

  /** Number of ids so far. */
  get length(): number {
    return (this.writtenBytes + this.heldBytes) / ID_BYTES
  }

  /** @param id forty hexadecimal digits */
  add(id: string): void {
    if (this.heldBytes === this.held.length) this.makeRoom()
    this.heldBytes += this.held.write(id, this.heldBytes, ID_BYTES, 'hex')
  }

  /** The id of the record at a position. */
  at(position: number): string {
    const offset = position * ID_BYTES
    const start = offset - this.writtenBytes
    if (start >= 0) return this.held.toString('hex', start, start + ID_BYTES)
    if (this.read.offset !== offset) this.read = { offset, id: this.readAt(offset) }
    return this.read.id
  }

  /** Ends the file, which is on the disk when this returns. */
  close(): void {
    if (this.file === null) return
    this.writeHeld(this.file)
    fsyncSync(this.file)
    this.abandon()
  }

  /** Gives up: closes the file without caring for what it holds. */
  abandon(): void {
    if (this.file !== null) closeSync(this.file)
    this.file = null
  }

  private makeRoom(): void {
    if (this.heldBytes < ID_BYTES * PIECE_IDS)
      this.held = Buffer.concat([this.held, Buffer.alloc(this.held.length)])
    else if (this.file !== null) this.writeHeld(this.file)
    else {
      this.pieces.push(this.held)
      this.held = Buffer.alloc(this.held.length)
      this.writtenBytes += this.heldBytes
      this.heldBytes = 0
    }
  }

  private writeHeld(file: number): void {
    for (let at = 0; at < this.heldBytes; ) at += writeSync(file, this.held, at, this.heldBytes - at)
    this.writtenBytes += this.heldBytes
    this.heldBytes = 0
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
