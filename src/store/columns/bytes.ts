/** Text as UTF-8 bytes: the order of bytes is the order of code points, which SPARQL and Oxigraph sort by. */

/** Growable storage for text: byte strings one after another, each identified by its offset. */
export class Arena {
  bytes: Buffer
  length = 0

  constructor(size = 2 ** 12) {
    this.bytes = Buffer.allocUnsafeSlow(size)
  }

  /** Makes room for a number of bytes and returns their offset. */
  reserve(more: number): number {
    const { length } = this
    if (length + more > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, length + more))
      this.bytes.copy(larger, 0, 0, length)
      this.bytes = larger
    }
    return length
  }

  /** Appends bytes. */
  add(from: Uint8Array, start: number, end: number): void {
    let at = this.reserve(end - start)
    const { bytes } = this
    if (end - start > 64) bytes.set(from.subarray(start, end), at)
    else for (let next = start; next < end; next++) bytes[at++] = from[next] as number
    this.length += end - start
  }

  addText(text: string): void {
    const at = this.reserve(3 * text.length)
    this.length += this.bytes.write(text, at)
  }

  /** Appends an unsigned integer in groups of seven bits, the lowest first (LEB128). */
  addNumber(value: number): void {
    let at = this.reserve(8)
    let rest = value
    while (rest > 127) {
      this.bytes[at++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    this.bytes[at++] = rest
    this.length = at
  }
}

/** Reads the numbers that {@link Arena.addNumber} wrote, one after another. */
export class NumberReader {
  at: number
  private bytes: Uint8Array

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  /** Starts reading other bytes. */
  begin(bytes: Uint8Array): void {
    this.bytes = bytes
    this.at = 0
  }

  next(): number {
    let byte = this.bytes[this.at++] as number
    if (byte < 128) return byte
    let value = byte - 128
    for (let unit = 128; ; unit *= 128) {
      byte = this.bytes[this.at++] as number
      if (byte < 128) return value + byte * unit
      value += (byte - 128) * unit
    }
  }
}

/** Compares two byte strings as unsigned bytes; a prefix sorts first. */
export function compareBytes(
  left: Uint8Array,
  leftStart: number,
  leftEnd: number,
  right: Uint8Array,
  rightStart: number,
  rightEnd: number,
): number {
  const [leftLength, rightLength] = [leftEnd - leftStart, rightEnd - rightStart]
  const length = leftLength < rightLength ? leftLength : rightLength
  for (let at = 0; at < length; at++) {
    const difference = (left[leftStart + at] as number) - (right[rightStart + at] as number)
    if (difference !== 0) return difference
  }
  return leftLength - rightLength
}

/** FNV-1a of some bytes, as a signed 32-bit number. */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  return hash ^ (hash >>> 15)
}

/** Length of the common prefix of two byte strings. */
export function sharedPrefix(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length)
  let at = 0
  while (at < length && left[at] === right[at]) at++
  return at
}

/** The number of set bits. */
export function bitsIn(word: number): number {
  let rest = word - ((word >>> 1) & 0x5555_5555)
  rest = (rest & 0x3333_3333) + ((rest >>> 2) & 0x3333_3333)
  return Math.imul((rest + (rest >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

/** Typed arrays that grow. */
export type Grown =
  | Uint8Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>

/** An array with at least some length: a copy of at least twice the length where it is shorter. */
export function grown<Numbers extends Grown>(numbers: Numbers, length: number): Numbers {
  if (length <= numbers.length) return numbers
  const larger = new (numbers.constructor as new (length: number) => Numbers)(
    Math.max(length, 2 * numbers.length),
  )
  larger.set(numbers)
  return larger
}

/** A growable list of numbers, outside of the JavaScript heap. */
export class NumberList {
  /** The numbers, and free capacity. */
  values = new Uint32Array(64)
  size = 0

  add(value: number): void {
    if (this.size === this.values.length) this.values = grown(this.values, 2 * this.size)
    this.values[this.size++] = value
  }

  clear(): void {
    this.size = 0
  }

  has(value: number): boolean {
    const at = this.values.indexOf(value)
    return at >= 0 && at < this.size
  }

  /** The numbers, valid until others are added. */
  view(): Uint32Array {
    return this.values.subarray(0, this.size)
  }
}

/** Typed arrays that all threads share. */
export const sharedUint32 = (length: number): Uint32Array =>
  new Uint32Array(new SharedArrayBuffer(4 * length))
export const sharedBytes = (length: number): Buffer => Buffer.from(new SharedArrayBuffer(length))

/** Numbers distinct byte strings 0, 1, 2 … in order of first occurrence. Open addressing, linear probing. */
export class ByteTable {
  readonly arena: Arena
  /** The offset of each byte string, followed by the end of the last one. */
  starts: Uint32Array | Float64Array
  size = 0
  private hashes: Int32Array
  private slots: Int32Array

  /** @param bytes @param pieces initial capacity; a power of two */
  constructor(bytes = 2 ** 14, pieces = 1024) {
    this.arena = new Arena(bytes)
    this.starts = new Uint32Array(pieces + 1)
    this.hashes = new Int32Array(pieces)
    this.slots = new Int32Array(2 * pieces).fill(-1)
  }

  /** The number of a byte string, which is added if it is new. */
  intern(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashBytes(bytes, start, end)
    let { slots } = this
    let mask = slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = slots[slot] as number
      if (found < 0) {
        if (2 * (this.size + 1) <= slots.length) {
          slots[slot] = this.size
          return this.append(bytes, start, end, hash)
        }
        this.grow()
        slots = this.slots
        mask = slots.length - 1
        slot = (hash & mask) - 1
        continue
      }
      if (this.hashes[found] === hash && this.equals(found, bytes, start, end)) return found
    }
  }

  /** The number of a byte string; -1 if it was not added. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashBytes(bytes, start, end)
    const mask = this.slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = this.slots[slot] as number
      if (found < 0 || (this.hashes[found] === hash && this.equals(found, bytes, start, end))) return found
    }
  }

  /** Releases the hash table: nothing can be added any more. */
  seal(): void {
    this.slots = new Int32Array(0)
    this.hashes = new Int32Array(0)
  }

  startOf(index: number): number {
    return this.starts[index] as number
  }

  endOf(index: number): number {
    return this.starts[index + 1] as number
  }

  private equals(index: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.arena.bytes
    let at = this.starts[index] as number
    if ((this.starts[index + 1] as number) - at !== end - start) return false
    for (let next = start; next < end; next++) if (own[at++] !== bytes[next]) return false
    return true
  }

  private append(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const index = this.size++
    if (index + 1 >= this.starts.length) this.lengthen()
    this.hashes[index] = hash
    this.arena.add(bytes, start, end)
    if (this.arena.length > 0xffff_ffff && this.starts instanceof Uint32Array)
      this.starts = Float64Array.from(this.starts)
    this.starts[index + 1] = this.arena.length
    return index
  }

  private lengthen(): void {
    const length = 2 * (this.starts.length - 1)
    const starts =
      this.starts instanceof Uint32Array ? new Uint32Array(length + 1) : new Float64Array(length + 1)
    starts.set(this.starts)
    this.starts = starts
    const hashes = new Int32Array(length)
    hashes.set(this.hashes)
    this.hashes = hashes
  }

  private grow(): void {
    const slots = new Int32Array(2 * this.slots.length).fill(-1)
    const mask = slots.length - 1
    for (let index = 0; index < this.size; index++) {
      let slot = (this.hashes[index] as number) & mask
      while ((slots[slot] as number) >= 0) slot = (slot + 1) & mask
      slots[slot] = index
    }
    this.slots = slots
  }
}
