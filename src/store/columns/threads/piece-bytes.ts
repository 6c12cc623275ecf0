/** Bytes at the beginning of the memory in which parts of an answer that come again are held. */
const HELD = 2 ** 20

/** Bytes for the text of a piece; a longer one has more. */
const ROOM = 2 ** 19

/** Longer parts are not held. */
const LONGEST = 400

/** Characters of a text whose bytes are counted before it is written: of a shorter one, the most that they can be are reserved. */
const LONG = 2 ** 16

/** Bytes that are copied one by one as quickly as together. */
const SHORT = 16

/** A text that is written again and again. */
export class HeldText {
  epoch = 0
  start = -1
  readonly bytes: Uint8Array

  constructor(text: string) {
    this.bytes = Buffer.from(text)
  }
}

/**
 * The piece of an answer that is being written, as UTF-8: what is held of what was written before is copied within the same
 * memory. A thread writes one piece at a time, so that it has one of these for all its answers.
 */
export class PieceBytes {
  /** Changes whenever what is held is forgotten. */
  epoch = 0
  private bytes: Buffer<ArrayBuffer> = Buffer.alloc(HELD + ROOM)
  private end = HELD
  private heldEnd = 0
  private marked = HELD

  /** Number of bytes of the piece. */
  get length(): number {
    return this.end - HELD
  }

  /** A place in the piece; to be given back before it is taken. */
  get place(): number {
    return this.end
  }

  /** Forgets what is held: of another answer. */
  begin(): void {
    this.heldEnd = 0
    this.epoch += 1
    this.drop()
  }

  /** Takes back all that was written. */
  drop(): void {
    this.end = HELD
    this.marked = HELD
  }

  text(text: string): void {
    this.reserve(text.length > LONG ? Buffer.byteLength(text) : 3 * text.length)
    this.end += this.bytes.write(text, this.end)
  }

  /**
   * Writes bytes of UTF-8 from one to another that stay as they are; false where one does not: then nothing is written.
   *
   * @param plain 1 for each byte that stays
   */
  plain(source: Uint8Array, from: number, to: number, plain: Uint8Array): boolean {
    this.reserve(to - from)
    const { bytes } = this
    let { end } = this
    for (let at = from; at < to; at++) {
      const byte = source[at] as number
      if (plain[byte] !== 1) return false
      bytes[end++] = byte
    }
    this.end = end
    return true
  }

  /** Holds what was written from a place on; -1 where it is too long, else where it is held. */
  hold(from: number): number {
    const length = this.end - from
    if (length > LONGEST) return -1
    if (this.heldEnd + length > HELD) {
      this.heldEnd = 0
      this.epoch += 1
    }
    const start = this.heldEnd
    this.bytes.copyWithin(start, from, this.end)
    this.heldEnd += length
    return start
  }

  /** Writes again what is held. */
  copy(start: number, length: number): void {
    this.reserve(length)
    this.bytes.copyWithin(this.end, start, start + length)
    this.end += length
  }

  /** Writes a text, the copy of it that is held if there is one. */
  again(text: HeldText): void {
    const { bytes, start, epoch } = text
    if (bytes.length <= SHORT) {
      this.reserve(bytes.length)
      for (let at = 0; at < bytes.length; at++) this.bytes[this.end++] = bytes[at] as number
      return
    }
    if (start >= 0 && epoch === this.epoch) {
      this.copy(start, bytes.length)
      return
    }
    const from = this.end
    this.reserve(bytes.length)
    this.bytes.set(bytes, from)
    this.end += bytes.length
    text.start = this.hold(from)
    text.epoch = this.epoch
  }

  /** Takes back what was written from a place on. */
  backTo(place: number): void {
    this.end = place
  }

  /** What was written up to here stays, whatever becomes of what follows. */
  mark(): void {
    this.marked = this.end
  }

  /** Takes back what was written since the last mark. */
  backToMark(): void {
    this.end = this.marked
  }

  /** The piece; the next one begins. */
  take(): Uint8Array<ArrayBuffer> {
    const piece = new Uint8Array(this.bytes.buffer.slice(HELD, this.end))
    this.drop()
    if (this.bytes.length > 4 * (HELD + ROOM)) {
      this.bytes = Buffer.alloc(HELD + ROOM)
      this.begin()
    }
    return piece
  }

  private reserve(length: number): void {
    if (this.end + length <= this.bytes.length) return
    const larger = Buffer.alloc(Math.max(2 * this.bytes.length, this.end + length))
    this.bytes.copy(larger, 0, 0, this.end)
    this.bytes = larger
  }
}
