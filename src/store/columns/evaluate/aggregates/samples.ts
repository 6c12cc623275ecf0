import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { Batch } from '../batch.ts'
import { stringOf, type TermValue, termOf, text } from '../value.ts'
import { type Vector, vectorValueAt } from '../vector.ts'
import { type Aggregator, type AggregatorContext, bytesOfValue } from './aggregator.ts'

/** Longest text that GROUP_CONCAT makes, in characters. */
const MAX_TEXT = 2 ** 26

/** Bytes of a text beside its characters, with its place in a list. */
const BYTES_A_TEXT = 40

/** Some value of a group: the first. */
export class Sample implements Aggregator {
  private readonly values = new Map<number, TermValue>()
  private readonly operand: AlgebraExpression
  private readonly context: AggregatorContext

  constructor(operand: AlgebraExpression, context: AggregatorContext) {
    this.operand = operand
    this.context = context
  }

  add(batch: Batch, groups: Uint32Array): void {
    const vector = this.context.vectorOf(this.operand, batch)
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      if (this.values.has(group)) continue
      const value = vectorValueAt(vector, row)
      if (value === null) continue
      this.context.evaluation.allocate(bytesOfValue(value))
      this.values.set(group, value)
    }
  }

  result(count: number): Vector {
    const { pool } = this.context.evaluation
    const ids = new Uint32Array(count)
    for (const [group, value] of this.values) ids[group] = pool.intern(termOf(value))
    return { type: 'ids', domain: pool, ids }
  }
}

/** Texts of a group one after another; what has no text is an error. */
export class GroupConcat implements Aggregator {
  private readonly texts = new Map<number, string[] | null>()
  private readonly operand: AlgebraExpression
  private readonly separator: string
  private readonly context: AggregatorContext
  private length = 0

  constructor(operand: AlgebraExpression, separator: string, context: AggregatorContext) {
    this.operand = operand
    this.separator = separator
    this.context = context
  }

  add(batch: Batch, groups: Uint32Array): void {
    const vector = this.context.vectorOf(this.operand, batch)
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      const known = this.texts.get(group)
      if (known === null) continue
      const value = vectorValueAt(vector, row)
      const form = value === null ? null : stringOf(value)
      if (form === null) {
        this.texts.set(group, null)
        continue
      }
      this.length += form.length
      this.context.evaluation.allocate(BYTES_A_TEXT + 2 * form.length)
      if (known === undefined) {
        this.context.evaluation.allocate(bytesOfValue(null))
        this.texts.set(group, [form])
      } else known.push(form)
    }
    if (this.length > MAX_TEXT) this.context.evaluation.allocate(Number.POSITIVE_INFINITY)
  }

  result(count: number): Vector {
    const { pool } = this.context.evaluation
    const ids = new Uint32Array(count)
    for (let group = 0; group < count; group++) {
      const parts = this.texts.get(group)
      if (parts !== null) ids[group] = pool.intern(termOf(text((parts ?? []).join(this.separator))))
    }
    return { type: 'ids', domain: pool, ids }
  }
}
