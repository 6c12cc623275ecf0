import { XSD } from '../../../rdf/vocab.ts'
import type { AggregateCall, Formula } from '../../../sparql/operation.ts'
import type { Batch } from './batch.ts'
import { compareForOrder, orderOf } from './compare.ts'
import { ColumnDomain } from './domain.ts'
import { type Evaluation, NotEvaluated } from './evaluation.ts'
import { arithmetic } from './functions/arithmetic.ts'
import { extensionAggregate } from './functions/extensions.ts'
import { identified, pooledIds } from './translate.ts'
import { integer, type NumberValue, stringOf, text, termOf, type Value } from './value.ts'
import { isBound, type Vector, valueAt } from './vector.ts'

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
export type AggregatorMaker = (call: AggregateCall, operand: Formula, context: AggregatorContext) => Aggregator

/** Longest text that GROUP_CONCAT makes, in characters. */
const MAX_TEXT = 2 ** 26

export function makeAggregator(call: AggregateCall, context: AggregatorContext): Aggregator {
  const { name, distinct, operand } = call
  if (operand === null) return distinct ? new CountDistinctRows(context) : new CountRows()
  if (name === 'COUNT') return distinct ? new CountDistinct(operand, context) : new CountValues(operand, context)
  if (distinct && name !== 'MIN' && name !== 'MAX' && name !== 'SAMPLE')
    return new Distinct(operand, makeAggregator({ ...call, distinct: false }, context), context)
  switch (name) {
    case 'SUM':
      return new Sum(operand, context, false)
    case 'AVG':
      return new Sum(operand, context, true)
    case 'MIN':
      return new Extreme(operand, context, -1)
    case 'MAX':
      return new Extreme(operand, context, 1)
    case 'SAMPLE':
      return new Sample(operand, context)
    case 'GROUP_CONCAT':
      return new GroupConcat(operand, call.separator ?? ' ', context)
    default: {
      const own = extensionAggregate(name)
      if (own === null) throw new NotEvaluated(`the aggregate ${name}`)
      return own(call, operand, context)
    }
  }
}

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

function counted(values: Float64Array, count: number): Vector {
  return { type: 'numbers', kind: 'integer', values: values.slice(0, count), bound: null }
}

class CountRows implements Aggregator {
  private readonly counts = new GroupNumbers()

  add(_: Batch, groups: Uint32Array, count: number): void {
    const counts = this.counts.grow(count)
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      counts[group] = (counts[group] as number) + 1
    }
  }

  result(count: number): Vector {
    return counted(this.counts.grow(count), count)
  }
}

class CountValues implements Aggregator {
  private readonly counts = new GroupNumbers()
  private readonly operand: Formula
  private readonly context: AggregatorContext

