/** Fewer numbers than this are sorted by comparison. */
const FEW = 2000
const DIGITS = 16
const BUCKETS = 2 ** DIGITS

/**
 * The places of numbers in rising order; equal ones keep their order, -0 comes before 0 and NaN last. Radix sort of the bits
 * of IEEE 754, whose order is that of the numbers once negative ones are inverted.
 */
export function sortedNumbers(values: Float64Array): Uint32Array {
  const { length } = values
  const order = new Uint32Array(length)
  for (let at = 0; at < length; at++) order[at] = at
  if (length < FEW)
    return order.sort((a, b) => compareNumbers(values[a] as number, values[b] as number) || a - b)
  const [low, high] = bitsOf(values)
  let [from, to] = [order, new Uint32Array(length)]
  const counts = new Uint32Array(BUCKETS)
  for (const [bits, shift] of [
    [low, 0],
    [low, DIGITS],
    [high, 0],
    [high, DIGITS],
  ] as const) {
    counts.fill(0)
    for (let at = 0; at < length; at++) {
      const digit = ((bits[at] as number) >>> shift) & (BUCKETS - 1)
      counts[digit] = (counts[digit] as number) + 1
    }
    if (counts[((bits[0] as number) >>> shift) & (BUCKETS - 1)] === length) continue
    let sum = 0
    for (let digit = 0; digit < BUCKETS; digit++) {
      const count = counts[digit] as number
      counts[digit] = sum
      sum += count
    }
    for (let at = 0; at < length; at++) {
      const place = from[at] as number
      const digit = ((bits[place] as number) >>> shift) & (BUCKETS - 1)
      const next = counts[digit] as number
      to[next] = place
      counts[digit] = next + 1
    }
    ;[from, to] = [to, from]
  }
  return from
}

/** Compares as {@link sortedNumbers} sorts. */
export function compareNumbers(left: number, right: number): number {
  if (left < right) return -1
  if (left > right) return 1
  if (left === right) return left !== 0 ? 0 : Number(Object.is(right, -0)) - Number(Object.is(left, -0))
  return Number(Number.isNaN(left)) - Number(Number.isNaN(right))
}

/** The lower and upper halves of keys whose unsigned order is that of the numbers. */
function bitsOf(values: Float64Array): readonly [Uint32Array, Uint32Array] {
  const words = new Uint32Array(values.slice().buffer)
  const low = new Uint32Array(values.length)
  const high = new Uint32Array(values.length)
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    const [below, above] = [words[2 * at] as number, words[2 * at + 1] as number]
    if (Number.isNaN(value)) {
      low[at] = 0xffff_ffff
      high[at] = 0xffff_ffff
    } else if (above >>> 31 === 1) {
      low[at] = ~below
      high[at] = ~above
    } else {
      low[at] = below
      high[at] = above | 0x8000_0000
    }
  }
  return [low, high]
}
