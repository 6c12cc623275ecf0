import type { AggregateCall, Formula } from '../../../../sparql/operation.ts'
import type { Batch } from '../batch.ts'
import type { Evaluation } from '../evaluation.ts'
import type { Vector } from '../vector.ts'

/** What is worked out of the solutions of each group. */
export interface Aggregator {
  /**
   * @param groups number of the group of each row
   * @param count groups so far
   */
  add(batch: Batch, groups: Uint32Array, count: number): void
  /** The results of all groups; an error is no value. */
  result(count: number): Vector
}

export interface AggregatorContext {
  readonly evaluation: Evaluation
  /** The vector of an expression over a batch. */
  readonly vectorOf: (formula: Formula, batch: Batch) => Vector
}

/** Makes an aggregate that is named by an IRI. */
export type AggregatorMaker = (
  call: AggregateCall,
  operand: Formula,
  context: AggregatorContext,
) => Aggregator

/** Numbers by group, as many as there are groups. */
export class GroupNumbers {
  values = new Float64Array(64)

  grow(count: number, fill = 0): Float64Array {
    if (count > this.values.length) {
      const larger = new Float64Array(Math.max(count, 2 * this.values.length))
      larger.set(this.values)
      if (fill !== 0) larger.fill(fill, this.values.length)
      this.values = larger
    }
    return this.values
  }
}

/** Counts rows by group, when their numbers are first asked for. */
export class RowCounts {
  private readonly numbers = new GroupNumbers()
  private waiting: Uint32Array[] = []
  /** True where no row was added. */
  isEmpty = true

  add(groups: Uint32Array): void {
    this.isEmpty = false
    this.waiting.push(groups)
  }

  of(count: number): Float64Array {
    const counts = this.numbers.grow(count)
    for (const groups of this.waiting)
      for (let row = 0; row < groups.length; row++) {
        const group = groups[row] as number
        counts[group] = (counts[group] as number) + 1
      }
    this.waiting = []
    return counts
  }
}
