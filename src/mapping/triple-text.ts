/** Bytes of a piece; one record may make it longer. */
const PIECE_BYTES = 8 * 2 ** 20

/** Triples of a piece. */
const PIECE_TRIPLES = 100_000

/**
 * Gathers N-Triples text and gives it out in bounded pieces of UTF-8: a piece ends after a whole record, once it holds
 * about a hundred thousand triples or eight megabytes.
 *
 * Each record is encoded as soon as it is written: a long string that holds one character beyond Latin-1 would take
 * two bytes for each of all its characters, and joining it costs more than all the mapping.
 */
export class TripleText {
  /** Triples of all pieces so far. */
  triples = 0
  private bytes: Buffer = Buffer.allocUnsafe(PIECE_BYTES)
  private length = 0
  private pending = 0

  /** Adds whole lines of N-Triples. */
  add(lines: string, triples: number): void {
    // UTF-8 takes at most three bytes for each unit of UTF-16.
    if (this.length + 3 * lines.length > this.bytes.length) this.grow(3 * lines.length)
    this.length += this.bytes.write(lines, this.length)
    this.pending += triples
    this.triples += triples
  }

  /** True once the piece is large enough to be given out. */
  isFull(): boolean {
    return this.pending >= PIECE_TRIPLES || this.length >= PIECE_BYTES - 2 ** 16
  }

  /** The piece, which is then empty again. */
  take(): Buffer {
    const piece = this.bytes.subarray(0, this.length)
    this.bytes = Buffer.allocUnsafe(PIECE_BYTES)
    this.length = 0
    this.pending = 0
    return piece
  }

  private grow(more: number): void {
    const larger = Buffer.allocUnsafe(2 * this.bytes.length + more)
    this.bytes.copy(larger, 0, 0, this.length)
    this.bytes = larger
  }
}
