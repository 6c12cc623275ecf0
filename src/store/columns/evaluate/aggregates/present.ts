import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import { allRows, type Batch } from '../batch.ts'
import { rowsBound } from '../row-filters.ts'
import { gathered, hasWholeValues, isBound, type Vector, vectorValueAt } from '../vector.ts'
import { type Aggregator, type AggregatorContext, RowCounts } from './aggregator.ts'
import { Sum } from './sums.ts'

/** Passes only the present values to another aggregate; a group without any has no result. */
export class Present implements Aggregator {
  private readonly operand: AlgebraExpression
  private readonly inner: Aggregator
  private readonly context: AggregatorContext
  private readonly counts: RowCounts
  /** True as long as every row had a value. */
  private isWhole = true

  constructor(operand: AlgebraExpression, inner: Aggregator, context: AggregatorContext) {
    this.operand = operand
    this.inner = inner
    this.context = context
    this.counts = new RowCounts(context)
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const vector = this.context.vectorOf(this.operand, batch)
    if (hasWholeValues(vector)) {
      this.counts.add(groups, count)
      this.inner.add(batch, groups, count)
      return
    }
    this.isWhole = false
    const some = rowsBound(vector, allRows(groups.length), true)
    const theirs = gathered(groups, some)
    this.counts.add(theirs, count)
    this.inner.add(batch.rows(some), theirs, count)
  }

  result(count: number): Vector {
    const result = this.inner.result(count)
    // A group has rows: where all of them have a value, so has the group.
    if (this.isWhole && !this.counts.isEmpty) return result
    const counts = this.counts.of(count)
    if (result.type === 'ids')
      return { ...result, ids: result.ids.map((id, group) => (counts[group] === 0 ? 0 : id)) }
    if (result.type === 'constant') throw new Error('the result of an aggregate has a value for each group')
    const bound = new Uint8Array(count)
    for (let group = 0; group < count; group++)
      bound[group] = counts[group] !== 0 && isBound(result, group) ? 1 : 0
    return { ...result, bound }
  }

  /** The number of values of each group. */
  numbers(count: number): Uint32Array {
    return this.counts.of(count)
  }
}

/** The mean of numbers, as a double. */
export class Average implements Aggregator {
  private readonly present: Present

  constructor(operand: AlgebraExpression, context: AggregatorContext) {
    this.present = new Present(operand, new Sum(operand, context, false), context)
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    this.present.add(batch, groups, count)
  }

  result(count: number): Vector {
    const sums = this.present.result(count)
    const numbers = this.present.numbers(count)
    const values = new Float64Array(count)
    const bound = new Uint8Array(count)
    for (let group = 0; group < count; group++) {
      const sum = vectorValueAt(sums, group)
      if (sum?.type !== 'number') continue
      values[group] = sum.value / (numbers[group] as number)
      bound[group] = 1
    }
    return { type: 'numbers', kind: 'double', values, bound }
  }
}
