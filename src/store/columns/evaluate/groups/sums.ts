import { memoised } from '../../../../model/memoised.ts'
import type { Evaluation } from '../evaluation.ts'
import { arithmeticFunction } from '../functions/arithmetic.ts'
import { allRows, type Batch } from '../vectors/batch.ts'
import { DECIMAL_PLACES } from '../vectors/decimal.ts'
import { ColumnDomain, type Domain } from '../vectors/domain.ts'
import { addIntegers, addIntegersOf } from '../vectors/lanes.ts'
import { columnNumbers, type NumberTable, scaledValues } from '../vectors/number-vectors.ts'
import { decimal, double, integerTerm, type TermValue, termOf } from '../vectors/value.ts'
import { hasWholeValues, type IdVector, type Vector, vectorValueAt } from '../vectors/vector.ts'
import {
  type Aggregator,
  bytesOfValue,
  type Operand,
  RowCounts,
  type SelectedGroups,
  selectedValues,
} from './aggregator.ts'

/** Largest magnitude of a sum of integers that doubles add exactly. */
const EXACT = 2 ** 52

/** SUM and AVG: in doubles where that is exact or the values are doubles, else with exact values. */
export class Sum implements Aggregator {
  private sums = new Float64Array(64)
  private readonly counts: RowCounts
  /** Sums of groups that are not only integers or only doubles; null is an error. */
  private readonly general = new Map<number, TermValue | null>()
  private kind: PlainNumbers['kind'] | null = null
  private places = 0
  private magnitude = 0
  private isMixed = false
  private readonly valuesOf: Operand
  private readonly evaluation: Evaluation
  private readonly isAverage: boolean

  constructor(valuesOf: Operand, evaluation: Evaluation, isAverage: boolean) {
    this.valuesOf = valuesOf
    this.evaluation = evaluation
    this.isAverage = isAverage
    this.counts = new RowCounts(evaluation)
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const vector = this.valuesOf(batch)
    const isAdded = !this.isMixed && this.addNumbers(vector, groups, count)
    if (!isAdded && !this.isMixed) this.mix(count)
    this.counts.add(groups, count)
    if (isAdded) return
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      this.evaluation.advance(1)
      const value = vectorValueAt(vector, row)
      const before = this.general.get(group)
      if (before === null) continue
      const sum =
        value === null ? null : before === undefined ? started(value) : arithmeticFunction('+', before, value)
      if (before === undefined) this.evaluation.allocate(bytesOfValue(null))
      this.general.set(group, sum)
    }
  }

  addSelected(batch: Batch, selected: SelectedGroups, count: number): boolean {
    const vector = this.isMixed ? null : selectedValues(this.valuesOf, batch, selected)
    const table = vector && summedTable(vector.domain)
    if (vector == null || table == null || table.kind === 'double') return false
    const { groups, rows } = selected
    const max = table.largest * rows.length
    if (!this.isLike(table) || !(this.magnitude + max < EXACT)) return false
    this.magnitude += max
    const byRow = rowNumbers(vector, table, LARGE_TABLE.selected)
    addIntegersOf(this.sumsOf(table, count), groups, rows, (byRow ?? table).values, byRow ? null : vector.ids)
    this.counts.addSelected(selected, count)
    return true
  }

  /** Adds integers or doubles; false for other values. */
  private addNumbers(vector: Vector, groups: Uint32Array, count: number): boolean {
    const numbers = plainNumbers(vector)
    if (numbers === null || !this.isLike(numbers)) return false
    const { kind, ids, values } = numbers
    if (kind !== 'double') {
      const max = numbers.largest * groups.length
      this.magnitude += this.magnitude + max < EXACT ? max : magnitudeOf(numbers, groups.length)
      if (!(this.magnitude < EXACT)) return false
    }
    const sums = this.sumsOf(numbers, count)
    if (ids === null) addValues(sums, groups, values)
    else if (kind !== 'double') addIntegers(sums, groups, values, ids, count)
    else addTerms(sums, groups, values, ids)
    return true
  }

  /** True for numbers that are added as those before them were. */
  private isLike({ kind, places = 0 }: Kind): boolean {
    return this.kind === null || (this.kind === kind && (kind !== 'decimal' || this.places === places))
  }

  /** The sums of as many groups, to which numbers are added. */
  private sumsOf({ kind, places = 0 }: Kind, count: number): Float64Array {
    this.kind = kind
    this.places = places
    this.sums = this.evaluation.grown(this.sums, count)
    return this.sums
  }

  /** Converts the sums to values. */
  private mix(count: number): void {
    this.isMixed = true
    this.evaluation.allocate(count * bytesOfValue(null))
    const { sums } = this
    const counts = this.counts.of(count)
    for (let group = 0; group < count; group++)
      if (counts[group] !== 0) this.general.set(group, this.plainSum(sums[group] as number))
  }

  private plainSum(value: number): TermValue {
    if (this.kind === 'decimal') return decimal(BigInt(value) * 10n ** BigInt(DECIMAL_PLACES - this.places))
    return this.kind === 'double' ? double(value) : integerTerm(value)
  }

  result(count: number): Vector {
    this.sums = this.evaluation.grown(this.sums, count)
    const { sums } = this
    const { pool } = this.evaluation
    if (!this.isMixed && !this.isAverage && this.kind !== 'decimal')
      return { type: 'numbers', kind: this.kind ?? 'integer', values: sums.slice(0, count), bound: null }
    const counts = this.counts.of(count)
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
      const value = number === 0 ? integerTerm(0) : (sum ?? null)
      const result =
        value === null || !this.isAverage || number === 0
          ? value
          : arithmeticFunction('/', value, integerTerm(number))
      ids[group] = result === null ? 0 : pool.intern(termOf(result))
    }
    return { type: 'ids', domain: pool, ids }
  }
}