  constructor(operand: Formula, context: AggregatorContext) {
    this.operand = operand
    this.context = context
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

/** Pairs of a group and the number of a term, each once. */
class SeenPairs {
  private readonly seen = new Set<number>()
  private dense: Uint8Array | null = null
  private width = 0

  /** True the first time that a pair comes. */
  add(group: number, id: number): boolean {
    const { dense, width } = this
    if (dense !== null && id < width) {
      const place = group * width + id
      if (place < dense.length) {
        if (dense[place] === 1) return false
        dense[place] = 1
        return true
      }
    }
    const key = group * 2 ** 32 + id
    if (this.seen.has(key)) return false
    this.seen.add(key)
    return true
  }

  /** Of few groups and few terms an array is quicker. */
  prepare(groups: number, terms: number): void {
    if (this.dense === null && this.seen.size === 0 && (groups + 1) * (terms + 1) <= DENSE_SEEN) {
      this.width = terms + 1
      this.dense = new Uint8Array(DENSE_SEEN)
    }
  }
}

const DENSE_SEEN = 2 ** 20

class CountDistinct implements Aggregator {
  private readonly counts = new GroupNumbers()
  private readonly distinct: DistinctValues
  private readonly operand: Formula
  private readonly context: AggregatorContext

  constructor(operand: Formula, context: AggregatorContext) {
    this.operand = operand
    this.context = context
    this.distinct = new DistinctValues(context.evaluation)
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const counts = this.counts.grow(count)
    const vector = this.context.vectorOf(this.operand, batch)
    this.distinct.forNew(vector, groups, count, row => {
      const group = groups[row] as number
      counts[group] = (counts[group] as number) + 1
    })
  }

  result(count: number): Vector {
    return counted(this.counts.grow(count), count)
  }
}

/** Calls back for the first row of each term of each group; terms of several domains are compared in the pool. */
class DistinctValues {
  private readonly evaluation: Evaluation
  private pairs = new SeenPairs()
  private domain: unknown = null
  private first: [Vector, Uint32Array, number][] = []
  private isPooled = false

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
  }

  forNew(vector: Vector, groups: Uint32Array, count: number, call: (row: number) => void): void {
    const own = identified(vector, groups.length, this.evaluation)
    if (!this.isPooled && this.domain !== null && this.domain !== own.domain) this.moveToPool()
    this.domain ??= own.domain
    const ids = this.isPooled ? pooledIds(own, groups.length, this.evaluation) : own.ids
    if (!this.isPooled) {
      this.first.push([own, groups.slice(), count])
      this.pairs.prepare(count, own.domain.size)
    }
    for (let row = 0; row < groups.length; row++) {
      const id = ids[row] as number
      if (id !== 0 && this.pairs.add(groups[row] as number, id)) call(row)
    }
  }

  private moveToPool(): void {
    this.isPooled = true
    this.pairs = new SeenPairs()
    for (const [vector, groups] of this.first) {
      const ids = pooledIds(vector, groups.length, this.evaluation)
      for (let row = 0; row < groups.length; row++)
        if (ids[row] !== 0) this.pairs.add(groups[row] as number, ids[row] as number)
    }
    this.first = []
  }
}

/** COUNT(DISTINCT *): solutions that differ in some variable. */
class CountDistinctRows implements Aggregator {
  private readonly counts = new GroupNumbers()
  private readonly seen = new Set<string>()
  private readonly evaluation: Evaluation

  constructor({ evaluation }: AggregatorContext) {
    this.evaluation = evaluation
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const counts = this.counts.grow(count)
    const names = [...batch.variables].sort()
    const ids = names.map(name => pooledIds(batch.get(name) as Vector, batch.size, this.evaluation))
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      // A variable that is not bound is as one that is not there.
      const bound = names.flatMap((name, at) => ((ids[at] as Uint32Array)[row] === 0 ? [] : [`${name} ${(ids[at] as Uint32Array)[row]}`]))
      const key = `${group} ${bound.join(' ')}`
      if (this.seen.has(key)) continue
      this.seen.add(key)
      this.evaluation.allocate(key.length)
      counts[group] = (counts[group] as number) + 1
    }
  }

  result(count: number): Vector {
    return counted(this.counts.grow(count), count)
  }
}

/** Gives another aggregate each value of a group once. */
class Distinct implements Aggregator {
  private readonly operand: Formula
  private readonly inner: Aggregator
  private readonly context: AggregatorContext
  private readonly distinct: DistinctValues

  constructor(operand: Formula, inner: Aggregator, context: AggregatorContext) {
    this.operand = operand
    this.inner = inner
    this.context = context
    this.distinct = new DistinctValues(context.evaluation)
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const vector = this.context.vectorOf(this.operand, batch)
    const rows: number[] = []
    // An error makes one of the aggregate, also where only distinct values are asked for.
    const errors = new Set<number>()
    for (let row = 0; row < groups.length; row++)
      if (!isBound(vector, row) && !errors.has(groups[row] as number)) {
        errors.add(groups[row] as number)
        rows.push(row)
      }
    this.distinct.forNew(vector, groups, count, row => rows.push(row))
    const some = Uint32Array.from(rows).sort()
    this.inner.add(batch.rows(some), some.map(row => groups[row] as number), count)
  }

  result(count: number): Vector {
    return this.inner.result(count)
  }
}

/** Largest magnitude of a sum of integers that doubles add exactly. */
const EXACT = 2 ** 52

/** SUM and AVG: in doubles where that is exact or the values are doubles, else value by value. */
class Sum implements Aggregator {
  private readonly sums = new GroupNumbers()
  private readonly counts = new GroupNumbers()
  /** Sums of groups that are not sums of integers or doubles alone; null is an error. */
  private readonly general = new Map<number, Value | null>()
  private kind: 'integer' | 'double' | null = null
  private magnitude = 0
  private isMixed = false
  private readonly operand: Formula
  private readonly context: AggregatorContext
  private readonly isAverage: boolean

