import type { Evaluation } from '../evaluation.ts'
import { countPlaces } from '../vectors/lanes.ts'
import { columnNumbers } from '../vectors/number-vectors.ts'
import { rowsPresent } from '../vectors/row-filters.ts'
import { scratchFloat64, scratchUint32 } from '../vectors/scratch.ts'
import { termValue } from '../vectors/value.ts'
import { gathered, hasWholeValues, type Vector, vectorValueAt } from '../vectors/vector.ts'
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
      const values = new Float64Array(count).fill(Number.NaN)
      const bound = new Uint8Array(count)
      const table = sharedTable(parts)
      const chosen = chosenNumbers(parts, count, rank / 100, table, evaluation)
      for (let group = 0; group < count; group++) {
        evaluation.advance(1)
        const own = chosen.numbers.subarray(chosen.starts[group], chosen.starts[group + 1])
        if (own.length === 0) continue
        const place = chosen.places[group] as number
        const [below, above] = [Math.floor(place), Math.ceil(place)]
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

/** Maximum number of buckets of all groups, which fit into the caches of a processor, and of one. */
const MAX_BUCKETS = 2 ** 16
const MAX_OF_GROUP = 1024

/** Numbers, or their ids, group by group: those among which the value of a group is. */
interface ChosenNumbers {
  readonly numbers: Uint32Array | Float64Array
  /** The index of the first number of each group, and the end of the last. */
  readonly starts: Uint32Array
  /** The place of the value among the numbers of its group; between two of them where it is no integer. */
  readonly places: Float64Array
}

/**
 * Ids are counted in buckets of as many ids each, so that only those of the one or two buckets with the nearest values are read.
 * Other numbers are in one bucket.
 */
function chosenNumbers(
  parts: readonly Part[],
  count: number,
  share: number,
  table: Float64Array | null,
  evaluation: Pick<Evaluation, 'advance'>,
): ChosenNumbers {
  const rows = parts.reduce((sum, { groups }) => sum + groups.length, 0)
  const limit = Math.max(1, Math.min(MAX_OF_GROUP, Math.floor(Math.min(MAX_BUCKETS, rows / 8) / count)))
  let shift = 0
  while (table !== null && (table.length - 1) >>> shift >= limit) shift++
  const width = table === null ? 1 : ((table.length - 1) >>> shift) + 1
  const sizes = new Uint32Array(count * width)
  for (const { groups, ids } of parts) {
    evaluation.advance(groups.length)
    if (width === 1 || ids === null) countPlaces(sizes, groups)
    else countBuckets(sizes, { width, shift }, groups, ids)
  }
  const starts = new Uint32Array(count + 1)
  const places = new Float64Array(count)
  // The first bucket of each group and the number of those after it: one that there is not, where there is no such value.
  const [from, span] = [new Uint32Array(count).fill(width), new Uint32Array(count)]
  for (let group = 0; group < count; group++) {
    evaluation.advance(width)
    const own = sizes.subarray(group * width, (group + 1) * width)
    let total = 0
    for (let bucket = 0; bucket < width; bucket++) total += own[bucket] as number
    const place = share * (total - 1)
    let size = 0
    const [below, above] = [bucketOf(own, Math.floor(place)), bucketOf(own, Math.ceil(place))]
    if (below !== null && above !== null) {
      places[group] = place - below.before
      from[group] = below.bucket
      span[group] = above.bucket - below.bucket
      size = above.before + (own[above.bucket] as number) - below.before
    }
    starts[group + 1] = (starts[group] as number) + size
  }
  const ends = starts.slice()
  if (table === null) {
    const numbers = scratchFloat64(starts[count] as number)
    for (const { groups, values, ids } of parts)
      for (let at = 0; at < groups.length; at++) {
        const group = groups[at] as number
        if (from[group] === width) continue
        const end = ends[group] as number
        numbers[end] = values[ids === null ? at : (ids[at] as number)] as number
        ends[group] = end + 1
      }
    return { numbers, starts, places }
  }
  const numbers = scratchUint32(starts[count] as number)
  for (const { groups, ids } of parts)
    if (ids !== null) collectIds(numbers, ends, { shift, from, span }, groups, ids)
  return { numbers, starts, places }
}

/** Appends the ids of the chosen buckets to those of their groups. */
function collectIds(
  numbers: Uint32Array,
  ends: Uint32Array,
  { shift, from, span }: { readonly shift: number; readonly from: Uint32Array; readonly span: Uint32Array },
  groups: Uint32Array,
  ids: Uint32Array,
): void {
  const length = groups.length | 0
  for (let row = 0; row < length; row++) {
    const group = groups[row] as number
    const id = ids[row] as number
    // One comparison, since it is rarely false: half of the ids are before the first bucket.
    if (((id >>> shift) - (from[group] as number)) >>> 0 > (span[group] as number)) continue
    const end = ends[group] as number
    numbers[end] = id
    ends[group] = end + 1
  }
}

function countBuckets(
  sizes: Uint32Array,
  { width, shift }: { readonly width: number; readonly shift: number },
  groups: Uint32Array,
  ids: Uint32Array,
): void {
  const length = groups.length | 0
  for (let row = 0; row < length; row++) {
    const place = Math.imul(groups[row] as number, width) + ((ids[row] as number) >>> shift)
    sizes[place] = (sizes[place] as number) + 1
  }
}

/** The bucket with the number of a place, and how many numbers are in those before it; null where there is no such place. */
function bucketOf(
  sizes: Uint32Array,
  place: number,
): { readonly bucket: number; readonly before: number } | null {
  if (!(place >= 0)) return null
  let before = 0
  for (let bucket = 0; bucket < sizes.length; bucket++) {
    const size = sizes[bucket] as number
    if (place < before + size) return { bucket, before }
    before += size
  }
  return null
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