function addValues(sums: Float64Array, groups: Uint32Array, values: Float64Array): void {
  const length = groups.length | 0
  for (let row = 0; row < length; row++) {
    const group = groups[row] as number
    sums[group] = (sums[group] as number) + (values[row] as number)
  }
}

function addTerms(sums: Float64Array, groups: Uint32Array, values: Float64Array, ids: Uint32Array): void {
  const length = groups.length | 0
  for (let row = 0; row < length; row++) {
    const group = groups[row] as number
    sums[group] = (sums[group] as number) + (values[ids[row] as number] as number)
  }
}

type Kind = Pick<PlainNumbers, 'kind' | 'places'>

/** The sum of one value: it is added to 0, so that durations have no sum (SPARQL 1.1 Query, section 18.5.1.3). */
function started(value: TermValue): TermValue | null {
  return value.type === 'number' ? (arithmeticFunction('+', integerTerm(0), value) ?? value) : null
}

interface PlainNumbers {
  readonly kind: 'integer' | 'decimal' | 'double'
  /** Of decimals: the numbers are integers scaled by this many decimal places. */
  readonly places?: number
  /** Numbers of terms by row, or null where there is a value for each row. */
  readonly ids: Uint32Array | null
  readonly values: Float64Array
  readonly largest: number
}

/** The values of a vector in which each row has one and all are integers, all decimals of few digits, or all doubles. */
function plainNumbers(vector: Vector): PlainNumbers | null {
  if (vector.type === 'numbers') {
    const { kind, places = 0, bound } = vector
    if (kind === 'float' || bound !== null) return null
    const values = kind === 'decimal' ? scaledValues(vector, places) : vector.values
    return values && { kind, ids: null, values, largest: kind === 'double' ? 0 : largestOf(values), places }
  }
  const table = vector.type === 'ids' ? summedTable(vector.domain) : null
  if (table === null || vector.type !== 'ids' || !hasWholeValues(vector)) return null
  return { ...table, ...(rowNumbers(vector, table, LARGE_TABLE.all) ?? { ids: vector.ids }) }
}

function largestOf(values: Float64Array): number {
  let largest = 0
  for (let at = 0; at < values.length; at++) largest = Math.max(largest, Math.abs(values[at] as number))
  return largest
}

/** The sum of the magnitudes of rows, which is far below that of as many of the largest where few are large. */
function magnitudeOf({ ids, values }: PlainNumbers, rows: number): number {
  let sum = 0
  for (let row = 0; row < rows; row++)
    sum += Math.abs(values[ids === null ? row : (ids[row] as number)] as number)
  return sum
}

/** Numbers of a dictionary from which on reading them by row is faster: for all rows of a batch, and for selected ones. */
const LARGE_TABLE = { all: 2 ** 17, selected: 2 ** 15 }

/** The numbers of a large dictionary by row: rows are read sequentially, its terms randomly. Null for others. */
function rowNumbers(
  { ids, domain, origin }: IdVector,
  table: Omit<PlainNumbers, 'ids'>,
  least: number,
): Pick<PlainNumbers, 'ids' | 'values'> | null {
  if (table.values.length < least || !(domain instanceof ColumnDomain)) return null
  const { column } = domain
  const read = origin?.ids ?? ids
  if (!column.isSingle || !column.isDense || read.buffer !== column.codes.buffer) return null
  const first = (read.byteOffset - column.codes.byteOffset) / read.BYTES_PER_ELEMENT
  const values = column.rowValues('numbers', table.values).subarray(first, first + read.length)
  return { values, ids: origin?.places ?? allRows(read.length) }
}

const SCALED = new WeakMap<NumberTable, Float64Array | null>()

/** The numbers of a column by term number; decimals as integers of their last digit. Null for a column with other values. */
function summedTable(domain: Domain): Omit<PlainNumbers, 'ids'> | null {
  const table = columnNumbers(domain)
  if (table?.kind !== 'decimal') return table
  const { places = 0 } = table
  const values = memoised(SCALED, table, () => scaledValues(table, places, size => new Float64Array(size)))
  return values && { ...table, values, largest: table.largest * 10 ** places }
}
