/** A list of whole numbers below 2^32, in four bytes each. */
export class Column {
  length = 0
  private values = new Uint32Array(256)

  get bytes(): number {
    return this.values.byteLength
  }

  at(index: number): number {
    return this.values[index] ?? 0
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const longer = new Uint32Array(Math.ceil(this.length * 1.5))
      longer.set(this.values)
      this.values = longer
    }
    this.values[this.length++] = value
  }

  add(index: number, value: number): void {
    this.values[index] = this.at(index) + value
  }

  /** The last place whose value is not above one; the values rise. */
  lastUpTo(value: number): number {
    let [low, high] = [0, this.length]
    while (low + 1 < high) {
      const middle = (low + high) >> 1
      if (this.at(middle) <= value) low = middle
      else high = middle
    }
    return low
  }
}
