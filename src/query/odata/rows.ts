import { Fault } from '../../errors/errors.ts'
import { ODATA_UNSUPPORTED } from '../../language/odata/faults.ts'
import type { EdmValue, EntityColumn } from '../../model/edm.ts'
import { exactJson } from '../../model/exact-json.ts'
import type { Field, FieldType } from '../../model/field.ts'
import type { GroupRow } from '../decode.ts'
import { exactSum } from '../exact-numbers.ts'
import { type Condition, type GroupQuery, type RecordQuery, type Scalar, scalarType } from '../plan.ts'
import { type ApplyCell, type CellReader, evaluate, holds, ranked } from './apply-evaluate.ts'
import { edmValue, RowWork } from './computed.ts'
import type { PrimitiveKind } from './typed-expression.ts'

/** A row of a grouped answer: the values of its cells, in the order of the layout; undefined for a property that it lacks. */
export type ApplyRow = readonly (ApplyCell | undefined)[]

/** An aggregate over rows. */
export interface RowAggregate {
  readonly method: 'sum' | 'min' | 'max' | 'average' | 'countdistinct' | 'count'
  /** null counts rows. */
  readonly of: Scalar | null
  readonly type: FieldType
}

export interface RowKey {
  readonly value: Scalar
  readonly descending: boolean
}

/** The extent of the first rows to select (Data Aggregation 4.0, section 3.3). */
export type RowExtent = 'count' | 'percent' | 'sum'

/**
 * A step over the rows that the store grouped. Conditions and values read the cells of a row: the field of a cell is named by its
 * index.
 */
export type RowStep =
  | { readonly type: 'filter'; readonly condition: Condition }
  /** Adds cells to each row. */
  | { readonly type: 'compute'; readonly values: readonly Scalar[] }
  | { readonly type: 'order'; readonly keys: readonly RowKey[] }
  | { readonly type: 'window'; readonly skip: number; readonly top: number | null }
  | {
      readonly type: 'extreme'
      readonly extent: RowExtent
      readonly amount: number
      readonly by: Scalar
      readonly descending: boolean
    }
  /** Groups again; the new rows have the cells of the keys, followed by the aggregates. */
  | { readonly type: 'group'; readonly keys: readonly number[]; readonly aggregates: readonly RowAggregate[] }
  /** Concatenates the rows of several sequences of steps; a cell that a sequence lacks is undefined. */
  | {
      readonly type: 'concat'
      readonly sequences: readonly {
        readonly steps: readonly RowStep[]
        readonly cells: readonly (number | null)[]
      }[]
    }

/** A property of the rows of an answer: of one cell, or of two for a point's latitude and longitude. */
export interface RowColumn extends EntityColumn {
  readonly cells: readonly { readonly index: number; readonly kind: PrimitiveKind; readonly epoch: boolean }[]
}

/** The group query, the steps applied to its rows, and their presentation. */
export interface RowsPlan {
  readonly type: 'rows'
  /** Groupings whose rows are concatenated. */
  readonly parts: readonly RowsPart[]
  readonly steps: readonly RowStep[]
  /** The page: it is not one of the steps, so that all rows can be counted. */
  readonly window: { readonly skip: number; readonly top: number | null }
  readonly columns: readonly RowColumn[]
  readonly selected: readonly string[] | null
}

/** A grouping, the steps over its rows, and their mapping to the cells of all rows. */
export interface RowsPart {
  readonly query: GroupQuery
  /** Queries that restrict the records, each applied to the result of the one before; none for all records. */
  readonly cuts: readonly RecordQuery[]
  readonly steps: readonly RowStep[]
  /** The index of each cell of all rows, null for a property that its rows lack; null where the indexes are the same. */
  readonly cells: readonly (number | null)[] | null
}

/** Maximum number of groups of the store in one answer. */
export const MAX_GROUPS = 100_000

/**
 * All rows of an answer from the store's rows of each part. Faults: ODataUnsupported for more groups than one answer may have.
 */
export function answerRows(
  { parts, steps }: Pick<RowsPlan, 'parts' | 'steps'>,
  groups: readonly (readonly GroupRow[])[],
): readonly ApplyRow[] {
  const work = new RowWork()
  const rows = parts.flatMap((part, index) => {
    const found = groups[index] ?? []
    refuseMany(found)
    const result = applySteps(
      part.steps,
      found.map(({ keys, selected }): ApplyRow => [...keys, ...selected].map(cellOf)),
      work,
    )
    const { cells } = part
    return cells === null ? result : result.map(row => placed(row, cells))
  })
  refuseMany(rows)
  return applySteps(steps, rows, work)
}

/** Rearranges the cells of a row. */
function placed(row: ApplyRow, cells: readonly (number | null)[]): ApplyRow {
  return cells.map(cell => (cell === null ? undefined : row[cell]))
}

/** The values of the rows of a page. */
export function pageOf(
  { window, columns }: Pick<RowsPlan, 'window' | 'columns'>,
  rows: readonly ApplyRow[],
): readonly (readonly (EdmValue | undefined)[])[] {
  const page = cut(rows, window.skip, window.top)
  return page.map(row => columns.map(column => valueIn(row, column)))
}

function refuseMany(rows: readonly unknown[]): void {
  if (rows.length > MAX_GROUPS)
    throw new Fault(ODATA_UNSUPPORTED, {
      reason: `The aggregation has more than ${MAX_GROUPS} groups: filter the records, or group by fewer properties.`,
    })
}

function cellOf(value: GroupRow['selected'][number]): ApplyCell {
  return typeof value === 'object' ? null : value
}

