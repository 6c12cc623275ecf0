/** Random choices that are the same for the same start. */

let state = 1

/** The same start gives the same graphs and queries. */
export function startFrom(seed: number): void {
  state = seed >>> 0
}

/** Mulberry32: short periods of simpler generators show in nested choices. */
function random(): number {
  state = (state + 0x6d2b79f5) >>> 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

export const chance = (share: number) => random() < share
export const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1))
export function pick<Value>(values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)] as Value
}
export const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index))