  constructor(operand: Formula, context: AggregatorContext, isAverage: boolean) {
    this.operand = operand
    this.context = context
    this.isAverage = isAverage
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const counts = this.counts.grow(count)
    const vector = this.context.vectorOf(this.operand, batch)
    if (!this.isMixed && this.addNumbers(vector, groups, count)) return
    if (!this.isMixed) this.mix(count)
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      const value = valueAt(vector, row)
      counts[group] = (counts[group] as number) + 1
      const before = this.general.get(group)
      if (before === null) continue
      const sum = value === null ? null : before === undefined ? started(value) : arithmetic('+', before, value)
      this.general.set(group, sum)
    }
  }

  /** Adds integers or doubles; false where the values are others. */
  private addNumbers(vector: Vector, groups: Uint32Array, count: number): boolean {
    const numbers = plainNumbers(vector)
    if (numbers === null || (this.kind !== null && this.kind !== numbers.kind)) return false
    if (numbers.kind === 'integer') {
      this.magnitude += numbers.largest * groups.length
      if (!(this.magnitude < EXACT)) return false
    }
    this.kind = numbers.kind
    const sums = this.sums.grow(count)
    const counts = this.counts.grow(count)
    const { ids, values } = numbers
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      const value = values[ids === null ? row : (ids[row] as number)] as number
      sums[group] = (sums[group] as number) + value
      counts[group] = (counts[group] as number) + 1
    }
    return true
  }

  /** From now on sums are values. */
  private mix(count: number): void {
    this.isMixed = true
    const [sums, counts] = [this.sums.grow(count), this.counts.grow(count)]
    for (let group = 0; group < count; group++)
      if (counts[group] !== 0) this.general.set(group, this.plainSum(sums[group] as number))
  }

  private plainSum(value: number): Value {
    return this.kind === 'double' ? { type: 'number', kind: 'double', value } : integer(value)
  }

  result(count: number): Vector {
    const sums = this.sums.grow(count)
    const counts = this.counts.grow(count)
    const { pool } = this.context.evaluation
    if (!this.isMixed && !this.isAverage)
      return { type: 'numbers', kind: this.kind ?? 'integer', values: sums.slice(0, count), bound: null }
    if (!this.isMixed && this.kind === 'double') {
      const values = new Float64Array(count)
      let isWhole = true
      for (let group = 0; group < count; group++) {
        isWhole &&= counts[group] !== 0
        values[group] = (sums[group] as number) / (counts[group] as number)
      }
      if (isWhole) return { type: 'numbers', kind: 'double', values, bound: null }
    }
    const ids = new Uint32Array(count)
    for (let group = 0; group < count; group++) {
      const number = counts[group] as number
      const sum = this.isMixed ? this.general.get(group) : this.plainSum(sums[group] as number)
      const value = number === 0 ? integer(0) : (sum ?? null)
      const result =
        value === null || !this.isAverage || number === 0 ? value : arithmetic('/', value, integer(number))
      ids[group] = result === null ? 0 : pool.intern(termOf(result))
    }
    return { type: 'ids', domain: pool, ids }
  }
}

function started(value: Value): Value | null {
  return value.type === 'number' || value.type === 'duration' ? arithmetic('+', integer(0), value) ?? value : null
}

interface PlainNumbers {
  readonly kind: 'integer' | 'double'
  /** Numbers of terms by row, or null where there is a value for each row. */
  readonly ids: Uint32Array | null
  readonly values: Float64Array
  readonly largest: number
}

const TABLES = new WeakMap<ColumnDomain, PlainNumbers | null>()

/** The values of a vector where each row has one and all are integers, or all doubles. */
function plainNumbers(vector: Vector): PlainNumbers | null {
  if (vector.type === 'numbers') {
    if (vector.kind === 'float' || vector.bound !== null) return null
    let largest = 0
    for (let row = 0; row < vector.values.length; row++) largest = Math.max(largest, Math.abs(vector.values[row] as number))
    return { kind: vector.kind, ids: null, values: vector.values, largest }
  }
  if (vector.type !== 'ids' || !(vector.domain instanceof ColumnDomain) || vector.ids.includes(0)) return null
  let table = TABLES.get(vector.domain)
  if (table === undefined) {
    table = tableOf(vector.domain)
    TABLES.set(vector.domain, table)
  }
  return table === null ? null : { ...table, ids: vector.ids }
}

