const LANES = 4

/** Parts of a set, each with a table of its own: they grow one after the other, so that the old tables are no second set. */
const PARTS = 64
const FIRST_SLOTS = 2 ** 6

/**
 * A set of texts that keeps 128 bits of each, so that the triples of a file can be told apart without holding them: 21
 * to 43 bytes a text. Two texts of a billion are taken for one with a probability of 10^-21.
 */
export class LineSet {
  private readonly tables = Array.from({ length: PARTS }, () => new Uint32Array(LANES * FIRST_SLOTS))
  private readonly sizes = new Uint32Array(PARTS)
  private readonly hash = new Uint32Array(LANES)
  private buffer = Buffer.allocUnsafe(1024)

  /** Adds a text; false where it was there already. */
  add(text: string): boolean {
    // UTF-8 takes at most three bytes for each unit of UTF-16.
    if (3 * text.length > this.buffer.length) this.buffer = Buffer.allocUnsafe(6 * text.length)
    return this.addBytes(this.buffer, 0, this.buffer.write(text))
  }

  /** Adds the text that is in a range of bytes, in UTF-8; false where it was there already. */
  addBytes(bytes: Uint8Array, from: number, to: number): boolean {
    digest(bytes, from, to, this.hash)
    const part = (this.hash[2] ?? 0) % PARTS
    let table = this.tables[part] as Uint32Array<ArrayBuffer>
    const size = this.sizes[part] ?? 0
    if (4 * LANES * (size + 1) > 3 * table.length) {
      table = grown(table)
      this.tables[part] = table
    }
    if (!place(table, this.hash)) return false
    this.sizes[part] = size + 1
    return true
  }
}

function grown(old: Uint32Array): Uint32Array<ArrayBuffer> {
  const slots = new Uint32Array(2 * old.length)
  for (let at = 0; at < old.length; at += LANES) if (old[at] !== 0) place(slots, old.subarray(at, at + LANES))
  return slots
}

/** Open addressing with linear probing; the first lane of a digest is never 0, which marks a free slot. */
function place(slots: Uint32Array, hash: Uint32Array): boolean {
  const mask = slots.length / LANES - 1
  for (let index = (hash[1] ?? 0) & mask; ; index = (index + 1) & mask) {
    const at = LANES * index
    if (slots[at] === 0) {
      slots.set(hash, at)
      return true
    }
    if (
      slots[at] === hash[0] &&
      slots[at + 1] === hash[1] &&
      slots[at + 2] === hash[2] &&
      slots[at + 3] === hash[3]
    )
      return false
  }
}

const C1 = 0x239b961b
const C2 = 0xab0e9789 | 0
const C3 = 0x38b34ae5
const C4 = 0xa1e38b93 | 0

/** The digest of 128 bits of a range of bytes (MurmurHash3, x86, 128 bits). */
function digest(bytes: Uint8Array, from: number, to: number, into: Uint32Array): void {
  let [a, b, c, d] = [0, 0, 0, 0]
  let at = from
  for (; at + 16 <= to; at += 16) {
    a = (Math.imul((rotated(a ^ word(wordAt(bytes, at), C1, 15, C2), 19) + b) | 0, 5) + 0x561ccd1b) | 0
    b = (Math.imul((rotated(b ^ word(wordAt(bytes, at + 4), C2, 16, C3), 17) + c) | 0, 5) + 0x0bcaa747) | 0
    c = (Math.imul((rotated(c ^ word(wordAt(bytes, at + 8), C3, 17, C4), 15) + d) | 0, 5) + 0x96cd1c35) | 0
    d = (Math.imul((rotated(d ^ word(wordAt(bytes, at + 12), C4, 18, C1), 13) + a) | 0, 5) + 0x32ac3b17) | 0
  }
  d ^= word(tailAt(bytes, at + 12, to), C4, 18, C1)
  c ^= word(tailAt(bytes, at + 8, to), C3, 17, C4)
  b ^= word(tailAt(bytes, at + 4, to), C2, 16, C3)
  a ^= word(tailAt(bytes, at, to), C1, 15, C2)
  const length = to - from
  a ^= length
  b ^= length
  c ^= length
  d ^= length
  a = (a + b + c + d) | 0
  b = (b + a) | 0
  c = (c + a) | 0
  d = (d + a) | 0
  a = mixed(a)
  b = mixed(b)
  c = mixed(c)
  d = mixed(d)
  a = (a + b + c + d) >>> 0
  into[0] = a === 0 ? 1 : a
  into[1] = (b + a) >>> 0
  into[2] = (c + a) >>> 0
  into[3] = (d + a) >>> 0
}

function word(value: number, first: number, by: number, second: number): number {
  return Math.imul(rotated(Math.imul(value, first), by), second)
}

function rotated(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by))
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}

/** As {@link wordAt}, with zeros for what is beyond the end. */
function tailAt(bytes: Uint8Array, at: number, to: number): number {
  let value = 0
  for (let i = 0; i < 4 && at + i < to; i++) value |= (bytes[at + i] as number) << (8 * i)
  return value
}

function mixed(value: number): number {
  let mix = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
  return mix ^ (mix >>> 16)
}
