import type { AggregateCall, AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { Batch } from '../batch.ts'
import type { Evaluation } from '../evaluation.ts'
import { countPlaces } from '../lanes.ts'
import { stringOf, type TermValue } from '../value.ts'
import type { Vector } from '../vector.ts'

/** Computes a value from the solutions of each group. */
export interface Aggregator {
  /**
   * @param groups number of the group of each row
   * @param count groups so far
   */
  add(batch: Batch, groups: Uint32Array, count: number): void
  /** The results of all groups; an error is an unbound value. */
  result(count: number): Vector
}

export interface AggregatorContext {
  readonly evaluation: Evaluation
  /** The variables of the solutions. */
  readonly variables: readonly string[]
  /** The vector of an expression over a batch. */
  readonly vectorOf: (expression: AlgebraExpression, batch: Batch) => Vector
}

/** Creates an aggregate that is named by an IRI. */
export type AggregatorMaker = (
  call: AggregateCall,
  operand: AlgebraExpression,
  context: AggregatorContext,
) => Aggregator

/** One number per group. */
export class GroupNumbers {
  values = new Float64Array(64)
  private readonly evaluation: Evaluation

  constructor({ evaluation }: AggregatorContext) {
    this.evaluation = evaluation
  }

  grow(count: number): Float64Array {
    if (count > this.values.length) {
      const length = Math.max(count, 2 * this.values.length)
      this.evaluation.allocate(8 * (length - this.values.length))
      const larger = new Float64Array(length)
      larger.set(this.values)
      this.values = larger
    }
    return this.values
  }
}

/** Maximum number of rows that wait to be counted. */
const MAX_WAITING = 2 ** 20

/** Overhead in bytes of a value that is stored for a group, in addition to its text. */
const BYTES_A_VALUE = 200

/** Approximate size in bytes of a value that is stored for a group. */
export function bytesOfValue(value: TermValue | null): number {
  return BYTES_A_VALUE + (value === null ? 0 : 2 * (stringOf(value)?.length ?? 0))
}

/** Counts rows by group, on first use. */
export class RowCounts {
  private counts = new Uint32Array(64)
  private readonly evaluation: Evaluation
  private waiting: Uint32Array[] = []
  private rows = 0
  /** True where no row was added. */
  isEmpty = true

  constructor(context: AggregatorContext) {
    this.evaluation = context.evaluation
  }

  /** @param count groups so far */
  add(groups: Uint32Array, count: number): void {
    this.isEmpty = false
    this.waiting.push(groups)
    this.rows += groups.length
    if (this.rows > MAX_WAITING) this.of(count)
  }

  /** Rows of each group. */
  of(count: number): Uint32Array {
    if (count > this.counts.length) {
      const length = Math.max(count, 2 * this.counts.length)
      this.evaluation.allocate(4 * (length - this.counts.length))
      const larger = new Uint32Array(length)
      larger.set(this.counts)
      this.counts = larger
    }
    for (const groups of this.waiting) countPlaces(this.counts.subarray(0, count), groups)
    this.waiting = []
    this.rows = 0
    return this.counts
  }
}
