import { type FieldType, isNumeric } from '../model/field.ts'
import { type Position, positionsOf } from '../model/geometry.ts'
import { lookup } from '../model/lookup.ts'
import type { Geometry } from '../model/value.ts'
import { parseWkt } from '../model/wkt.ts'
import { keyNames, middleName } from './compile/group-keys.ts'
import {
  aggregatesOf,
  computedName,
  figureName,
  isDecoded,
  isDecodedOrder,
  isDecodedValue,
  placeOf,
  VALUE_SEPARATOR,
} from './compile/groups.ts'
import { decodeConstant, type Solution } from './decode.ts'
import { type Aggregate, type Constant, type GroupQuery, type RowValue, scalarType } from './plan.ts'

/** A row of a grouped answer: the raw value of each key and of each selection, null for none. */
export interface GroupRow {
  readonly keys: readonly (Constant | Cell | null)[]
  readonly selected: readonly (Constant | Cell | Geometry | null)[]
}

/** Points that are near one another, by their middle. */
export interface Cell {
  readonly lon: number
  readonly lat: number
}

/**
 * Reads the rows of a grouped answer, with the aggregates that SPARQL has none for; rows whose order depends on one
 * of these are sorted and cut to their page here, stably: the store gives them in the order of their keys.
 */
export function decodeGroups(plan: GroupQuery, solutions: readonly Solution[]): readonly GroupRow[] {
  const aggregates = aggregatesOf(plan)
  const rows = solutions.map(solution => {
    const keys = plan.keys.map((_, index) => decodeKey(plan, index, solution))
    const figure = (aggregate: Aggregate): Constant | Geometry | null => {
      const found = lookup(solution, figureName(placeOf(aggregate, aggregates)))
      if (!isDecoded(aggregate)) return decodeConstant(found, figureType(aggregate))
      return computed(aggregate, (found?.value ?? '').split(VALUE_SEPARATOR).filter(Boolean))
    }
    /** `index` is the place of the selection, -1 for what stands in no place of its own. */
    const value = (of: RowValue, index: number): GroupRow['selected'][number] => {
      switch (of.type) {
        case 'key':
          return keys[of.index] ?? null
        case 'constant':
          return of.value
        case 'aggregate':
          return figure(of.aggregate)
        case 'arithmetic': {
          const isStored = index >= 0 && !isDecodedValue(of)
          if (isStored) return decodeConstant(lookup(solution, computedName(index)), 'double')
          return calculate(of.operator, value(of.left, -1), value(of.right, -1))
        }
        default:
          return of satisfies never
      }
    }
    const selected = plan.select.map((selection, index) => value(selection.value, index))
    const order = isDecodedOrder(plan)
      ? plan.orderBy.map(({ value: by }) => sortable(by, value(by, -1), plan))
      : []
    return { keys, selected, order }
  })
  if (!isDecodedOrder(plan)) return rows
  const sorted = [...rows].sort((a, b) => {
    for (const [index, { descending }] of plan.orderBy.entries()) {
      const order = compare(a.order[index], b.order[index])
      if (order !== 0) return descending ? -order : order
    }
    return 0
  })
  return sorted.slice(plan.offset, plan.limit === null ? undefined : plan.offset + plan.limit)
}

/** Arithmetic as the store does it: null for nothing, and for a division by 0. */
function calculate(operator: '+' | '-' | '*' | '/', first: unknown, second: unknown): number | null {
  const [left, right] = [first, second].map(value => (typeof value === 'bigint' ? Number(value) : value))
  if (typeof left !== 'number' || typeof right !== 'number') return null
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return right === 0 ? null : left / right
    default:
      return operator satisfies never
  }
}

/** Moments without the Z at their end, for fewer decimals of a second come before more. */
function sortable(
  by: RowValue,
  value: GroupRow['selected'][number],
  plan: GroupQuery,
): GroupRow['selected'][number] {
  return typeof value === 'string' && rowType(by, plan) === 'datetime' ? value.replace(/Z$/, '') : value
}

