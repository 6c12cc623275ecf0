import { type FieldType, isNumeric, isTemporal } from '../model/field.ts'
import type { DatasetRecord, Geometry } from '../model/value.ts'
import { parseWkt } from '../model/wkt.ts'
import type { Term } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'
import { aggregatesOf, aggregateVariable, centroidName, keyNames, keyPosition } from './compile/groups.ts'
import { columnVariable, isStored } from './compile/records.ts'
import { exactly } from './exact-numbers.ts'
import {
  type Aggregate,
  type Constant,
  canBeInfinite,
  type GroupKey,
  type GroupQuery,
  type RowValue,
  type Scalar,
  type SelectedColumn,
  scalarType,
} from './plan.ts'

/** One solution of a query of the store. */
export type DecodedSolution = Readonly<Record<string, Term>>

/** The answer of a query of the store: the terms of a variable by their rows, null where there is none. */
export interface DecodedPage {
  readonly rows: number
  terms(variable: string): (row: number) => Term | null
}

/** A record and its computed values, by their index in the selection; null where the value is stored in the record. */
export interface RecordRow {
  readonly record: DatasetRecord
  readonly computed: readonly (Constant | null)[]
}

/** The computed values of the records of an answer, by its rows. */
export function computedReader(
  select: readonly SelectedColumn[],
  page: DecodedPage,
): (row: number) => RecordRow['computed'] {
  const readers = select.map(({ value }, index) => {
    if (isStored(value)) return () => null
    const termOf = page.terms(columnVariable(index))
    const decode = decoderOf(scalarType(value), value)
    return (row: number) => decode(termOf(row))
  })
  return row => readers.map(read => read(row))
}

/** Decodes the values of a type that are computed of a value: infinite numbers and NaN are null, unless it can be infinite (OData). */
function decoderOf(type: FieldType, value: Scalar): (term: Term | null) => Constant | null {
  if (!isNumeric(type) || !canBeInfinite(value)) return term => decodeConstant(term, type)
  return term => decodeUnbounded(term) ?? decodeConstant(term, type)
}

/** The value of a term as a field type; null for no term, and for a number that is not finite. */
function decodeConstant(term: Term | null, type: FieldType): Constant | null {
  if (term === null) return null
  if (type === 'boolean') return term.value === 'true' || term.value === '1'
  if (!isNumeric(type)) return term.value
  const number = Number(term.value)
  if (!Number.isSafeInteger(number) && isInteger(term)) return BigInt(term.value)
  return Number.isFinite(number) ? number + 0 : null
}

function isInteger(term: Term): boolean {
  const isExact = term.type === 'literal' && (term.datatype === XSD.integer || term.datatype === XSD.decimal)
  return isExact && /^-?\d+$/.test(term.value)
}

/** An XSD number that is infinite or NaN; null for any other. */
function decodeUnbounded(term: Term | null): number | null {
  switch (term?.value) {
    case 'INF':
      return Number.POSITIVE_INFINITY
    case '-INF':
      return Number.NEGATIVE_INFINITY
    case 'NaN':
      return Number.NaN
    default:
      return null
  }
}

/** The result of a count query. */
export function decodeCount(solutions: readonly DecodedSolution[]): number {
  const count = solutions[0]?.count
  if (count === undefined) throw new Error('a count without number')
  return Number(count.value)
}

/** A value of a facet and the number of records that have it. */
export interface FacetCount {
  readonly value: Constant
  readonly count: number
}

/** Reads the values of a facet; the parts of dates are numbers. */
export function decodeFacet(page: DecodedPage, type: FieldType): readonly FacetCount[] {
  const values = page.terms('value')
  const counts = page.terms('count')
  const found: FacetCount[] = []
  for (let row = 0; row < page.rows; row++) {
    const value = decodeConstant(values(row), isTemporal(type) ? 'int' : type)
    if (value !== null) found.push({ value, count: Number(counts(row)?.value) })
  }
  return found
}

/** A row of a grouped answer: the raw value of each key and of each selection, null for none. */
export interface GroupRow {
  readonly keys: readonly (Constant | GroupCell | null)[]
  readonly selected: readonly (Constant | GroupCell | Geometry | null)[]
}

/** A cluster of nearby points, by its centre. */
interface GroupCell {
  readonly lon: number
  readonly lat: number
}

/** Decodes the rows of a grouped answer. A single static range has a row for each of its steps, even for steps without records. */
export function decodeGroups(plan: GroupQuery, page: DecodedPage): readonly GroupRow[] {
  const keys = plan.keys.map((key, index) => keyReader(key, index, page))
  const aggregateOf = aggregateReaders(plan, page)
  const rows = Array.from({ length: page.rows }, (_, row) => ({
    keys: keys.map(read => read(row)),
    aggregateOf: (aggregate: Aggregate) => aggregateOf(aggregate)(row),
  }))
  if (!hasEmptySteps(plan)) return rows.map(values => decodeRow(plan, values))
  return withEmptySteps(plan, rows).map(values => decodeRow(plan, values))
}

/** True for a query whose rows are the steps of one static range (ODSQL 5.6). */
export function hasEmptySteps({ keys }: GroupQuery): boolean {
  const [only, ...others] = keys
  return only?.grouping.type === 'steps' && others.length === 0
}