function tableOf({ dictionary }: ColumnDomain): PlainNumbers | null {
  const part = dictionary.onlyPart()
  if (part?.kind !== 'number' || !part.exact || part.datatypes.length !== 1) return null
  const [datatype] = part.datatypes
  if (datatype !== XSD.integer && datatype !== XSD.double) return null
  const values = new Float64Array(part.count + 1)
  values.set(part.values, 1)
  const largest = Math.max(Math.abs(part.values[0] as number), Math.abs(part.values[part.count - 1] as number))
  return { kind: datatype === XSD.integer ? 'integer' : 'double', ids: null, values, largest }
}

/** MIN and MAX: the order of results, in which an error is no value (SPARQL 1.1 Query, section 18.5.1.5). */
class Extreme implements Aggregator {
  private readonly operand: Formula
  private readonly context: AggregatorContext
  /** -1 keeps the least value, 1 the greatest. */
  private readonly sign: -1 | 1
  /** Numbers of the values so far, in one domain; from then on values. */
  private best = new Uint32Array(64)
  private domain: ColumnDomain | null | undefined
  private readonly values = new Map<number, Value | null>()

  constructor(operand: Formula, context: AggregatorContext, sign: -1 | 1) {
    this.operand = operand
    this.context = context
    this.sign = sign
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const vector = this.context.vectorOf(this.operand, batch)
    const isPlain =
      vector.type === 'ids' && vector.domain instanceof ColumnDomain && isComparable(vector.domain) && !vector.ids.includes(0)
    if (isPlain && (this.domain === undefined || this.domain === vector.domain)) {
      this.domain = vector.domain as ColumnDomain
      this.addCodes(vector.ids, groups, count)
      return
    }
    if (this.domain !== null) this.leaveCodes()
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      const value = valueAt(vector, row)
      const before = this.values.get(group)
      if (before === null) continue
      if (value === null) this.values.set(group, null)
      else if (before === undefined || this.sign * compareValues(value, before) > 0) this.values.set(group, value)
    }
  }

  private addCodes(ids: Uint32Array, groups: Uint32Array, count: number): void {
    if (count > this.best.length) {
      const larger = new Uint32Array(2 * count)
      larger.set(this.best)
      this.best = larger
    }
    const { best } = this
    const isMax = this.sign > 0
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      const id = ids[row] as number
      const before = best[group] as number
      if (before === 0 || (isMax ? id > before : id < before)) best[group] = id
    }
  }

  private leaveCodes(): void {
    const { domain, best } = this
    if (domain !== undefined && domain !== null)
      for (let group = 0; group < best.length; group++)
        if (best[group] !== 0) this.values.set(group, domain.value(best[group] as number))
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

function isComparable(domain: ColumnDomain): boolean {
  return domain.dictionary.header.parts.length === 1 && domain.ranks() === null
}

function compareValues(left: Value, right: Value): number {
  const order = orderOf(left, right)
  return order === null || Number.isNaN(order) ? compareForOrder(left, right) : order
}

class Sample implements Aggregator {
  private readonly values = new Map<number, Value>()
  private readonly operand: Formula
  private readonly context: AggregatorContext

  constructor(operand: Formula, context: AggregatorContext) {
    this.operand = operand
    this.context = context
  }

  add(batch: Batch, groups: Uint32Array): void {
    const vector = this.context.vectorOf(this.operand, batch)
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      if (this.values.has(group)) continue
      const value = valueAt(vector, row)
      if (value !== null) this.values.set(group, value)
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
class GroupConcat implements Aggregator {
  private readonly texts = new Map<number, string[] | null>()
  private readonly operand: Formula
  private readonly separator: string
  private readonly context: AggregatorContext
  private length = 0

  constructor(operand: Formula, separator: string, context: AggregatorContext) {
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
      const value = valueAt(vector, row)
      const form = value === null ? null : stringOf(value)
      if (form === null) {
        this.texts.set(group, null)
        continue
      }
      this.length += form.length
      this.context.evaluation.allocate(2 * form.length)
      if (known === undefined) this.texts.set(group, [form])
      else known.push(form)
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

/** True for a number, for aggregates of Lodestone's own. */
export function isNumber(value: Value | null): value is NumberValue {
  return value?.type === 'number'
}
