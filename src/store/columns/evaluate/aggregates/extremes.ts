import type { Batch } from '../batch.ts'
import { compareForOrder, orderOf } from '../compare.ts'
import { ColumnDomain } from '../domain.ts'
import type { Evaluation } from '../evaluation.ts'
import type { TermValue } from '../value.ts'
import { hasWholeValues, type Vector, vectorValueAt } from '../vector.ts'
import { type Aggregator, bytesOfValue, type ValuesOf } from './aggregator.ts'
import { termsOfGroups } from './samples.ts'

/** MIN and MAX: in the sort order of results; an error is no value (SPARQL 1.1 Query, section 18.5.1.5). */
export class Extreme implements Aggregator {
  private readonly valuesOf: ValuesOf
  private readonly evaluation: Evaluation
  /** -1 keeps the least value, 1 the greatest. */
  private readonly sign: -1 | 1
  /** Numbers of the values so far, in one domain; later the values themselves. */
  private best = new Uint32Array(64)
  private domain: ColumnDomain | null | undefined
  private readonly values = new Map<number, TermValue | null>()

  constructor(valuesOf: ValuesOf, evaluation: Evaluation, sign: -1 | 1) {
    this.valuesOf = valuesOf
    this.evaluation = evaluation
    this.sign = sign
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const vector = this.valuesOf(batch)
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
    this.evaluation.allocate(bytesOfValue(value) - (before === undefined ? 0 : bytesOfValue(before)))
    this.values.set(group, value)
  }

  private addCodes(ids: Uint32Array, groups: Uint32Array, count: number): void {
    this.best = this.evaluation.grown(this.best, count)
    if (this.sign > 0) keepGreatest(this.best, ids, groups)
    else keepLeast(this.best, ids, groups)
  }

  private leaveCodes(): void {
    const { domain, best } = this
    if (domain !== undefined && domain !== null)
      for (let group = 0; group < best.length; group++)
        if (best[group] !== 0) {
          const value = domain.value(best[group] as number)
          this.evaluation.allocate(bytesOfValue(value))
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
    return termsOfGroups(this.values, count, this.evaluation)
  }
}

function keepGreatest(best: Uint32Array, ids: Uint32Array, groups: Uint32Array): void {
  const length = groups.length | 0
  for (let row = 0; row < length; row++) {
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
