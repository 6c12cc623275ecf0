import type { Literal } from '../../../../rdf/term.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import { grown } from '../../bytes.ts'
import type { Batch } from '../batch.ts'
import { PoolDomain } from '../pool-domain.ts'
import { literalOf, stringOf, type TermValue, termOf } from '../value.ts'
import { type Vector, vectorValueAt } from '../vector.ts'
import { type Aggregator, type AggregatorContext, bytesOfValue, GroupNumbers } from './aggregator.ts'

/** Maximum characters of the texts of one group, with their separators. */
const MAX_TEXT = 2 ** 26

/** Any value of a group: the first. */
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

/** A text of a group: its number, and its length. */
interface Part {
  readonly number: number
  readonly length: number
}

/** Concatenates the texts of a group; a value without text is an error. Texts are stored once, groups as lists of their numbers. */
export class GroupConcat implements Aggregator {
  private readonly operand: AlgebraExpression
  private readonly separator: string
  private readonly context: AggregatorContext
  private readonly pool: PoolDomain
  private bytesOfPool = 0
  /** Characters by group, with a separator for each text; negative where the group has an error. */
  private readonly lengths: GroupNumbers
  /** By group the last entry of its circular list, whose next is the first one; 0 for none. */
  private last: Uint32Array<ArrayBuffer> = new Uint32Array(64)
  private next: Uint32Array<ArrayBuffer> = new Uint32Array(64)
  private texts: Uint32Array<ArrayBuffer> = new Uint32Array(64)
  private entries = 0

  constructor(operand: AlgebraExpression, separator: string, context: AggregatorContext) {
    const { evaluation } = context
    this.operand = operand
    this.separator = separator
    this.context = context
    this.lengths = new GroupNumbers(context)
    this.pool = new PoolDomain(bytes => {
      this.bytesOfPool += bytes
      evaluation.allocate(bytes)
    })
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const { evaluation, vectorOf } = this.context
    const vector = vectorOf(this.operand, batch)
    const lengths = this.lengths.grow(count)
    this.makeRoom(count, groups.length)
    let text: Part | null = null
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      const length = lengths[group] as number
      if (length < 0) continue
      if (text === null || vector.type !== 'constant') text = this.textOf(vectorValueAt(vector, row))
      lengths[group] = text === null ? -1 : length + this.separator.length + text.length
      if ((lengths[group] as number) > MAX_TEXT) evaluation.allocate(Number.POSITIVE_INFINITY)
      if (text !== null) this.append(group, text.number)
    }
  }

  private textOf(value: TermValue | null): Part | null {
    const form = value === null ? null : stringOf(value)
    if (form === null) return null
    return { number: this.pool.intern(literalOf(form, XSD.string)), length: form.length }
  }

  /** Makes room for groups and further entries. */
  private makeRoom(groups: number, entries: number): void {
    const before = this.last.length + 2 * this.next.length
    this.last = grown(this.last, groups + 1)
    this.next = grown(this.next, this.entries + entries + 1)
    this.texts = grown(this.texts, this.entries + entries + 1)
    this.context.evaluation.allocate(4 * (this.last.length + 2 * this.next.length - before))
  }

  private append(group: number, text: number): void {
    const entry = ++this.entries
    const last = this.last[group] as number
    this.next[entry] = last === 0 ? entry : (this.next[last] as number)
    if (last !== 0) this.next[last] = entry
    this.last[group] = entry
    this.texts[entry] = text
  }

  result(count: number): Vector {
    const { pool } = this.context.evaluation
    const lengths = this.lengths.grow(count)
    const ids = new Uint32Array(count)
    const forms: string[] = []
    const formOf = (text: number): string => {
      forms[text] ??= (this.pool.term(text) as Literal).value
      return forms[text] as string
    }
    for (let group = 0; group < count; group++) {
      if ((lengths[group] as number) < 0) continue
      const parts: string[] = []
      const last = this.last[group] ?? 0
      for (let entry = last; last !== 0; ) {
        entry = this.next[entry] as number
        parts.push(formOf(this.texts[entry] as number))
        if (entry === last) break
      }
      ids[group] = pool.intern(literalOf(parts.join(this.separator), XSD.string))
      this.context.evaluation.advance(8)
    }
    this.context.evaluation.release(this.bytesOfPool)
    this.bytesOfPool = 0
    return { type: 'ids', domain: pool, ids }
  }
}
