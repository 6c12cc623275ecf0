import type { AggregateCall, Formula } from '../../../../sparql/operation.ts'
import type { Batch } from '../batch.ts'
import { type NumberValue, termValue, type Value } from '../value.ts'
import { type Vector, valueAt } from '../vector.ts'
import type { Aggregator, AggregatorContext } from './aggregator.ts'

/** The value below which a part of the values of a group lies, between the two nearest by linear interpolation. */
export class Percentile implements Aggregator {
  private readonly values = new Map<number, number[]>()
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
    this.context.evaluation.allocate(8 * groups.length)
    for (let row = 0; row < groups.length; row++) {
      const value = numberAt(vector, row)
      if (value === null) continue
      const group = groups[row] as number
      const list = this.values.get(group)
      if (list === undefined) this.values.set(group, [value])
      else list.push(value)
    }
  }

  result(count: number): Vector {
    const results = new Float64Array(count)
    const bound = new Uint8Array(count)
    for (const [group, values] of this.values) {
      const sorted = Float64Array.from(values).sort()
      const place = (this.rank / 100) * (sorted.length - 1)
      const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
      if (low === undefined || high === undefined) continue
      results[group] = low + (high - low) * (place - Math.floor(place))
      bound[group] = 1
    }
    return { type: 'numbers', kind: 'double', values: results, bound }
  }
}

function numberAt(vector: Vector, row: number): number | null {
  if (vector.type === 'numbers')
    return vector.bound === null || vector.bound[row] === 1 ? (vector.values[row] as number) : null
  const value = valueAt(vector, row)
  return isNumber(value) ? value.value : null
}

function isNumber(value: Value | null): value is NumberValue {
  return value?.type === 'number'
}
