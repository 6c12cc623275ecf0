/** Bytes at the start of the buffer in which repeated parts of an answer are cached. */
const CACHE_SIZE = 2 ** 20

/** Bytes for the text of a piece; a longer one has more. */
const ROOM = 2 ** 19

/** Longer parts are not cached. */
const MAX_CACHED_LENGTH = 400

/** Characters of a text whose bytes are counted before it is written: for a shorter one the maximum is reserved. */
const LONG = 2 ** 16

/** Bytes that are copied one by one as quickly as together. */
const SHORT = 16

/** A text that is written again and again. */
export class CachedText {
  epoch = 0
  start = -1
  readonly bytes: Uint8Array

  constructor(text: string) {
    this.bytes = Buffer.from(text)
  }
}

/**
 * The piece of an answer that is being written, as UTF-8: cached parts of what was written before are copied within the same
 * memory. A thread writes one piece at a time, so that it has one of these for all its answers.
 */
export class PieceBytes {
  /** Changes whenever the cache is cleared. */
  epoch = 0
  private bytes: Buffer<ArrayBuffer> = Buffer.alloc(CACHE_SIZE + ROOM)
  private end = CACHE_SIZE
  private cacheEnd = 0
  private marked = CACHE_SIZE

  /** Number of bytes of the piece. */
  get length(): number {
    return this.end - CACHE_SIZE
  }

  /** A place in the piece; to be given back before it is taken. */
  get place(): number {
    return this.end
  }

  /** Clears the cache for another answer. */
  begin(): void {
    this.cacheEnd = 0
    this.epoch += 1
    this.drop()
  }

  /** Takes back all that was written. */
  drop(): void {
    this.end = CACHE_SIZE
    this.marked = CACHE_SIZE
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

  /** Caches what was written from a position on; returns its position in the cache, or -1 if it is too long. */
  cache(from: number): number {
    const length = this.end - from
    if (length > MAX_CACHED_LENGTH) return -1
    if (this.cacheEnd + length > CACHE_SIZE) {
      this.cacheEnd = 0
      this.epoch += 1
    }
    const start = this.cacheEnd
    this.bytes.copyWithin(start, from, this.end)
    this.cacheEnd += length
    return start
  }

  /** Writes a cached part again. */
  copy(start: number, length: number): void {
    this.reserve(length)
    this.bytes.copyWithin(this.end, start, start + length)
    this.end += length
  }

  /** Writes a text, from the cache if it has a copy. */
  again(text: CachedText): void {
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
    text.start = this.cache(from)
    text.epoch = this.epoch
  }

  /** Takes back what was written from a place on. */
  backTo(place: number): void {
    this.end = place
  }

  /** Commits what was written so far: a later rollback does not affect it. */
  mark(): void {
    this.marked = this.end
  }

  /** Takes back what was written since the last mark. */
  backToMark(): void {
    this.end = this.marked
  }

  /** The piece; the next one begins. */
  take(): Uint8Array<ArrayBuffer> {
    const piece = new Uint8Array(this.bytes.buffer.slice(CACHE_SIZE, this.end))
    this.drop()
    if (this.bytes.length > 4 * (CACHE_SIZE + ROOM)) {
      this.bytes = Buffer.alloc(CACHE_SIZE + ROOM)
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
