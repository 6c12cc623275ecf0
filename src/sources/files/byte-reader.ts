/** Reads byte sequences of requested lengths from pieces of any size. */
export class ByteReader {
  private readonly pieces: AsyncIterator<Buffer>
  private buffer: Buffer = Buffer.alloc(0)
  /** The bytes that were taken until now. */
  position = 0

  constructor(pieces: AsyncIterable<Buffer>) {
    this.pieces = pieces[Symbol.asyncIterator]()
  }

  /** The next bytes; fewer at the end, null after the end. */
  async take(length: number): Promise<Buffer | null> {
    if (this.buffer.length < length) {
      const parts = [this.buffer]
      let total = this.buffer.length
      while (total < length) {
        const next = await this.pieces.next()
        if (next.done === true) break
        parts.push(next.value)
        total += next.value.length
      }
      this.buffer = Buffer.concat(parts)
    }
    if (this.buffer.length === 0 && length > 0) return null
    const taken = this.buffer.subarray(0, length)
    this.buffer = this.buffer.subarray(taken.length)
    this.position += taken.length
    return taken
  }

  /** Ends reading, even if not all was read. */
  async close(): Promise<void> {
    await this.pieces.return?.()
  }
}
