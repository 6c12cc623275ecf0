/** Finds codes by their rank: counts them by their upper bits first, then by the lower bits of one of these. */
export class CodePlaces {
  private readonly shift: number
  private readonly upper: Uint32Array
  private readonly lower: Uint32Array
  /** Number of codes whose upper bits are less than those of the last result. */
  private before = 0

  /** @param end above all codes */
  constructor(end: number) {
    const bits = 32 - Math.clz32(end)
    this.shift = bits >> 1
    this.upper = new Uint32Array(2 ** (bits - this.shift))
    this.lower = new Uint32Array(2 ** this.shift)
  }

  /** The code of a rank among the given codes. */
  codeAt(codes: Uint32Array, place: number): number {
    const { shift, upper, lower } = this
    if (codes.length < upper.length) return codes.slice().sort()[place] as number
    upper.fill(0)
    countUpperBits(upper, codes, shift)
    const [bits, rest] = placeIn(upper, place)
    this.before = place - rest
    lower.fill(0)
    const mask = lower.length - 1
    for (let at = 0; at < codes.length; at++) {
      const code = codes[at] as number
      if (code >>> shift === bits) lower[code & mask] = (lower[code & mask] as number) + 1
    }
    return bits * lower.length + placeIn(lower, rest)[0]
  }

  /** The code at the next rank after the last result. */
  codeAfter(codes: Uint32Array, code: number, place: number): number {
    const { lower } = this
    if (codes.length < this.upper.length) return nextCode(codes, code, place)
    let reached = this.before
    for (let bits = 0; bits < lower.length; bits++) {
      reached += lower[bits] as number
      if (reached > place) return code - (code & (lower.length - 1)) + bits
    }
    return nextCode(codes, code, place)
  }
}

function countUpperBits(counts: Uint32Array, codes: Uint32Array, shift: number): void {
  const whole = codes.length & ~3
  for (let at = 0; at < whole; at += 4) {
    const first = (codes[at] as number) >>> shift
    const second = (codes[at + 1] as number) >>> shift
    const third = (codes[at + 2] as number) >>> shift
    const fourth = (codes[at + 3] as number) >>> shift
    counts[first] = (counts[first] as number) + 1
    counts[second] = (counts[second] as number) + 1
    counts[third] = (counts[third] as number) + 1
    counts[fourth] = (counts[fourth] as number) + 1
  }
  for (let at = whole; at < codes.length; at++) {
    const bits = (codes[at] as number) >>> shift
    counts[bits] = (counts[bits] as number) + 1
  }
}

/** The number whose count includes a rank, and the rank within that count. */
function placeIn(counts: Uint32Array, place: number): readonly [number, number] {
  let rest = place
  for (let number = 0; number < counts.length; number++) {
    const count = counts[number] as number
    if (rest < count) return [number, rest]
    rest -= count
  }
  throw new RangeError(`no place ${place} among the codes`)
}

/** The code at a rank, given the code at the rank before. */
function nextCode(codes: Uint32Array, before: number, place: number): number {
  let [maxCount, next] = [0, 2 ** 32 - 1]
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] as number
    if (code <= before) maxCount += 1
    else if (code < next) next = code
  }
  return maxCount > place ? before : next
}
