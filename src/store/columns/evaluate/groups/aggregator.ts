import type { AggregateCall, AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluation.ts'
import type { Batch } from '../vectors/batch.ts'
import { countPlaces, countPlacesOf } from '../vectors/lanes.ts'
import { stringOf, type TermValue } from '../vectors/value.ts'
import type { IdVector, Vector } from '../vectors/vector.ts'

/** Computes a value from the solutions of each group. */
export interface Aggregator {
  /**
   * @param groups number of the group of each row
   * @param count groups so far
   */
  add(batch: Batch, groups: Uint32Array, count: number): void
  /** As `add`, without a copy of the groups and values of these rows; false where it needs one. Then nothing is added. */
  addSelected?(batch: Batch, groups: SelectedGroups, count: number): boolean
  /** The results of all groups; an error is an unbound value. */
  result(count: number): Vector
}

/** The rows of a batch as rows that it selects of vectors that have not been read yet: the group of each, by the latter's rows. */
export interface SelectedGroups {
  readonly groups: Uint32Array
  readonly rows: Uint32Array
}

export interface AggregatorContext {
  readonly evaluation: Evaluation
  /** The variables of the solutions. */
  readonly variables: readonly string[]
  /** The vector of an expression over a batch. */
  readonly vectorOf: (expression: AlgebraExpression, batch: Batch) => Vector
}

/** The operand of an aggregate: its values over a batch. */
export interface Operand {
  (batch: Batch): Vector
  /** The name of the operand if it is a variable. */
  readonly variable?: string
}

/** The values of an operand as the selected rows of a vector in which these all have one; null where they are read already. */
export function selectedValues(operand: Operand, batch: Batch, { rows }: SelectedGroups): IdVector | null {
  const unread = operand.variable === undefined ? null : batch.unread(operand.variable)
  return unread?.rows === rows && unread.vector.isWhole === true ? unread.vector : null
}

/** Creates an aggregate that is named by an IRI. */
export type AggregatorMaker = (
  valuesOf: Operand,
  evaluation: Evaluation,
  parameters: NonNullable<AggregateCall['parameters']>,
) => Aggregator

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
  private waiting: (Uint32Array | SelectedGroups)[] = []
  private rows = 0
  /** True where no row was added. */
  isEmpty = true

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
  }

  /** @param count groups so far */
  add(groups: Uint32Array, count: number): void {
    this.wait(groups, groups.length, count)
  }

  addSelected(groups: SelectedGroups, count: number): void {
    this.wait(groups, groups.rows.length, count)
  }

  private wait(groups: Uint32Array | SelectedGroups, rows: number, count: number): void {
    this.isEmpty = false
    this.waiting.push(groups)
    this.rows += rows
    if (this.rows > MAX_WAITING) this.of(count)
  }

  /** Adds rows that were counted before. */
  addCounts(groups: Uint32Array, numbers: Uint32Array, count: number): void {
    const counts = this.of(count)
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] as number
      counts[group] = (counts[group] as number) + (numbers[at] as number)
    }
  }

  /** Rows of each group. */
  of(count: number): Uint32Array {
    this.counts = this.evaluation.grown(this.counts, count)
    const counts = this.counts.subarray(0, count)
    for (const groups of this.waiting)
      if ('groups' in groups) countPlacesOf(counts, groups.groups, groups.rows)
      else addCounted(counts, groups)
    this.waiting = []
    this.rows = 0
    return counts
  }
}

/** The rows of each group of an array that several aggregates of a query count. */
const COUNTED = new WeakMap<Uint32Array, Uint32Array>()

/** With fewer rows per group, counting again is as fast as adding what was counted. */
const ROWS_A_GROUP = 16

/** Adds the numbers of rows by group. */
function addCounted(counts: Uint32Array, groups: Uint32Array): void {
  if (groups.length < ROWS_A_GROUP * counts.length) {
    countPlaces(counts, groups)
    return
  }
  const known = COUNTED.get(groups)
  const own = known ?? new Uint32Array(counts.length)
  if (known === undefined) {
    countPlaces(own, groups)
    COUNTED.set(groups, own)
  }
  for (let group = 0; group < own.length; group++)
    counts[group] = (counts[group] as number) + (own[group] as number)
}
