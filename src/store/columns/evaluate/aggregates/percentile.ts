import type { AggregateCall, AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { Batch } from '../batch.ts'
import { countPlaces } from '../lanes.ts'
import { rowsPresent } from '../row-filters.ts'
import { scratchFloat64, scratchUint32 } from '../scratch.ts'
import { termValue } from '../value.ts'
import { gathered, hasWholeValues, type Vector, vectorValueAt } from '../vector.ts'
import type { Aggregator, AggregatorContext } from './aggregator.ts'
import { CodePlaces } from './code-places.ts'
import { numberTable } from './sums.ts'

/** The rows of a batch with a number, and their groups: numbers by row, or by the ids of rows. */
interface Part {
  readonly groups: Uint32Array
  readonly values: Float64Array
  readonly ids: Uint32Array | null
}

/** A part whose ids are in the order of their numbers. */
type CodedPart = Part & { readonly ids: Uint32Array }

/** The value below which a percentage of the values of a group lies, by linear interpolation between the two nearest values. */
export class Percentile implements Aggregator {
  private readonly parts: Part[] = []
  private readonly operand: AlgebraExpression
  private readonly context: AggregatorContext
  /** 0 to 100. */
  private readonly rank: number

  constructor({ parameters }: AggregateCall, operand: AlgebraExpression, context: AggregatorContext) {
    const [rank] = parameters ?? []
    const value = rank === undefined ? null : termValue(rank)
    this.rank = value?.type === 'number' ? value.value : 50
    this.operand = operand
    this.context = context
  }

  add(batch: Batch, groups: Uint32Array): void {
    const vector = this.context.vectorOf(this.operand, batch)
    this.context.evaluation.allocate(12 * groups.length)
    this.parts.push(partOf(vector, groups))
  }

  result(count: number): Vector {
    const results = new Float64Array(count)
    const bound = new Uint8Array(count)
    const finder = finderOf(this.parts, count)
    for (let group = 0; group < count; group++) {
      const place = (this.rank / 100) * (finder.size(group) - 1)
      const [below, above] = [Math.floor(place), Math.ceil(place)]
      if (!(below >= 0 && above < finder.size(group))) continue
      const [low, high] = finder.find(group, below, above)
      results[group] = low + (high - low) * (place - below)
      bound[group] = 1
    }
    return { type: 'numbers', kind: 'double', values: results, bound }
  }
}

/** Finds the numbers of groups by rank. */
interface Finder {
  readonly size: (group: number) => number
  /** The numbers at one rank and at the same or the next one. */
  readonly find: (group: number, below: number, above: number) => readonly [number, number]
}

function finderOf(parts: readonly Part[], count: number): Finder {
  const [first] = parts
  const areCoded = first !== undefined && parts.every(part => part.values === first.values && isCoded(part))
  const starts = startsOf(parts, count)
  const size = (group: number) => (starts[group + 1] as number) - (starts[group] as number)
  if (areCoded) {
    const codes = placedCodes(parts as readonly CodedPart[], starts)
    const places = new CodePlaces(first.values.length)
    const find: Finder['find'] = (group, below, above) => {
      const own = codes.subarray(starts[group], starts[group + 1])
      const low = places.codeAt(own, below)
      const high = above === below ? low : places.codeAfter(own, low, above)
      return [first.values[low] as number, first.values[high] as number]
    }
    return { size, find }
  }
  const values = placedNumbers(parts, starts)
  const find: Finder['find'] = (group, below, above) => {
    const own = values.subarray(starts[group], starts[group + 1])
    const low = select(own, below)
    return [low, above === below ? low : leastFrom(own, above)]
  }
  return { size, find }
}

/** True where larger ids have larger numbers. NaN, which sorts before or after all others, is not included. */
function isCoded({ ids, values }: Part): boolean {
  return ids !== null && !Number.isNaN(values[1]) && !Number.isNaN(values[values.length - 1])
}

/** The rows of a vector that have a number. */
function partOf(vector: Vector, groups: Uint32Array): Part {
  if (vector.type === 'numbers') {
    const { values, bound } = vector
    if (bound === null) return { groups, values, ids: null }
    return numbered(groups, row => (bound[row] === 1 ? (values[row] as number) : null))
  }
  const table = vector.type === 'ids' ? numberTable(vector.domain) : null
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

function placedNumbers(parts: readonly Part[], starts: Uint32Array): Float64Array {
  const places = starts.slice()
  const placed = scratchFloat64(starts[starts.length - 1] as number)
  for (const { groups, values, ids } of parts)
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] as number
      const place = places[group] as number
      placed[place] = values[ids === null ? at : (ids[at] as number)] as number
      places[group] = place + 1
    }
  return placed
}

function placedCodes(parts: readonly CodedPart[], starts: Uint32Array): Uint32Array {
  const places = starts.slice()
  const placed = scratchUint32(starts[starts.length - 1] as number)
  for (const { groups, ids } of parts) placeCodes(placed, places, groups, ids)
  return placed
}

function placeCodes(placed: Uint32Array, places: Uint32Array, groups: Uint32Array, ids: Uint32Array): void {
  const length = groups.length | 0
  const whole = length & ~3
  for (let at = 0; at < whole; at += 4) {
    const first = groups[at] as number
    const second = groups[at + 1] as number
    const third = groups[at + 2] as number
    const fourth = groups[at + 3] as number
    let place = places[first] as number
    placed[place] = ids[at] as number
    places[first] = place + 1
    place = places[second] as number
    placed[place] = ids[at + 1] as number
    places[second] = place + 1
    place = places[third] as number
    placed[place] = ids[at + 2] as number
    places[third] = place + 1
    place = places[fourth] as number
    placed[place] = ids[at + 3] as number
    places[fourth] = place + 1
  }
  for (let at = whole; at < length; at++) {
    const group = groups[at] as number
    const place = places[group] as number
    placed[place] = ids[at] as number
    places[group] = place + 1
  }
}

/** Fewer numbers than this are sorted. */
const FEW = 32

/** The number of a rank, NaN last (quickselect): afterwards smaller numbers are before it, larger ones after it. */
function select(numbers: Float64Array, place: number): number {
  let [from, to] = [0, numbers.length]
  while (to - from > FEW) {
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
function leastFrom(numbers: Float64Array, place: number): number {
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
