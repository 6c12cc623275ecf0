import type { ByteRow } from './row.ts'

/** Blocks that are remembered. */
const SLOTS = 2 ** 14
/** Bytes of the longest cells that are remembered. */
const KEY = 64
/** Rows after which it shows whether remembering pays, and how many of them have to be repeats. */
const TRIAL = 2 ** 14
const FEWEST = TRIAL / 4

/** Bytes that no UTF-8 has. */
const CELL_END = 0xff
const NO_VALUE = 0xfe

/**
 * Finds rows that tell of a resource what an earlier one reported: the city of many places. It forgets, but is never wrong: the
 * cells of which the lines are made have to be the same. Where few rows repeat, it gives up looking.
 */
export class Repeats {
  private readonly cells: readonly number[]
  private readonly key: Uint8Array = new Uint8Array(KEY)
  private readonly known: Uint8Array = new Uint8Array(SLOTS * KEY)
  private readonly lengths: Uint8Array = new Uint8Array(SLOTS)
  private slot = 0
  private length = 0
  private rows = 0
  private found = 0
  private isOff = false

  /** @param cells of which all lines of the resource are made */
  constructor(cells: readonly number[]) {
    this.cells = cells
  }

  /** True where the lines of a row were written before. */
  has(row: ByteRow): boolean {
    if (this.isOff) return false
    if (++this.rows === TRIAL && this.found < FEWEST) this.isOff = true
    if (!this.read(row) || this.lengths[this.slot] !== this.length) return false
    const { key, known, length } = this
    const begin = this.slot * KEY
    for (let i = 0; i < length; i++) if (known[begin + i] !== key[i]) return false
    this.found++
    return true
  }

  /** Remembers the row that was asked for last. */
  add(): void {
    if (this.isOff || this.length === 0) return
    this.known.set(this.key, this.slot * KEY)
    this.lengths[this.slot] = this.length
  }

  /** The key of a row and its slot (FNV-1a); false where it is too long. */
  private read({ bytes, starts, ends }: ByteRow): boolean {
    const { key, cells } = this
    let length = 0
    let hash = 0x811c9dc5
    this.length = 0
    for (let n = 0; n < cells.length; n++) {
      const cell = cells[n] as number
      const from = starts[cell] as number
      const to = ends[cell] as number
      if (length + to - from + 1 > KEY) return false
      for (let i = from; i < to; i++) {
        const byte = bytes[i] as number
        key[length++] = byte
        hash = Math.imul(hash ^ byte, 0x01000193)
      }
      key[length++] = from < 0 ? NO_VALUE : CELL_END
      hash = Math.imul(hash ^ CELL_END, 0x01000193)
    }
    this.length = length
    this.slot = (hash ^ (hash >>> 15)) & (SLOTS - 1)
    return true
  }
}
