const LANES = 4
/** Bytes that are mixed at a time. */
const BLOCK = 16

/** Partitions of a set, each with its own table: they grow one after another, so that the old tables never amount to a second set. */
const PARTS = 64
const FIRST_SLOTS = 2 ** 6

/**
 * A set of texts that stores a 128-bit digest of each, so that the triples of a file can be distinguished without storing them:
 * 21 to 43 bytes per text. Among a billion texts, two are confused with a probability of 10^-21.
 */
export class LineSet {
  private readonly tables = Array.from({ length: PARTS }, () => new Uint32Array(LANES * FIRST_SLOTS))
  private readonly sizes = new Uint32Array(PARTS)
  private readonly hash = new Uint32Array(LANES)
  /** Buffer for texts, and for ranges shorter than a block. */
  private own = Buffer.alloc(1024)
  private ownView = viewOf(this.own)
  private bytes: Uint8Array = this.own
  private view = this.ownView

  /** Adds a text; false if it is already present. */
  add(text: string): boolean {
    // UTF-8 takes at most three bytes for each unit of UTF-16.
    if (3 * text.length + BLOCK > this.own.length) {
      this.own = Buffer.alloc(6 * text.length + BLOCK)
      this.ownView = viewOf(this.own)
    }
    return this.addOwn(this.own.write(text))
  }

  /** Adds the UTF-8 text in a range of bytes; false if it is already present. */
  addBytes(bytes: Uint8Array, from: number, to: number): boolean {
    if (to - from < BLOCK) {
      this.own.set(bytes.subarray(from, to))
      return this.addOwn(to - from)
    }
    this.digestBytes(bytes, from, to)
    return this.addDigest()
  }

  /** Whether the text in a range of at least {@link BLOCK} bytes is present. */
  hasBytes(bytes: Uint8Array, from: number, to: number): boolean {
    this.digestBytes(bytes, from, to)
    const [a = 0, b = 0, c = 0, d = 0] = this.hash
    const slots = this.tables[c % PARTS] as Uint32Array
    const mask = slots.length / LANES - 1
    for (let index = b & mask; ; index = (index + 1) & mask) {
      const at = LANES * index
      if (slots[at] === 0) return false
      if (slots[at] === a && slots[at + 1] === b && slots[at + 2] === c && slots[at + 3] === d) return true
    }
  }

  private digestBytes(bytes: Uint8Array, from: number, to: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes
      this.view = viewOf(bytes)
    }
    digest(this.view, from, to, to - from, this.hash)
  }

  private addOwn(length: number): boolean {
    if (length < BLOCK) this.own.fill(0, length, BLOCK)
    digest(this.ownView, 0, Math.max(length, BLOCK), length, this.hash)
    return this.addDigest()
  }

  private addDigest(): boolean {
    const [a = 0, b = 0, c = 0, d = 0] = this.hash
    const part = c % PARTS
    let table = this.tables[part] as Uint32Array<ArrayBuffer>
    const size = this.sizes[part] ?? 0
    if (4 * LANES * (size + 1) > 3 * table.length) {
      table = grown(table)
      this.tables[part] = table
    }
    if (!place(table, a, b, c, d)) return false
    this.sizes[part] = size + 1
    return true
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function grown(old: Uint32Array): Uint32Array<ArrayBuffer> {
  const slots = new Uint32Array(2 * old.length)
  for (let at = 0; at < old.length; at += LANES)
    if (old[at] !== 0)
      place(slots, old[at] as number, old[at + 1] as number, old[at + 2] as number, old[at + 3] as number)
  return slots
}

/** Open addressing with linear probing; the first lane of a digest is never 0, which marks a free slot. */
function place(slots: Uint32Array, a: number, b: number, c: number, d: number): boolean {
  const mask = slots.length / LANES - 1
  for (let index = b & mask; ; index = (index + 1) & mask) {
    const at = LANES * index
    if (slots[at] === 0) {
      slots[at] = a
      slots[at + 1] = b
      slots[at + 2] = c
      slots[at + 3] = d
      return true
    }
    if (slots[at] === a && slots[at + 1] === b && slots[at + 2] === c && slots[at + 3] === d) return false
  }
}

/** The multipliers of MurmurHash3 (x86, 128 bits). */
const [C1, C2, C3, C4] = [0x239b961b, 0xab0e9789 | 0, 0x38b34ae5, 0xa1e38b93 | 0]

/**
 * The digest of 128 bits of a range of at least {@link BLOCK} bytes. It mixes as MurmurHash3 does; the rest after the last whole
 * block is read together with the end of that block, because the length is mixed in, too.
 *
 * @param length of the text, which may be shorter than the range
 */
function digest(view: DataView, from: number, to: number, length: number, into: Uint32Array): void {
  let [a, b, c, d] = [length, length, length, length]
  const last = to - BLOCK
  for (let block = from; block < to; block += BLOCK) {
    const at = block > last ? last : block
    a = step(a ^ mixedWord(view.getInt32(at, true), C1, 15, C2), 19, b, 0x561ccd1b)
    b = step(b ^ mixedWord(view.getInt32(at + 4, true), C2, 16, C3), 17, c, 0x0bcaa747)
    c = step(c ^ mixedWord(view.getInt32(at + 8, true), C3, 17, C4), 15, d, 0x96cd1c35 | 0)
    d = step(d ^ mixedWord(view.getInt32(at + 12, true), C4, 18, C1), 13, a, 0x32ac3b17)
  }
  const sum = (a + b + c + d) | 0
  const first = mixed(sum)
  b = mixed((b + sum) | 0)
  c = mixed((c + sum) | 0)
  d = mixed((d + sum) | 0)
  const all = (first + b + c + d) >>> 0
  into[0] = all === 0 ? 1 : all
  into[1] = (b + all) >>> 0
  into[2] = (c + all) >>> 0
  into[3] = (d + all) >>> 0
}

function mixedWord(value: number, first: number, by: number, second: number): number {
  return Math.imul(rotated(Math.imul(value, first), by), second)
}

function step(value: number, by: number, next: number, constant: number): number {
  return (Math.imul((rotated(value, by) + next) | 0, 5) + constant) | 0
}

function rotated(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by))
}

function mixed(value: number): number {
  let mix = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
  return mix ^ (mix >>> 16)
}

const LINE_FEED = 0x0a

/** Splits bytes into chunks of whole lines, each of at least the given number of bytes; the last is the remainder. */
export async function* wholeLines(pieces: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let buffered: Buffer[] = []
  let [length, end] = [0, 0]
  for await (const piece of pieces) {
    const feed = piece.lastIndexOf(LINE_FEED)
    if (feed >= 0) end = length + feed + 1
    buffered.push(piece)
    length += piece.length
    if (length < bytes || end === 0) continue
    const whole = Buffer.concat(buffered)
    buffered = [whole.subarray(end)]
    length -= end
    const lines = whole.subarray(0, end)
    end = 0
    yield lines
  }
  if (length > 0) yield Buffer.concat(buffered)
}

/** Number of line feeds. */
export function lineFeeds(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) lines++
  return lines
}
