import { ID_BYTES } from './record-ids.ts'

const LANES = ID_BYTES / 4

/** A set of record ids, each as its twenty bytes: 27 to 54 bytes an id. */
export class IdSet {
  private slots = new Uint32Array(LANES * 2 ** 4)
  private size = 0
  private readonly lanes = new Uint32Array(LANES)

  /** Adds the id that begins at a place of a piece of bytes. */
  add(bytes: Buffer, at: number): void {
    if (4 * LANES * (this.size + 1) > 3 * this.slots.length) this.grow()
    this.read(bytes, at)
    const slot = this.find(this.lanes)
    if (isFree(this.slots, slot)) this.size += 1
    this.slots.set(this.lanes, slot)
  }

  has(bytes: Buffer, at: number): boolean {
    this.read(bytes, at)
    return !isFree(this.slots, this.find(this.lanes))
  }

  private read(bytes: Buffer, at: number): void {
    for (let lane = 0; lane < LANES; lane++) this.lanes[lane] = bytes.readUInt32LE(at + 4 * lane)
  }

  /** The slot that has an id, or the free one where it would be: open addressing with linear probing. */
  private find(id: Uint32Array): number {
    const mask = this.slots.length / LANES - 1
    for (let index = (id[LANES - 1] ?? 0) & mask; ; index = (index + 1) & mask) {
      const slot = LANES * index
      if (isFree(this.slots, slot) || isAt(this.slots, slot, id)) return slot
    }
  }

  private grow(): void {
    const old = this.slots
    this.slots = new Uint32Array(2 * old.length)
    for (let slot = 0; slot < old.length; slot += LANES) {
      if (isFree(old, slot)) continue
      const id = old.subarray(slot, slot + LANES)
      this.slots.set(id, this.find(id))
    }
  }
}

/** A free slot is all zeros, which is no fingerprint of anything. */
function isFree(slots: Uint32Array, slot: number): boolean {
  for (let lane = 0; lane < LANES; lane++) if (slots[slot + lane] !== 0) return false
  return true
}

function isAt(slots: Uint32Array, slot: number, id: Uint32Array): boolean {
  for (let lane = 0; lane < LANES; lane++) if (slots[slot + lane] !== id[lane]) return false
  return true
}
