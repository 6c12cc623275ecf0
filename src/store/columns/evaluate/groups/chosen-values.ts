import type { Literal } from '../../../../rdf/term.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import type { Evaluation } from '../evaluation.ts'
import { allRows, type Batch } from '../vectors/batch.ts'
import { ColumnDomain, type Domain } from '../vectors/domain.ts'
import { PoolDomain } from '../vectors/pool-domain.ts'
import { compareForOrder, orderOf } from '../vectors/term-order.ts'
import { literalOf, stringOf, type TermValue, termOf } from '../vectors/value.ts'
import { hasWholeValues, type Vector, vectorValueAt } from '../vectors/vector.ts'
import {
  type Aggregator,
  bytesOfValue,
  type Operand,
  type SelectedGroups,
  selectedValues,
} from './aggregator.ts'

/** Maximum characters of the texts of one group, with their separators. */
const MAX_TEXT = 2 ** 26

/** Any value of a group: the first. */
export function sample(valuesOf: Operand, evaluation: Evaluation): Aggregator {
  const values = new Map<number, TermValue>()
  return {
    add: (batch, groups) => {
      const vector = valuesOf(batch)
      for (let row = 0; row < groups.length; row++) {
        const group = groups[row] as number
        evaluation.advance(1)
        const value = values.has(group) ? null : vectorValueAt(vector, row)
        if (value === null) continue
        evaluation.allocate(bytesOfValue(value))
        values.set(group, value)
      }
    },
    result: count => termsOfGroups(values, count, evaluation),
  }
}

/** The terms of the values of groups. */
function termsOfGroups(
  values: ReadonlyMap<number, TermValue | null>,
  count: number,
  { pool }: Evaluation,
): Vector {
  const ids = new Uint32Array(count)
  for (const [group, value] of values) ids[group] = value === null ? 0 : pool.intern(termOf(value))
  return { type: 'ids', domain: pool, ids }
}

/** A text of a group: its number, and its length. */
interface Part {
  readonly number: number
  readonly length: number
}

/** Concatenates the texts of a group; a value without text is an error. Texts are stored once, groups as lists of their numbers. */
export class GroupConcat implements Aggregator {
  private readonly valuesOf: Operand
  private readonly evaluation: Evaluation
  private readonly separator: string
  private readonly pool: PoolDomain
  private bytesOfPool = 0
  /** Characters by group, with a separator for each text; negative where the group has an error. */
  private lengths = new Float64Array(64)
  /** By group the last entry of its circular list, whose next is the first one; 0 for none. */
  private last = new Uint32Array(64)
  private next = new Uint32Array(64)
  private texts = new Uint32Array(64)
  private entries = 0

  constructor(valuesOf: Operand, evaluation: Evaluation, separator: string) {
    this.valuesOf = valuesOf
    this.evaluation = evaluation
    this.separator = separator
    this.pool = new PoolDomain(bytes => {
      this.bytesOfPool += bytes
      evaluation.allocate(bytes)
    })
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const vector = this.valuesOf(batch)
    this.makeRoom(count, groups.length)
    const { lengths } = this
    let text: Part | null = null
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      const length = lengths[group] as number
      if (length < 0) continue
      this.evaluation.advance(1)
      if (text === null || vector.type !== 'constant') text = this.textOf(vectorValueAt(vector, row))
      lengths[group] = text === null ? -1 : length + this.separator.length + text.length
      if ((lengths[group] as number) > MAX_TEXT) this.evaluation.allocate(Number.POSITIVE_INFINITY)
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
    const { evaluation } = this
    this.lengths = evaluation.grown(this.lengths, groups)
    this.last = evaluation.grown(this.last, groups)
    this.next = evaluation.grown(this.next, this.entries + entries + 1)
    this.texts = evaluation.grown(this.texts, this.entries + entries + 1)
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
    const { pool } = this.evaluation
    this.makeRoom(count, 0)
    const { lengths } = this
    const ids = new Uint32Array(count)
    const forms: string[] = []
    const formOf = (text: number): string => {
      forms[text] ??= (this.pool.term(text) as Literal).value
      return forms[text] as string
    }
    for (let group = 0; group < count; group++) {
      if ((lengths[group] as number) < 0) continue
      const parts: string[] = []
      const last = this.last[group] as number
      for (let entry = last; last !== 0; ) {
        entry = this.next[entry] as number
        parts.push(formOf(this.texts[entry] as number))
        this.evaluation.advance(1)
        if (entry === last) break
      }
      ids[group] = pool.intern(literalOf(parts.join(this.separator), XSD.string))
      this.evaluation.advance(8)
    }
    this.evaluation.release(this.bytesOfPool)
    this.bytesOfPool = 0
    return { type: 'ids', domain: pool, ids }
  }
}

