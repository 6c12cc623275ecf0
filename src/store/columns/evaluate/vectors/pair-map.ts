/** Initial capacity. */
const LEAST = 1024
/** Below this capacity it grows by a factor of four. */
const SMALL = 2 ** 17

/**
 * Maps pairs of numbers to numbers. The entries are in typed arrays, outside of the JavaScript heap: a heap table that cannot
 * grow ends the process; here that is an error of the query.
 */
export class PairMap {
  private readonly allocate: (bytes: number) => void
  private lefts = new Uint32Array(0)
  private rights = new Uint32Array(0)
  /** One more than the numbers; 0 for an empty slot. */
  private values = new Uint32Array(0)
  private count = 0

  /** @param allocate counts allocated bytes; negative when they are released */
  constructor(allocate: (bytes: number) => void) {
    this.allocate = allocate
  }

  get size(): number {
    return this.count
  }

  /** The number of a pair; -1 where it has none. */
  get(left: number, right: number): number {
    return this.count === 0 ? -1 : (this.values[this.placeOf(left, right)] as number) - 1
  }

  /**
   * Assigns a number to a pair that has none yet.
   *
   * @param value below 2³² - 1
   * @returns the number of the pair
   */
  add(left: number, right: number, value: number): number {
    if (2 * this.count >= this.values.length) this.grow()
    const place = this.placeOf(left, right)
    const known = this.values[place] as number
    if (known !== 0) return known - 1
    this.lefts[place] = left
    this.rights[place] = right
    this.values[place] = value + 1
    this.count += 1
    return value
  }

  *entries(): Generator<readonly [number, number, number]> {
    for (let place = 0; place < this.values.length; place++) {
      const value = this.values[place] as number
      if (value !== 0) yield [this.lefts[place] as number, this.rights[place] as number, value - 1]
    }
  }

  /** The slot of a pair, or where it would be inserted (open addressing, linear probing). */
  private placeOf(left: number, right: number): number {
    const { lefts, rights, values } = this
    const mask = values.length - 1
    let hash = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    let place = (hash ^ (hash >>> 13)) & mask
    while (values[place] !== 0 && (lefts[place] !== left || rights[place] !== right))
      place = (place + 1) & mask
    return place
  }

  private grow(): void {
    const { lefts, rights, values } = this
    const length = Math.max(LEAST, (values.length < SMALL ? 4 : 2) * values.length)
    this.allocate(12 * length)
    this.lefts = new Uint32Array(length)
    this.rights = new Uint32Array(length)
    this.values = new Uint32Array(length)
    for (let before = 0; before < values.length; before++) {
      if (values[before] === 0) continue
      const place = this.placeOf(lefts[before] as number, rights[before] as number)
      this.lefts[place] = lefts[before] as number
      this.rights[place] = rights[before] as number
      this.values[place] = values[before] as number
    }
    this.allocate(-12 * values.length)
  }
}
