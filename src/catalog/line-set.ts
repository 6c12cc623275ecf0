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

  /** Adds a text; false where it was there already. */
  add(text: string): boolean {
    digest(text, this.hash)
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

/** Four lanes of multiplication and rotation over the characters, mixed as MurmurHash3 does. */
function digest(text: string, into: Uint32Array): void {
  let [a, b, c, d] = [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    a = b ^ Math.imul(a ^ code, 0x239b961b)
    b = c ^ Math.imul(b ^ code, 0xab0e9789)
    c = d ^ Math.imul(c ^ code, 0x38b34ae5)
    d = a ^ Math.imul(d ^ code, 0xa1e38b93)
  }
  a = mixed(a ^ text.length)
  b = mixed(b ^ a)
  c = mixed(c ^ b)
  d = mixed(d ^ c)
  into[0] = a === 0 ? 1 : a
  into[1] = b
  into[2] = c
  into[3] = d
}

function mixed(value: number): number {
  let mix = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
  return (mix ^ (mix >>> 16)) >>> 0
}