/** MIN and MAX: in the sort order of results; an error is no value (SPARQL 1.1 Query, section 18.5.1.5). */
export class Extreme implements Aggregator {
  private readonly valuesOf: Operand
  private readonly evaluation: Evaluation
  /** -1 keeps the least value, 1 the greatest. */
  private readonly sign: -1 | 1
  /** Numbers of the values so far, in one domain; later the values themselves. */
  private best = new Uint32Array(64)
  private domain: ColumnDomain | null | undefined
  private readonly values = new Map<number, TermValue | null>()

  constructor(valuesOf: Operand, evaluation: Evaluation, sign: -1 | 1) {
    this.valuesOf = valuesOf
    this.evaluation = evaluation
    this.sign = sign
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const vector = this.valuesOf(batch)
    const isPlain = vector.type === 'ids' && isComparable(vector.domain) && hasWholeValues(vector)
    const all = { groups, rows: allRows(groups.length) }
    if (isPlain && this.takesCodesOf(vector.domain)) {
      this.addCodes(vector.ids, all, count)
      return
    }
    if (this.domain !== null) this.leaveCodes()
    if (!isPlain) {
      for (let row = 0; row < groups.length; row++) {
        this.evaluation.advance(1)
        this.addValue(groups[row] as number, vectorValueAt(vector, row))
      }
      return
    }
    // Only one value per group of the batch is compared with those of other domains.
    this.addCodes(vector.ids, all, count)
    const { best } = this
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      const code = best[group] as number
      if (code === 0) continue
      best[group] = 0
      this.addValue(group, vector.domain.value(code))
    }
  }

  addSelected(batch: Batch, selected: SelectedGroups, count: number): boolean {
    const vector = selectedValues(this.valuesOf, batch, selected)
    if (vector === null || !isComparable(vector.domain) || !this.takesCodesOf(vector.domain)) return false
    this.addCodes(vector.ids, selected, count)
    return true
  }

  /** True for the domain of all values so far; for the first, which it is from then on. */
  private takesCodesOf(domain: ColumnDomain): boolean {
    if (this.domain === undefined) this.domain = domain
    return this.domain === domain
  }

  private addValue(group: number, value: TermValue | null): void {
    const before = this.values.get(group)
    if (before === null) return
    if (value !== null && before !== undefined && this.sign * compareValues(value, before) <= 0) return
    this.evaluation.allocate(bytesOfValue(value) - (before === undefined ? 0 : bytesOfValue(before)))
    this.values.set(group, value)
  }

  private addCodes(ids: Uint32Array, selected: SelectedGroups, count: number): void {
    this.best = this.evaluation.grown(this.best, count)
    if (this.sign > 0) keepGreatest(this.best, ids, selected)
    else keepLeast(this.best, ids, selected)
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

function keepGreatest(best: Uint32Array, ids: Uint32Array, { groups, rows }: SelectedGroups): void {
  const length = rows.length | 0
  for (let at = 0; at < length; at++) {
    const row = rows[at] as number
    const group = groups[row] as number
    const id = (ids[row] as number) | 0
    if (id > ((best[group] as number) | 0)) best[group] = id
  }
}

/** 0 means no number yet; minus 1 it wraps around to the greatest number. */
function keepLeast(best: Uint32Array, ids: Uint32Array, { groups, rows }: SelectedGroups): void {
  const length = rows.length | 0
  for (let at = 0; at < length; at++) {
    const row = rows[at] as number
    const group = groups[row] as number
    const id = ids[row] as number
    if ((id - 1) >>> 0 < ((best[group] as number) - 1) >>> 0) best[group] = id
  }
}

function isComparable(domain: Domain): domain is ColumnDomain {
  return (
    domain instanceof ColumnDomain && domain.dictionary.header.parts.length === 1 && domain.ranks() === null
  )
}

function compareValues(left: TermValue, right: TermValue): number {
  // The order of results is the same for numbers, and does not depend on which are compared first.
  const order = left.type === 'number' ? null : orderOf(left, right)
  return order === null || Number.isNaN(order) ? compareForOrder(left, right) : order
}
