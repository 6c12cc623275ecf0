import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import { type Batch, numbersFrom } from '../batch.ts'
import type { Evaluation } from '../evaluation.ts'
import { pooledIds } from '../translate.ts'
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

/** Overhead in bytes of a key with its table entry, in addition to its characters. */
const BYTES_A_KEY = 120

/** COUNT(DISTINCT *): solutions that differ in some variable. */
export class CountDistinctRows implements Aggregator {
  private readonly counts: GroupNumbers
  private readonly values = new Set<string>()
  private readonly evaluation: Evaluation

  constructor(context: AggregatorContext) {
    this.counts = new GroupNumbers(context)
    this.evaluation = context.evaluation
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const counts = this.counts.grow(count)
    const names = [...batch.variables].sort()
    const ids = names.map(name => pooledIds(batch.get(name) as Vector, batch.size, this.evaluation))
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      // An unbound variable equals an absent one.
      const bound = names.flatMap((name, at) =>
        (ids[at] as Uint32Array)[row] === 0 ? [] : [`${name} ${(ids[at] as Uint32Array)[row]}`],
      )
      const key = `${group} ${bound.join(' ')}`
      if (this.values.has(key)) continue
      this.values.add(key)
      this.evaluation.allocate(BYTES_A_KEY + key.length)
      counts[group] = (counts[group] as number) + 1
    }
  }

  result(count: number): Vector {
    return counted(this.counts.grow(count), count)
  }
}
