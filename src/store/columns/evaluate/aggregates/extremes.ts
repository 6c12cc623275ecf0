import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { Batch } from '../batch.ts'
import { compareForOrder, orderOf } from '../compare.ts'
import { ColumnDomain } from '../domain.ts'
import { type TermValue, termOf } from '../value.ts'
import { hasWholeValues, type Vector, vectorValueAt } from '../vector.ts'
import { type Aggregator, type AggregatorContext, bytesOfValue } from './aggregator.ts'

/** MIN and MAX: in the sort order of results; an error is no value (SPARQL 1.1 Query, section 18.5.1.5). */
export class Extreme implements Aggregator {
  private readonly operand: AlgebraExpression
  private readonly context: AggregatorContext
  /** -1 keeps the least value, 1 the greatest. */
  private readonly sign: -1 | 1
  /** Numbers of the values so far, in one domain; later the values themselves. */
  private best = new Uint32Array(64)
  private domain: ColumnDomain | null | undefined
  private readonly values = new Map<number, TermValue | null>()

  constructor(operand: AlgebraExpression, context: AggregatorContext, sign: -1 | 1) {
    this.operand = operand
    this.context = context
    this.sign = sign
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const vector = this.context.vectorOf(this.operand, batch)
    const isPlain =
      vector.type === 'ids' &&
      vector.domain instanceof ColumnDomain &&
      isComparable(vector.domain) &&
      hasWholeValues(vector)
    if (isPlain && (this.domain === undefined || this.domain === vector.domain)) {
      this.domain = vector.domain as ColumnDomain
      this.addCodes(vector.ids, groups, count)
      return
    }
    if (this.domain !== null) this.leaveCodes()
    if (!isPlain) {
      for (let row = 0; row < groups.length; row++)
        this.addValue(groups[row] as number, vectorValueAt(vector, row))
      return
    }
    // Only one value per group of the batch is compared with those of other domains.
    this.addCodes(vector.ids, groups, count)
    const { best } = this
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      const code = best[group] as number
      if (code === 0) continue
      best[group] = 0
      this.addValue(group, vector.domain.value(code))
    }
  }

  private addValue(group: number, value: TermValue | null): void {
    const before = this.values.get(group)
    if (before === null) return
    if (value !== null && before !== undefined && this.sign * compareValues(value, before) <= 0) return
    this.context.evaluation.allocate(bytesOfValue(value) - (before === undefined ? 0 : bytesOfValue(before)))
    this.values.set(group, value)
  }

  private addCodes(ids: Uint32Array, groups: Uint32Array, count: number): void {
    if (count > this.best.length) {
      this.context.evaluation.allocate(8 * count - 4 * this.best.length)
      const larger = new Uint32Array(2 * count)
      larger.set(this.best)
      this.best = larger
    }
    if (this.sign > 0) keepGreatest(this.best, ids, groups)
    else keepLeast(this.best, ids, groups)
  }

  private leaveCodes(): void {
    const { domain, best } = this
    if (domain !== undefined && domain !== null)
      for (let group = 0; group < best.length; group++)
        if (best[group] !== 0) {
          const value = domain.value(best[group] as number)
          this.context.evaluation.allocate(bytesOfValue(value))
          this.values.set(group, value)
        }
    best.fill(0)
    this.domain = null
  }

  result(count: number): Vector {
    if (this.domain !== undefined && this.domain !== null) {
      const ids = new Uint32Array(count)
      ids.set(this.best.subarray(0, count))
      return { type: 'ids', domain: this.domain, ids }
    }
    const { pool } = this.context.evaluation
    const ids = new Uint32Array(count)
    for (const [group, value] of this.values) ids[group] = value === null ? 0 : pool.intern(termOf(value))
    return { type: 'ids', domain: pool, ids }
  }
}

function keepGreatest(best: Uint32Array, ids: Uint32Array, groups: Uint32Array): void {
  const length = groups.length | 0
  const whole = length & ~3
  for (let row = 0; row < whole; row += 4) {
    const first = groups[row] as number
    const second = groups[row + 1] as number
    const third = groups[row + 2] as number
    const fourth = groups[row + 3] as number
    let id = (ids[row] as number) | 0
    if (id > ((best[first] as number) | 0)) best[first] = id
    id = (ids[row + 1] as number) | 0
    if (id > ((best[second] as number) | 0)) best[second] = id
    id = (ids[row + 2] as number) | 0
    if (id > ((best[third] as number) | 0)) best[third] = id
    id = (ids[row + 3] as number) | 0
    if (id > ((best[fourth] as number) | 0)) best[fourth] = id
  }
  for (let row = whole; row < length; row++) {
    const group = groups[row] as number
    const id = (ids[row] as number) | 0
    if (id > ((best[group] as number) | 0)) best[group] = id
  }
}

/** 0 means no number yet; minus 1 it wraps around to the greatest number. */
function keepLeast(best: Uint32Array, ids: Uint32Array, groups: Uint32Array): void {
  const length = groups.length | 0
  for (let row = 0; row < length; row++) {
    const group = groups[row] as number
    const id = ids[row] as number
    if ((id - 1) >>> 0 < ((best[group] as number) - 1) >>> 0) best[group] = id
  }
}

function isComparable(domain: ColumnDomain): boolean {
  return domain.dictionary.header.parts.length === 1 && domain.ranks() === null
}

function compareValues(left: TermValue, right: TermValue): number {
  // The order of results is the same for numbers, and does not depend on which are compared first.
  const order = left.type === 'number' ? null : orderOf(left, right)
  return order === null || Number.isNaN(order) ? compareForOrder(left, right) : order
}
