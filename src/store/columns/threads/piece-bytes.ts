/** Bytes at the start of the buffer in which repeated parts of an answer are cached. */
const CACHE_SIZE = 2 ** 20

/** Initial bytes for the text of a chunk; a longer one gets more. */
const ROOM = 2 ** 19

/** Longer parts are not cached. */
const MAX_CACHED_LENGTH = 400

/** Texts of at least this many characters are measured before they are written: for shorter ones the maximum size is reserved. */
const MEASURED_LENGTH = 2 ** 16

/** Up to this number of bytes copying them one by one is as fast. */
const BYTEWISE_LENGTH = 16

/**
 * The chunk of an answer that is being written, as UTF-8: cached parts of previous text are copied within the same memory. A
 * thread writes one chunk at a time, so it has one instance for all its answers.
 */
export class PieceBytes {
  /** Changes whenever the cache is cleared. */
  epoch = 0
  private bytes: Buffer<ArrayBuffer> = Buffer.alloc(CACHE_SIZE + ROOM)
  private end = CACHE_SIZE
  private cacheEnd = 0
  private marked = CACHE_SIZE

  /** Number of bytes of the chunk. */
  get length(): number {
    return this.end - CACHE_SIZE
  }

  /** A position in the chunk, for {@link backTo} before the chunk is taken. */
  get place(): number {
    return this.end
  }

  /** Clears the cache for another answer. */
  begin(): void {
    this.cacheEnd = 0
    this.epoch += 1
    this.drop()
  }

  /** Discards everything written. */
  drop(): void {
    this.end = CACHE_SIZE
    this.marked = CACHE_SIZE
  }

  text(text: string): void {
    this.reserve(text.length > MEASURED_LENGTH ? Buffer.byteLength(text) : 3 * text.length)
    this.end += this.bytes.write(text, this.end)
  }

  /**
   * Writes a range of UTF-8 bytes that need no escaping; false where one needs it: then nothing is written.
   *
   * @param plain 1 for each byte that needs no escaping
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

  /** Caches the text written from a position on; returns its position in the cache, or -1 if it is too long. */
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

  /** Writes encoded text. */
  encoded(text: Uint8Array): void {
    this.reserve(text.length)
    if (text.length > BYTEWISE_LENGTH) this.bytes.set(text, this.end)
    else for (let at = 0; at < text.length; at++) this.bytes[this.end + at] = text[at] as number
    this.end += text.length
  }

  /** Discards the text written from a position on. */
  backTo(place: number): void {
    this.end = place
  }

  /** Commits the text written so far: a later rollback does not affect it. */
  mark(): void {
    this.marked = this.end
  }

  /** Discards the text written since the last mark. */
  backToMark(): void {
    this.end = this.marked
  }

  /** Returns the chunk and starts the next one. */
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
