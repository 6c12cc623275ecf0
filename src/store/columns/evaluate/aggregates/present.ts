import type { Formula } from '../../../../sparql/operation.ts'
import type { Batch } from '../batch.ts'
import { isBound, type Vector, valueAt } from '../vector.ts'
import { type Aggregator, type AggregatorContext, GroupNumbers } from './aggregator.ts'
import { Sum } from './sums.ts'

/** Gives another aggregate the values that there are; a group without any has no result. */
export class Present implements Aggregator {
  private readonly operand: Formula
  private readonly inner: Aggregator
  private readonly context: AggregatorContext
  private readonly counts = new GroupNumbers()

  constructor(operand: Formula, inner: Aggregator, context: AggregatorContext) {
    this.operand = operand
    this.inner = inner
    this.context = context
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const vector = this.context.vectorOf(this.operand, batch)
    const counts = this.counts.grow(count)
    const rows = new Uint32Array(groups.length)
    let present = 0
    for (let row = 0; row < groups.length; row++) {
      if (!isBound(vector, row)) continue
      const group = groups[row] as number
      counts[group] = (counts[group] as number) + 1
      rows[present] = row
      present += 1
    }
    if (present === groups.length) {
      this.inner.add(batch, groups, count)
      return
    }
    const some = rows.subarray(0, present)
    const theirs = new Uint32Array(present)
    for (let at = 0; at < present; at++) theirs[at] = groups[some[at] as number] as number
    this.inner.add(batch.rows(some), theirs, count)
  }

  result(count: number): Vector {
    const result = this.inner.result(count)
    const counts = this.counts.grow(count)
    let isWhole = true
    for (let group = 0; group < count; group++) isWhole &&= counts[group] !== 0
    if (isWhole) return result
    if (result.type === 'ids')
      return { ...result, ids: result.ids.map((id, group) => (counts[group] === 0 ? 0 : id)) }
    if (result.type === 'constant') throw new Error('the result of an aggregate has a value for each group')
    const bound = new Uint8Array(count)
    for (let group = 0; group < count; group++)
      bound[group] = counts[group] !== 0 && isBound(result, group) ? 1 : 0
    return { ...result, bound }
  }

  /** How many values a group has. */
  countOf(group: number): number {
    return this.counts.values[group] ?? 0
  }
}

/** The mean of numbers, as a double. */
export class Average implements Aggregator {
  private readonly present: Present

  constructor(operand: Formula, context: AggregatorContext) {
    this.present = new Present(operand, new Sum(operand, context, false), context)
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    this.present.add(batch, groups, count)
  }

  result(count: number): Vector {
    const sums = this.present.result(count)
    const values = new Float64Array(count)
    const bound = new Uint8Array(count)
    for (let group = 0; group < count; group++) {
      const sum = valueAt(sums, group)
      if (sum?.type !== 'number') continue
      values[group] = sum.value / this.present.countOf(group)
      bound[group] = 1
    }
    return { type: 'numbers', kind: 'double', values, bound }
  }
}
