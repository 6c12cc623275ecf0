import { BACKSLASH, QUOTE, stringEnd } from './json-bytes-value.ts'

/** Names of members that are remembered. */
const MAX = 200

/**
 * Tells the names of members in bytes. Records of a file have the same members in the same order, so that a name nearly
 * always is the one that came after the last name before: it is compared, and neither searched nor decoded.
 */
export class KeyBook {
  /** The cell of the name that was read last; -1 for a name that is not asked for. */
  cell = -1
  /** True where the last name has escapes, so that it may be any. */
  isEscaped = false
  private readonly wanted: ReadonlyMap<string, number>
  private readonly keys: Uint8Array[] = []
  private readonly cells: number[] = []
  /** The name that came after each; the first entry is for the begin of a record. */
  private readonly after = new Uint8Array(MAX + 1)
  /** One more than the index of the last name. */
  private last = 0

  constructor(names: readonly string[]) {
    this.wanted = new Map(names.map((name, index) => [name, index]))
  }

  /** Begins a record. */
  begin(): void {
    this.last = 0
  }

  /** Reads a name whose opening quote is before `from`; gives its closing quote, or the complement of a fault. */
  read(bytes: Buffer, from: number): number {
    const guess = this.after[this.last] as number
    const key = this.keys[guess]
    this.isEscaped = false
    if (key === undefined || !isAt(bytes, from, key)) return this.search(bytes, from)
    this.last = guess + 1
    this.cell = this.cells[guess] as number
    return from + key.length
  }

  private search(bytes: Buffer, from: number): number {
    const to = stringEnd(bytes, from)
    if (to < 0) return to
    let known = this.keys.findIndex(key => key.length === to - from && isAt(bytes, from, key))
    if (known < 0) {
      const key = Uint8Array.from(bytes.subarray(from, to))
      this.isEscaped = key.includes(BACKSLASH)
      this.cell = this.isEscaped ? -1 : (this.wanted.get(bytes.toString('utf8', from, to)) ?? -1)
      if (this.isEscaped || this.keys.length === MAX) return to
      known = this.keys.push(key) - 1
      this.cells.push(this.cell)
    }
    this.cell = this.cells[known] as number
    this.after[this.last] = known
    this.last = known + 1
    return to
  }
}

/** True where a name stands, up to its closing quote. */
function isAt(bytes: Uint8Array, from: number, key: Uint8Array): boolean {
  const { length } = key
  for (let i = 0; i < length; i++) if (bytes[from + i] !== key[i]) return false
  return bytes[from + length] === QUOTE
}
