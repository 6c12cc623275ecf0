import type { ComparisonOperator } from '../../../model/comparison.ts'
import { FLIPPED } from '../../../model/comparison.ts'
import { type AlgebraExpression, isConstantExpression } from '../../../sparql/algebra.ts'
import type { PointPart } from '../dictionary-parts.ts'
import { forEachNear, type PointGrid } from '../grid.ts'
import { allRows, type Batch, deferredSource } from './batch.ts'
import { ColumnDomain, onlyPartOf } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import type { Distances } from './functions/extension.ts'
import { columnCall } from './functions/extensions.ts'
import { isComparison } from './ranges.ts'
import { rowsMarked } from './row-filters.ts'
import { scratchUint8 } from './scratch.ts'
import type { SortKey } from './sort-keys.ts'
import { termValue } from './value.ts'
import { hasWholeValues, type IdVector } from './vector.ts'

/** Expected rows in the first circle per requested row, if points are evenly distributed. */
const PLENTY = 4
/** Growth factor of the radius of a circle with too few rows. */
const GROWTH = 3
/** A circle with more than one in this many points is not worth using the grid. */
const NEAR_PART = 8

/** Metres of a degree. */
const DEGREE = 111_195

/** The distances of a column of points from a position. */
interface DistanceColumn {
  /** The expression that computes them. */
  readonly source: AlgebraExpression
  readonly vector: IdVector
  readonly domain: ColumnDomain
  readonly part: PointPart
  readonly distances: Distances
  readonly distanceOf: (longitude: number, latitude: number) => number
}

/**
 * For a key that increases with the distance of a column of points from a position: all rows within some distance, but at least
 * as many as requested, found by the grid of the points. Null for other keys, and where this would select too many points.
 */
export function nearestRows(key: SortKey, batch: Batch, count: number): Uint32Array | null {
  const column = key.descending ? null : distanceColumn(key.expression, batch)
  // Rows without a value would be the first.
  if (column === null || (!key.isAbsentHighest && !hasWholeValues(column.vector))) return null
  const { domain, part, distances, vector } = column
  const radius = radiusOf(domain.column.gridOf(part), (PLENTY * count) / batch.size)
  for (let distance = radius / distances.unit; ; distance *= GROWTH) {
    const near = pointsWithin(column, distance, '<=')
    if (near === null) return null
    const rows = rowsMarked(vector.ids, near, 1, allRows(batch.size))
    if (rows.length >= count) return rows
  }
}

/**
 * The rows in which a distance of a column of points from a position satisfies a comparison with a constant, found by the grid of
 * the points; null for other conditions, and where this would select too many points.
 */
export function rowsByDistance(
  expression: AlgebraExpression,
  batch: Batch,
  rows: Uint32Array,
  required: boolean,
  evaluation: Evaluation,
): Uint32Array | null {
  const limit = distanceLimit(expression)
  const column = limit === null ? null : distanceColumn(limit.computed, batch)
  if (limit === null || column === null) return null
  const { vector, domain, source } = column
  const { operator, distance, isNear } = limit
  const { near } = evaluation.memo(`points ${operator} ${distance}`, source, domain, () => ({
    near: pointsWithin(column, distance, operator),
  }))
  return near === null ? null : rowsMarked(vector.ids, near, isNear === required ? 1 : 0, rows)
}

/** A comparison with a constant that may be a limit of a distance. */
interface DistanceLimit {
  readonly computed: AlgebraExpression
  readonly distance: number
  readonly operator: '<' | '<='
  /** False where the comparison holds for points that are farther away. */
  readonly isNear: boolean
}

/** Parses a condition as such a comparison; null for any other. */
export function distanceLimit(expression: AlgebraExpression): DistanceLimit | null {
  if (expression.type !== 'binary' || !isComparison(expression.operator)) return null
  const isLeft = isConstantExpression(expression.right)
  const [computed, constant] = isLeft
    ? [expression.left, expression.right]
    : [expression.right, expression.left]
  const test = NEARNESS[isLeft ? expression.operator : FLIPPED[expression.operator]]
  if (test === undefined || !isConstantExpression(constant)) return null
  const limit = termValue(constant)
  return limit.type === 'number' && limit.value >= 0 ? { computed, distance: limit.value, ...test } : null
}

/** Comparisons that hold for near points only, or for all others. */
const NEARNESS: Readonly<
  Partial<Record<ComparisonOperator, { readonly operator: '<' | '<='; readonly isNear: boolean }>>
> = {
  '<': { operator: '<', isNear: true },
  '<=': { operator: '<=', isNear: true },
  '>': { operator: '<=', isNear: false },
  '>=': { operator: '<', isNear: false },
}

function distanceColumn(computed: AlgebraExpression, batch: Batch): DistanceColumn | null {
  const { expression, input } = deferredSource(computed, batch)
  const call = columnCall(expression)
  const distances = call?.called.distances?.(call.constants) ?? null
  const vector = call === null || distances === null ? undefined : input.get(call.variable)
  if (call === null || distances === null || vector?.type !== 'ids') return null
  const { domain } = vector
  const part = domain instanceof ColumnDomain ? onlyPartOf(domain) : null
  const distanceOf = part?.kind === 'point' ? call.called.overPoints?.(call.constants) : null
  if (!(domain instanceof ColumnDomain) || part?.kind !== 'point' || distanceOf == null) return null
  return { source: expression, vector, domain, part, distances, distanceOf }
}

/** 1 by code for points within a distance; null where these are too many. */
function pointsWithin(
  { domain, part, distances, distanceOf }: DistanceColumn,
  distance: number,
  operator: '<' | '<=',
): Uint8Array | null {
  const { longitudes, latitudes, first } = part
  const isNear = scratchUint8(domain.size + 1).fill(0)
  const max = part.count / NEAR_PART
  let near = 0
  for (const box of distances.boxesWithin(distance))
    forEachNear(domain.column.gridOf(part), box, place => {
      if (near > max) return
      const own = distanceOf(longitudes[place] as number, latitudes[place] as number)
      if (operator === '<' ? own >= distance : own > distance) return
      isNear[first + place] = 1
      near += 1
    })
  return near > max ? null : isNear
}

/** Radius in metres of a circle with a fraction of the area of a grid. */
function radiusOf({ box }: PointGrid, part: number): number {
  const area = Math.max(1e-6, (box.east - box.west) * (box.north - box.south))
  return DEGREE * Math.sqrt((area * Math.min(1, part)) / Math.PI)
}
