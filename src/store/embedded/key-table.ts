import { Column } from './column.ts'

/** Marks a key that does not begin as most do; it stands in no term, for there it is escaped. */
const FOREIGN = '\n'

/**
 * Texts of terms and their numbers, counted from 0 as they come: a million of them in some ten bytes each beside their
 * characters, where strings in a map would take a hundred. What most begin with is kept once.
 */
export class KeyTable {
  private readonly prefix: string
  private text = Buffer.allocUnsafe(4096)
  /** Where the text of each key ends. */
  private readonly ends = new Column()
  /** Number of a key and one, at the place of its hash or behind it; 0 where there is none. */
  private slots = new Uint32Array(1024)

  /** @param prefix what most keys begin with */
  constructor(prefix: string) {
    this.prefix = prefix
  }

  get bytes(): number {
    return this.text.byteLength + this.ends.bytes + this.slots.byteLength
  }

  /** The number of a key, a new one where it was not met before. */
  number(key: string): number {
    const own = key.startsWith(this.prefix) ? key.slice(this.prefix.length) : FOREIGN + key
    const slot = this.slotOf(own)
    const known = this.slots[slot] ?? 0
    if (known > 0) return known - 1
    const number = this.append(own)
    this.slots[slot] = number + 1
    if (this.ends.length * 3 > this.slots.length * 2) this.widen()
    return number
  }

  key(number: number): string {
    const own = this.own(number)
    return own.startsWith(FOREIGN) ? own.slice(1) : this.prefix + own
  }

  private own(number: number): string {
    const start = number === 0 ? 0 : this.ends.at(number - 1)
    return this.text.toString('utf8', start, this.ends.at(number))
  }

  private append(own: string): number {
    const start = this.ends.at(this.ends.length - 1)
    const end = start + Buffer.byteLength(own)
    if (end > this.text.length) {
      const longer = Buffer.allocUnsafe(Math.ceil(end * 1.5))
      this.text.copy(longer, 0, 0, start)
      this.text = longer
    }
    this.text.write(own, start)
    this.ends.push(end)
    return this.ends.length - 1
  }

  private slotOf(own: string): number {
    const last = this.slots.length - 1
    let slot = hash(own) & last
    for (;;) {
      const known = this.slots[slot] ?? 0
      if (known === 0 || this.own(known - 1) === own) return slot
      slot = (slot + 1) & last
    }
  }

  private widen(): void {
    this.slots = new Uint32Array(this.slots.length * 2)
    const last = this.slots.length - 1
    for (let number = 0; number < this.ends.length; number++) {
      let slot = hash(this.own(number)) & last
      while (this.slots[slot] !== 0) slot = (slot + 1) & last
      this.slots[slot] = number + 1
    }
  }
}

/** What all texts begin with. */
export function commonPrefix(texts: readonly string[]): string {
  let prefix = texts[0] ?? ''
  for (const text of texts) while (!text.startsWith(prefix)) prefix = prefix.slice(0, -1)
  return prefix
}

/** Of Fowler, Noll and Vo (FNV-1a), with its bits mixed once more. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return (value ^ (value >>> 15)) >>> 0
}
