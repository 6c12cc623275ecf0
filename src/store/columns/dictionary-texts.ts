import { Arena, compareBytes } from './bytes.ts'

/** A reference to the UTF-8 text of a term, valid until the next one is read. */
export class TermBytes {
  type: 'iri' | 'blank' | 'literal' = 'iri'
  /** Of a literal; otherwise empty. */
  datatype = ''
  language = ''
  bytes: Uint8Array = new Uint8Array()
  from = 0
  to = 0
}

/** Creates texts from strings. */
export function textsOf(count: number, get: (place: number) => string): Texts {
  const offsets = new Uint32Array(count + 1)
  const texts = new Arena(16 * count + 64)
  for (let place = 0; place < count; place++) {
    texts.addText(get(place))
    offsets[place + 1] = texts.length
  }
  return new Texts(texts.bytes.subarray(0, texts.length), offsets)
}

/** A list of texts. */
export class Texts {
  readonly bytes: Buffer
  readonly offsets: Uint32Array

  constructor(bytes: Buffer, offsets: Uint32Array) {
    this.bytes = bytes
    this.offsets = offsets
  }

  get count(): number {
    return this.offsets.length - 1
  }

  get(place: number): string {
    return this.bytes.toString('utf8', this.offsets[place], this.offsets[place + 1])
  }

  /** Returns the location of a text. */
  find(place: number, found: TermBytes): void {
    found.bytes = this.bytes
    found.from = this.offsets[place] as number
    found.to = this.offsets[place + 1] as number
  }

  compare(place: number, text: Uint8Array): number {
    const { bytes, offsets } = this
    return compareBytes(bytes, offsets[place] as number, offsets[place + 1] as number, text, 0, text.length)
  }

  /** Indexes of the texts from the first that is not before a text to the first after it. */
  range(text: Uint8Array): readonly [from: number, to: number] {
    const from = this.lowerBound(text, 0)
    let to = from
    while (to < this.offsets.length - 1 && this.compare(to, text) === 0) to++
    return [from, to]
  }

  /** Indexes of the texts with a prefix. */
  rangeOfPrefix(prefix: Uint8Array): readonly [from: number, to: number] {
    if (prefix.length === 0) return [0, this.count]
    const from = this.lowerBound(prefix, 0)
    return [from, this.lowerBound(behindPrefix(prefix), from)]
  }

  /** Index of the first text that is not before another. */
  lowerBound(text: Uint8Array, from: number): number {
    return firstWhere(from, this.count, place => this.compare(place, text) >= 0)
  }
}

/** Upper bound of all texts with a prefix: the prefix with a greater last byte, because no byte of UTF-8 is 255. */
export function behindPrefix(prefix: Uint8Array): Buffer {
  const behind = Buffer.from(prefix)
  behind[behind.length - 1] = (behind[behind.length - 1] as number) + 1
  return behind
}

/** The first index of a range for which a condition holds, which then holds for all later ones; the end of the range where there is none. */
export function firstWhere(from: number, end: number, holds: (at: number) => boolean): number {
  let [low, high] = [from, end]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Index of the first number that is not below another, in ascending numbers. */
export function lowerBound(numbers: Uint32Array | Float64Array, value: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return low
}
