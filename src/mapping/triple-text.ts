/** Bytes of a piece; a single record may exceed it. */
const PIECE_BYTES = 8 * 2 ** 20

/** Triples of a piece. */
const PIECE_TRIPLES = 100_000

/** Spare capacity after the end of a piece, so that the record that completes it seldom needs a larger buffer. */
const ROOM = 2 ** 16

/**
 * Collects N-Triples text and returns it in bounded pieces of UTF-8: a piece ends after a whole record, once it has about a
 * hundred thousand triples or eight megabytes.
 *
 * Each record is encoded as soon as it is written: a long string with one character beyond Latin-1 would take two bytes for each
 * of its characters, and joining it costs more than the whole mapping.
 */
export class WrittenTriple {
  /** Triples of all pieces so far. */
  triples = 0
  /** The current piece and free capacity after it; replaced by {@link add} and {@link take}. */
  bytes: Buffer
  /** Bytes of the current piece. */
  length = 0
  private readonly size: number
  /** The buffer of the piece that was borrowed before. */
  private spare: Buffer | null = null
  private before = 0

  /** @param size bytes of a piece */
  constructor(size: number = PIECE_BYTES) {
    this.size = size
    this.bytes = Buffer.allocUnsafeSlow(size + ROOM)
  }

  /** Adds whole lines of N-Triples. */
  add(lines: string, triples: number): void {
    // UTF-8 takes at most three bytes for each UTF-16 unit.
    this.reserve(3 * lines.length)
    this.length += this.bytes.write(lines, this.length)
    this.triples += triples
  }

  /** Ensures capacity for so many more bytes. */
  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(2 * this.bytes.length + more)
    this.bytes.copy(larger, 0, 0, this.length)
    this.bytes = larger
  }

  /** True once the piece is large enough to be taken. */
  isFull(): boolean {
    return this.triples - this.before >= PIECE_TRIPLES || this.length >= this.size
  }

  /** Returns the piece and starts an empty one. */
  take(): Buffer {
    const piece = this.end()
    this.bytes = Buffer.allocUnsafeSlow(this.size + ROOM)
    return piece
  }

  /** Returns the piece for a caller that is done with it before the one after the next is begun, which overwrites it. */
  borrowBuffer(): Buffer {
    const { bytes } = this
    const piece = this.end()
    this.bytes = this.spare ?? Buffer.allocUnsafeSlow(this.size + ROOM)
    this.spare = bytes
    return piece
  }

  private end(): Buffer {
    const piece = this.bytes.subarray(0, this.length)
    this.length = 0
    this.before = this.triples
    return piece
  }
}
