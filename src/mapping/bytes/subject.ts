import type { WrittenTriple } from '../triple-text.ts'
import type { ByteRow } from './row.ts'
import type { ByteTerm } from './terms.ts'

/** The subject of a resource for the row that is being mapped, shared by its statements and the links to it. */
export class ByteSubject {
  /** The cells that it is made of; null where that is not all. */
  readonly cells: readonly number[] | null
  bytes: Buffer = Buffer.alloc(1024)
  length = 0
  private row = -1
  private made = false
  /** Where it stands in the output already; -1 for nowhere. */
  private at = -1
  private readonly quick: ByteTerm | null
  private readonly slow: () => string | null

  /**
   * @param quick writes it as bytes where the cells are simple
   * @param slow the term as text, null where there is none or several
   */
  constructor(quick: ByteTerm | null, slow: () => string | null) {
    this.cells = quick === null ? null : quick.cells
    this.quick = quick
    this.slow = slow
  }

  /** Makes it once for each row; false where the row has none, or several. */
  make(row: ByteRow, number: number): boolean {
    if (this.row === number) return this.made
    this.row = number
    this.at = -1
    const end = this.quick === null ? -1 : this.quick.write(row, this.roomFor(this.quick.max(row)), 0)
    this.made = end >= 0
    if (this.made) this.length = end
    else {
      const text = this.slow()
      if (text === null) return false
      this.length = this.roomFor(3 * text.length).write(text)
      this.made = true
    }
    return this.made
  }

  /** Copies it into bytes that are not the output; gives where it ends there. */
  copy(target: Uint8Array, at: number): number {
    const { bytes, length } = this
    for (let i = 0; i < length; i++) target[at + i] = bytes[i] as number
    return at + length
  }

  /** Begins a line with it, for which there is room; gives where it ends. */
  begin(out: WrittenTriple): number {
    const { length } = out
    if (this.at < 0) {
      this.at = length
      return this.copy(out.bytes, length)
    }
    if (this.at !== length) out.bytes.copyWithin(length, this.at, this.at + this.length)
    return length + this.length
  }

  /** Called where a line begins whose bytes are given up. */
  forget(begin: number): void {
    if (this.at === begin) this.at = -1
  }

  text(): string {
    return this.bytes.toString('utf8', 0, this.length)
  }

  private roomFor(length: number): Buffer {
    if (length > this.bytes.length) this.bytes = Buffer.alloc(2 * length)
    return this.bytes
  }
}
