import { countPlaces } from '../lanes.ts'
import { columnNumbers } from '../number-vectors.ts'
import { rowsPresent } from '../row-filters.ts'
import { scratchFloat64, scratchUint32 } from '../scratch.ts'
import { termValue } from '../value.ts'
import { gathered, hasWholeValues, type Vector, vectorValueAt } from '../vector.ts'
import type { AggregatorMaker } from './aggregator.ts'

/** The rows of a batch with a number, and their groups: numbers by row, or by the ids of rows. */
interface Part {
  readonly groups: Uint32Array
  readonly values: Float64Array
  readonly ids: Uint32Array | null
}

/**
 * The value below which a percentage of the values of a group lies, by linear interpolation between the two nearest values. Where
 * all numbers are of one column, whose ids are in their order, ids are selected instead.
 */
export const percentile: AggregatorMaker = (valuesOf, evaluation, [parameter]) => {
  const value = parameter === undefined ? null : termValue(parameter)
  const rank = value?.type === 'number' ? value.value : 50
  const parts: Part[] = []
  return {
    add: (batch, groups) => {
      evaluation.allocate(12 * groups.length)
      parts.push(partOf(valuesOf(batch), groups))
    },
    result: count => {
      const values = new Float64Array(count)
      const bound = new Uint8Array(count)
      const table = sharedTable(parts)
      const starts = startsOf(parts, count)
      const numbers = placedNumbers(parts, starts, table !== null)
      for (let group = 0; group < count; group++) {
        const own = numbers.subarray(starts[group], starts[group + 1])
        const place = (rank / 100) * (own.length - 1)
        const [below, above] = [Math.floor(place), Math.ceil(place)]
        if (!(below >= 0 && above < own.length)) continue
        const first = select(own, below)
        const second = above === below ? first : leastFrom(own, above)
        const [low, high] =
          table === null ? [first, second] : [table[first] as number, table[second] as number]
        values[group] = low + (high - low) * (place - below)
        bound[group] = 1
      }
      return { type: 'numbers', kind: 'double', values, bound }
    },
  }
}

/** The table of all numbers, where larger ids have larger numbers; NaN, which sorts before or after all others, is not included. */
function sharedTable(parts: readonly Part[]): Float64Array | null {
  const [first] = parts
  if (first === undefined || Number.isNaN(first.values[1]) || Number.isNaN(first.values.at(-1))) return null
  return parts.every(({ ids, values }) => ids !== null && values === first.values) ? first.values : null
}

/** The rows of a vector that have a number. */
function partOf(vector: Vector, groups: Uint32Array): Part {
  if (vector.type === 'numbers') {
    const { values, bound } = vector
    if (bound === null) return { groups, values, ids: null }
    return numbered(groups, row => (bound[row] === 1 ? (values[row] as number) : null))
  }
  const table = vector.type === 'ids' ? columnNumbers(vector.domain) : null
  if (vector.type !== 'ids' || table === null)
    return numbered(groups, row => {
      const value = vectorValueAt(vector, row)
      return value?.type === 'number' ? value.value : null
    })
  if (hasWholeValues(vector)) return { groups, values: table.values, ids: vector.ids }
  const rows = rowsPresent(vector.ids)
  return { groups: gathered(groups, rows), values: table.values, ids: gathered(vector.ids, rows) }
}

function numbered(groups: Uint32Array, numberAt: (row: number) => number | null): Part {
  const part = { groups: new Uint32Array(groups.length), values: new Float64Array(groups.length) }
  let count = 0
  for (let row = 0; row < groups.length; row++) {
    const number = numberAt(row)
    if (number === null) continue
    part.groups[count] = groups[row] as number
    part.values[count++] = number
  }
  return { groups: part.groups.subarray(0, count), values: part.values.subarray(0, count), ids: null }
}

/** The index of the first number of each group when the numbers are stored group by group, and the end of the last. */
function startsOf(parts: readonly Part[], count: number): Uint32Array {
  const starts = new Uint32Array(count + 1)
  const sizes = starts.subarray(1)
  for (const { groups } of parts) countPlaces(sizes, groups)
  for (let group = 0; group < count; group++)
    starts[group + 1] = (starts[group + 1] as number) + (starts[group] as number)
  return starts
}

/** The numbers, or their ids, group by group. */
function placedNumbers(
  parts: readonly Part[],
  starts: Uint32Array,
  areIds: boolean,
): Uint32Array | Float64Array {
  const places = starts.slice()
  const size = starts.at(-1) as number
  const placed = areIds ? scratchUint32(size) : scratchFloat64(size)
  for (const { groups, values, ids } of parts)
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] as number
      const place = places[group] as number
      const id = ids === null ? at : (ids[at] as number)
      placed[place] = areIds ? id : (values[id] as number)
      places[group] = place + 1
    }
  return placed
}

/** Fewer numbers than this are sorted. */
const DIRECT_SORT_LIMIT = 32

/** The number of a rank, NaN last (quickselect): afterwards smaller numbers are before it, larger ones after it. */
function select(numbers: Uint32Array | Float64Array, place: number): number {
  let [from, to] = [0, numbers.length]
  while (to - from > DIRECT_SORT_LIMIT) {
    const pivot = middle(
      numbers[from] as number,
      numbers[(from + to) >>> 1] as number,
      numbers[to - 1] as number,
    )
    if (Number.isNaN(pivot)) break
    // Numbers before `left` are at most the pivot, those from `right` on at least.
    let [left, right] = [from, to - 1]
    while (left <= right) {
      while ((numbers[left] as number) < pivot) left++
      while (!((numbers[right] as number) <= pivot)) right--
      if (left > right) break
      const moved = numbers[left] as number
      numbers[left++] = numbers[right] as number
      numbers[right--] = moved
    }
    if (place <= right) to = right + 1
    else if (place >= left) from = left
    else return numbers[place] as number
  }
  numbers.subarray(from, to).sort()
  return numbers[place] as number
}

/** The least of the numbers from an index on. */
function leastFrom(numbers: Uint32Array | Float64Array, place: number): number {
  let least = numbers[place] as number
  for (let at = place + 1; at < numbers.length; at++) {
    const number = numbers[at] as number
    if (number < least || Number.isNaN(least)) least = number
  }
  return least
}

/** The median of three numbers; NaN where one of them is NaN. */
function middle(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
}