function valueIn(row: ApplyRow, { type, cells, members }: RowColumn): EdmValue | undefined {
  if (cells.every(({ index }) => row[index] === undefined)) return undefined
  const values = cells.map(({ index, kind, epoch }) => edmValue(kind, epoch, row[index] ?? null))
  if (type !== 'Ods.GeoPoint2D') return values[0] ?? null
  const part = (name: 'latitude' | 'longitude') => values[members?.indexOf(name) ?? -1] ?? null
  const [latitude, longitude] = [part('latitude'), part('longitude')]
  return latitude === null && longitude === null
    ? null
    : { latitude: Number(latitude), longitude: Number(longitude) }
}

/** Takes rows through steps, in their order. */
export function applySteps(
  steps: readonly RowStep[],
  rows: readonly ApplyRow[],
  work = new RowWork(),
): readonly ApplyRow[] {
  return steps.reduce((before, step) => applyStep(step, before, work), rows)
}

function applyStep(step: RowStep, rows: readonly ApplyRow[], work: RowWork): readonly ApplyRow[] {
  work.count(rows.length, expressionsOf(step))
  switch (step.type) {
    case 'filter':
      return rows.filter(row => holds(step.condition, readerOf(row)))
    case 'compute':
      return rows.map(row => {
        const computed = step.values.map(value => work.countText(evaluate(value, readerOf(row))))
        return [...row, ...computed]
      })
    case 'order':
      return ordered(rows, step.keys)
    case 'window':
      return cut(rows, step.skip, step.top)
    case 'extreme':
      return extreme(rows, step)
    case 'group':
      return grouped(rows, step.keys, step.aggregates)
    case 'concat': {
      const all: ApplyRow[] = []
      for (const { steps, cells } of step.sequences)
        for (const row of applySteps(steps, rows, work)) {
          refuseMany(all)
          all.push(placed(row, cells))
        }
      return all
    }
  }
}

/** What a step evaluates for each row. */
function expressionsOf(step: RowStep): readonly (Condition | Scalar)[] {
  switch (step.type) {
    case 'filter':
      return [step.condition]
    case 'compute':
      return step.values
    case 'order':
      return step.keys.map(({ value }) => value)
    case 'extreme':
      return [step.by, step.by]
    case 'group':
      return step.aggregates.flatMap(({ of }) => of ?? [])
    default:
      return []
  }
}

function readerOf(row: ApplyRow): CellReader {
  return ({ name }: Field) => row[Number(name)] ?? null
}

function cut(rows: readonly ApplyRow[], skip: number, top: number | null): readonly ApplyRow[] {
  return rows.slice(skip, top === null ? undefined : skip + top)
}

/** Sorted stably; null is the lowest value. */
function ordered(rows: readonly ApplyRow[], keys: readonly RowKey[]): readonly ApplyRow[] {
  const keyed = rows.map(row => ({ row, values: keys.map(({ value }) => evaluate(value, readerOf(row))) }))
  const types = keys.map(({ value }) => scalarType(value))
  keyed.sort((a, b) => {
    for (const [index, { descending }] of keys.entries()) {
      const order = ranked(a.values[index] ?? null, b.values[index] ?? null, types[index] ?? 'text')
      if (order !== 0) return descending ? -order : order
    }
    return 0
  })
  return keyed.map(({ row }) => row)
}

/** The rows with the greatest or least values: a number of them, or as many as are needed to reach an amount or a share. */
function extreme(
  rows: readonly ApplyRow[],
  { extent, amount, by, descending }: Extract<RowStep, { type: 'extreme' }>,
): readonly ApplyRow[] {
  const sorted = ordered(rows, [{ value: by, descending }])
  if (extent === 'count') return sorted.slice(0, amount)
  const numbers = sorted.map(row => Number(evaluate(by, readerOf(row)) ?? 0))
  const total = numbers.reduce((sum, value) => sum + value, 0)
  let sum = 0
  const end = numbers.findIndex(value => {
    if ((extent === 'sum' ? sum : (sum * 100) / total) >= amount) return true
    sum += value
    return false
  })
  return end < 0 ? sorted : sorted.slice(0, end)
}

function grouped(
  rows: readonly ApplyRow[],
  keys: readonly number[],
  aggregates: readonly RowAggregate[],
): readonly ApplyRow[] {
  const groups = new Map<string, { readonly key: ApplyRow; readonly rows: ApplyRow[] }>()
  for (const row of rows) {
    const key = keys.map(index => row[index] ?? null)
    // JSON has no infinite numbers.
    const name = exactJson(key.map(cell => (isUnbounded(cell) ? String(cell) : cell)))
    const group = groups.get(name) ?? { key, rows: [] }
    group.rows.push(row)
    groups.set(name, group)
  }
  if (keys.length === 0 && groups.size === 0) groups.set('', { key: [], rows: [] })
  return [...groups.values()].map(group => [
    ...group.key,
    ...aggregates.map(aggregate => aggregateCell(aggregate, group.rows)),
  ])
}

function isUnbounded(cell: ApplyCell | undefined): boolean {
  return typeof cell === 'number' && !Number.isFinite(cell)
}

function aggregateCell({ method, of, type }: RowAggregate, rows: readonly ApplyRow[]): ApplyCell {
  if (of === null) return rows.length
  const values = rows.flatMap(row => {
    const value = evaluate(of, readerOf(row))
    return value === null ? [] : [value]
  })
  const sum = () => exactSum(values, type)
  const [first = null, ...others] = values
  switch (method) {
    case 'count':
      return values.length
    case 'countdistinct':
      return new Set(values).size
    case 'sum':
      return first === null ? null : sum()
    case 'average':
      return first === null ? null : Number(sum()) / values.length
    case 'min':
    case 'max': {
      const sign = method === 'min' ? 1 : -1
      return others.reduce<ApplyCell>(
        (best, value) => (sign * ranked(value, best, type) < 0 ? value : best),
        first,
      )
    }
  }
}