function rowType(value: RowValue, { keys }: GroupQuery): FieldType | null {
  if (value.type === 'aggregate') return figureType(value.aggregate)
  const grouping = value.type === 'key' ? keys[value.index]?.grouping : undefined
  return grouping?.type === 'value' ? scalarType(grouping.value) : null
}

/** Null first; texts by code point. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0
  if (a === null || a === undefined) return -1
  if (b === null || b === undefined) return 1
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return Number(a) < Number(b) ? -1 : 1
}

function decodeKey(plan: GroupQuery, index: number, solution: Solution): Constant | Cell | null {
  const key = plan.keys[index]
  if (key === undefined) return null
  const { grouping } = key
  if (grouping.type === 'cells') {
    const [lon, lat] = (['lon', 'lat'] as const).map(axis =>
      Number(lookup(solution, middleName(index, axis))?.value),
    )
    return { lon: lon ?? Number.NaN, lat: lat ?? Number.NaN }
  }
  const [name = ''] = keyNames(key, index)
  return decodeConstant(
    lookup(solution, name),
    grouping.type === 'value' ? scalarType(grouping.value) : 'int',
  )
}

/** The type of an aggregate's value. */
export function figureType({ name, of }: Aggregate): FieldType {
  if (name === 'count') return 'int'
  if (name === 'envelope' || name === 'bbox') return 'geo_shape'
  const type = of === null ? 'int' : scalarType(of)
  return (name === 'min' || name === 'max') && !isNumeric(type) ? type : 'double'
}

function computed({ name, rank }: Aggregate, values: readonly string[]): Constant | Geometry | null {
  switch (name) {
    case 'percentile':
      return percentile(values.map(Number), rank)
    case 'envelope':
      return convexHull(values.flatMap(positions))
    case 'bbox':
      return boundingBox(values.flatMap(positions))
    default:
      throw new Error(`${name} is computed by the store`)
  }
}

/**
 * The value below which a part of the values lies, between the two nearest by linear interpolation; null for none.
 *
 * @param rank 0 to 100
 */
export function percentile(values: readonly number[], rank: number): number | null {
  const sorted = Float64Array.from(values).sort()
  const place = (rank / 100) * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return low === undefined || high === undefined ? null : low + (high - low) * (place - Math.floor(place))
}

function positions(wkt: string): readonly Position[] {
  const geometry = parseWkt(wkt)
  return geometry === undefined ? [] : positionsOf(geometry)
}

/** The smallest convex polygon around positions (Andrew's monotone chain); a point or a line where they are few. */
export function convexHull(points: readonly Position[]): Geometry | null {
  const sorted = [...new Map(points.map(point => [point.join(' '), point])).values()].sort(
    (a, b) => a[0] - b[0] || a[1] - b[1],
  )
  const [first] = sorted
  if (first === undefined) return null
  if (sorted.length === 1) return { type: 'Point', coordinates: [...first] }
  const lower = half(sorted)
  const upper = half([...sorted].reverse())
  const ring = [...lower.slice(0, -1), ...upper.slice(0, -1)]
  if (ring.length < 3) return { type: 'LineString', coordinates: ring.map(point => [...point]) }
  return { type: 'Polygon', coordinates: [[...ring, ring[0] as Position].map(point => [...point])] }
}

function half(points: readonly Position[]): readonly Position[] {
  const chain: Position[] = []
  for (const point of points) {
    while (chain.length > 1 && turn(chain.at(-2) as Position, chain.at(-1) as Position, point) <= 0)
      chain.pop()
    chain.push(point)
  }
  return chain
}

function turn(a: Position, b: Position, c: Position): number {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

function boundingBox(points: readonly Position[]): Geometry | null {
  if (points.length === 0) return null
  let [west, south, east, north] = [180, 90, -180, -90]
  for (const [lon, lat] of points) {
    west = Math.min(west, lon)
    east = Math.max(east, lon)
    south = Math.min(south, lat)
    north = Math.max(north, lat)
  }
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}
