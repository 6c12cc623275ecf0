import type { AggregateCall, Formula } from '../../../../sparql/operation.ts'
import type { Batch } from '../batch.ts'
import { termValue } from '../value.ts'
import { type Vector, vectorValueAt } from '../vector.ts'
import type { Aggregator, AggregatorContext } from './aggregator.ts'
import { numberTable } from './sums.ts'

/** Numbers of a batch and the groups that they belong to. */
interface Part {
  readonly groups: Uint32Array
  readonly values: Float64Array
}

/** The value below which a part of the values of a group lies, between the two nearest by linear interpolation. */
export class Percentile implements Aggregator {
  private readonly parts: Part[] = []
  private readonly operand: Formula
  private readonly context: AggregatorContext
  /** 0 to 100. */
  private readonly rank: number

  constructor({ parameters }: AggregateCall, operand: Formula, context: AggregatorContext) {
    const [rank] = parameters ?? []
    const value = rank === undefined ? null : termValue(rank)
    this.rank = value?.type === 'number' ? value.value : 50
    this.operand = operand
    this.context = context
  }

  add(batch: Batch, groups: Uint32Array): void {
    const vector = this.context.vectorOf(this.operand, batch)
    this.context.evaluation.allocate(12 * groups.length)
    this.parts.push(present(numbersOf(vector, groups.length), groups))
  }

  result(count: number): Vector {
    const { starts, values } = byGroup(this.parts, count)
    const results = new Float64Array(count)
    const bound = new Uint8Array(count)
    for (let group = 0; group < count; group++) {
      const sorted = values.subarray(starts[group], starts[group + 1]).sort()
      const place = (this.rank / 100) * (sorted.length - 1)
      const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
      if (low === undefined || high === undefined) continue
      results[group] = low + (high - low) * (place - Math.floor(place))
      bound[group] = 1
    }
    return { type: 'numbers', kind: 'double', values: results, bound }
  }
}

/** The numbers of a vector by row, and the rows that have one; null where all have. */
function numbersOf(
  vector: Vector,
  size: number,
): { readonly values: Float64Array; readonly bound: Uint8Array | null } {
  if (vector.type === 'numbers') return vector
  const values = new Float64Array(size)
  const bound = new Uint8Array(size)
  const table = vector.type === 'ids' ? numberTable(vector.domain) : null
  if (vector.type === 'ids' && table !== null) {
    const { ids } = vector
    for (let row = 0; row < size; row++) {
      const id = ids[row] as number
      values[row] = table.values[id] as number
      bound[row] = id === 0 ? 0 : 1
    }
    return { values, bound }
  }
  for (let row = 0; row < size; row++) {
    const value = vectorValueAt(vector, row)
    if (value?.type !== 'number') continue
    values[row] = value.value
    bound[row] = 1
  }
  return { values, bound }
}

function present(
  { values, bound }: { readonly values: Float64Array; readonly bound: Uint8Array | null },
  groups: Uint32Array,
): Part {
  const part = { groups: new Uint32Array(groups.length), values: new Float64Array(groups.length) }
  let count = 0
  for (let row = 0; row < groups.length; row++) {
    part.groups[count] = groups[row] as number
    part.values[count] = values[row] as number
    count += bound === null || bound[row] === 1 ? 1 : 0
  }
  return { groups: part.groups.subarray(0, count), values: part.values.subarray(0, count) }
}

/** All values, those of a group one after another. */
function byGroup(
  parts: readonly Part[],
  count: number,
): { readonly starts: Uint32Array; readonly values: Float64Array } {
  const starts = new Uint32Array(count + 1)
  for (const { groups } of parts)
    for (let at = 0; at < groups.length; at++) {
      const next = (groups[at] as number) + 1
      starts[next] = (starts[next] as number) + 1
    }
  for (let group = 0; group < count; group++)
    starts[group + 1] = (starts[group + 1] as number) + (starts[group] as number)
  const places = starts.slice()
  const sorted = new Float64Array(starts[count] as number)
  for (const { groups, values } of parts)
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] as number
      const place = places[group] as number
      sorted[place] = values[at] as number
      places[group] = place + 1
    }
  return { starts, values: sorted }
}