/** The source of the values of a row: its keys and its aggregates. */
interface RowSource {
  readonly keys: GroupRow['keys']
  readonly aggregateOf: (aggregate: Aggregate) => Constant | Geometry | null
}

type AggregateReader = (row: number) => Constant | Geometry | null

/** What reads the values of the aggregates of a query, each determined once. */
function aggregateReaders(plan: GroupQuery, page: DecodedPage): (aggregate: Aggregate) => AggregateReader {
  const aggregates = aggregatesOf(plan)
  const readers = new Map<Aggregate, AggregateReader>()
  return aggregate => {
    const known = readers.get(aggregate)
    if (known !== undefined) return known
    const termOf = page.terms(aggregateVariable(keyPosition(aggregate, aggregates)))
    const decode = aggregateDecoder(aggregate)
    const read = (row: number) => decode(termOf(row))
    readers.set(aggregate, read)
    return read
  }
}

function decodeRow({ select }: GroupQuery, source: RowSource): GroupRow {
  return { keys: source.keys, selected: select.map(({ value }) => rowValue(value, source)) }
}

function rowValue(of: RowValue, source: RowSource): GroupRow['selected'][number] {
  switch (of.type) {
    case 'key':
      return source.keys[of.index] ?? null
    case 'constant':
      return of.value
    case 'aggregate':
      return source.aggregateOf(of.aggregate)
    case 'arithmetic':
      return exactly(of.operator, rowValue(of.left, source), rowValue(of.right, source))
  }
}

function aggregateDecoder(aggregate: Aggregate): (term: Term | null) => Constant | Geometry | null {
  const [type, { of }] = [aggregateType(aggregate), aggregate]
  if (type !== 'geo_shape') return of === null ? term => decodeConstant(term, type) : decoderOf(type, of)
  return term => (term === null ? null : ((parseWkt(term.value) ?? null) as Geometry | null))
}

/** All steps of a range, including those without records, whose counts are 0 and whose other values are null. */
function withEmptySteps(plan: GroupQuery, rows: readonly RowSource[]): readonly RowSource[] {
  const grouping = plan.keys[0]?.grouping
  if (grouping?.type !== 'steps') return rows
  const known = new Map(rows.map(row => [row.keys[0], row]))
  const empty = (step: number): RowSource => ({
    keys: [step],
    aggregateOf: ({ name }) => (name === 'count' ? 0 : null),
  })
  const all = Array.from({ length: grouping.edges.length - 1 }, (_, step) => known.get(step) ?? empty(step))
  const ranked = all.map(row => ({ row, ranks: plan.orderBy.map(({ value }) => rowValue(value, row)) }))
  ranked.sort((left, right) => {
    for (const [index, { descending }] of plan.orderBy.entries()) {
      const order = compare(left.ranks[index], right.ranks[index])
      if (order !== 0) return descending ? -order : order
    }
    return Number(left.row.keys[0]) - Number(right.row.keys[0])
  })
  return ranked
    .slice(plan.offset, plan.limit === null ? undefined : plan.offset + plan.limit)
    .map(({ row }) => row)
}

/** The moments that are stored. */
const MOMENT = /^(\d{4}-\d\d-\d\dT[\d:.]+)Z$/

/** Null first; texts by code point, but moments without their Z, because fewer decimals of a second sort before more. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0
  if (a === null || a === undefined) return -1
  if (b === null || b === undefined) return 1
  if (typeof a !== 'string' || typeof b !== 'string') return (a as number) < (b as number) ? -1 : 1
  const [left, right] = [a, b].map(text => Buffer.from(MOMENT.exec(text)?.[1] ?? text))
  return Buffer.compare(left as Buffer, right as Buffer)
}

function keyReader(
  key: GroupKey,
  index: number,
  page: DecodedPage,
): (row: number) => Constant | GroupCell | null {
  const { grouping } = key
  if (grouping.type === 'cells') {
    const [lon, lat] = [page.terms(centroidName(index, 'lon')), page.terms(centroidName(index, 'lat'))]
    return row => ({ lon: Number(lon(row)?.value), lat: Number(lat(row)?.value) })
  }
  const [name = ''] = keyNames(key, index)
  const termOf = page.terms(name)
  const { value } = grouping
  const decode = decoderOf(grouping.type === 'value' ? scalarType(value) : 'int', value)
  return row => decode(termOf(row))
}

/** The type of an aggregate's value. */
export function aggregateType({ name, of }: Aggregate): FieldType {
  if (name === 'count') return 'int'
  if (name === 'envelope' || name === 'bbox') return 'geo_shape'
  const type = of === null ? 'int' : scalarType(of)
  if (name !== 'min' && name !== 'max') return 'double'
  return !isNumeric(type) || (of !== null && isWhole(of)) ? type : 'double'
}

/** True for values that are integers of 64 bits: they stay such as the least and the greatest of a group. Sums may be larger. */
function isWhole(scalar: Scalar): boolean {
  switch (scalar.type) {
    case 'field':
      return scalar.field.type === 'int'
    case 'datePart':
    case 'valueCount':
      return true
    case 'function':
      return scalar.name === 'length'
    default:
      return false
  }
}
