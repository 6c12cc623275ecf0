import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import { type Batch, numbersFrom } from '../batch.ts'
import { KeyedGroups } from '../keyed-groups.ts'
import { isBound, type Vector } from '../vector.ts'
import { type Aggregator, type AggregatorContext, GroupNumbers } from './aggregator.ts'
import { DistinctValues } from './distinct.ts'

function counted(values: Float64Array, count: number): Vector {
  return { type: 'numbers', kind: 'integer', values: values.slice(0, count), bound: null }
}

export class CountRows implements Aggregator {
  private readonly counts: GroupNumbers

  constructor(context: AggregatorContext) {
    this.counts = new GroupNumbers(context)
  }

  add(_: Batch, groups: Uint32Array, count: number): void {
    const counts = this.counts.grow(count)
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      counts[group] = (counts[group] as number) + 1
    }
  }

  /** Adds rows that were counted before. */
  addCounts(groups: Uint32Array, numbers: Uint32Array, count: number): void {
    const counts = this.counts.grow(count)
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      counts[group] = (counts[group] as number) + (numbers[row] as number)
    }
  }

  /** The groups that have rows. */
  present(count: number): Uint32Array {
    const counts = this.counts.grow(count)
    return numbersFrom(0, count).filter(group => counts[group] !== 0)
  }

  result(count: number): Vector {
    return counted(this.counts.grow(count), count)
  }
}

export class CountValues implements Aggregator {
  private readonly counts: GroupNumbers
  private readonly operand: AlgebraExpression
  private readonly context: AggregatorContext

  constructor(operand: AlgebraExpression, context: AggregatorContext) {
    this.operand = operand
    this.context = context
    this.counts = new GroupNumbers(context)
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const counts = this.counts.grow(count)
    const vector = this.context.vectorOf(this.operand, batch)
    if (vector.type === 'ids') {
      const { ids } = vector
      for (let row = 0; row < groups.length; row++) {
        const group = groups[row] as number
        if (ids[row] !== 0) counts[group] = (counts[group] as number) + 1
      }
    } else
      for (let row = 0; row < groups.length; row++) {
        const group = groups[row] as number
        if (isBound(vector, row)) counts[group] = (counts[group] as number) + 1
      }
  }

  result(count: number): Vector {
    return counted(this.counts.grow(count), count)
  }
}

export class CountDistinct implements Aggregator {
  private readonly counts: GroupNumbers
  private readonly distinct: DistinctValues
  private readonly operand: AlgebraExpression
  private readonly context: AggregatorContext

  constructor(operand: AlgebraExpression, context: AggregatorContext) {
    this.operand = operand
    this.context = context
    this.counts = new GroupNumbers(context)
    this.distinct = new DistinctValues(context.evaluation)
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const counts = this.counts.grow(count)
    const vector = this.context.vectorOf(this.operand, batch)
    this.distinct.countNew(vector, groups, count, counts)
  }

  result(count: number): Vector {
    return counted(this.counts.grow(count), count)
  }
}

/** COUNT(DISTINCT *): solutions that differ in some variable, among which are the keys of their group. */
export class CountDistinctRows implements Aggregator {
  private readonly counts: GroupNumbers
  private readonly rows: KeyedGroups

  constructor(context: AggregatorContext) {
    this.counts = new GroupNumbers(context)
    this.rows = new KeyedGroups(context.variables, context.evaluation)
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const counts = this.counts.grow(count)
    let next = this.rows.count()
    const numbers = this.rows.assign(batch)
    for (let row = 0; row < groups.length; row++) {
      if (numbers[row] !== next) continue
      next += 1
      const group = groups[row] as number
      counts[group] = (counts[group] as number) + 1
    }
  }

  result(count: number): Vector {
    return counted(this.counts.grow(count), count)
  }
}
