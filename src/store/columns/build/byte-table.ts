import { Arena, hashBytes } from '../bytes.ts'

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
