import { type ComparisonOperator, FLIPPED } from '../../../../model/comparison.ts'
import {
  type AlgebraExpression,
  isConstantExpression,
  type OrderCondition,
} from '../../../../sparql/algebra.ts'
import type { PointPart } from '../../dictionary-parts.ts'
import { forEachNear, type GridBox, type PointGrid } from '../../grid.ts'
import type { Evaluation } from '../evaluation.ts'
import { columnCall } from '../functions/extensions.ts'
import { allRows, type Batch, deferredSource } from '../vectors/batch.ts'
import { ColumnDomain, type Domain, onlyPartOf } from '../vectors/domain.ts'
import { lookedUp, type NumberTable } from '../vectors/number-vectors.ts'
import { rowsMarked } from '../vectors/row-filters.ts'
import { isScratchReused, scratchFloat64, scratchUint8, scratchUint32 } from '../vectors/scratch.ts'
import { termValue } from '../vectors/value.ts'
import { hasWholeValues, type IdVector, type NumberVector } from '../vectors/vector.ts'
import { isComparison } from './ranges.ts'
import type { TestedRows } from './truths.ts'

/** Up to this number of points each one is tested. */
const FEW_POINTS = 2048

/** Maximum number of points that are listed: the first number, plus one in the second of all points. */
const MAX_LISTED = 64
const NEAR_PART = 6

/** Expected rows in the first circle per requested row, if points are evenly distributed. */
const OVERSAMPLING = 4
/** Growth factor of the radius of a circle with too few rows. */
const GROWTH = 3

/** Metres of a degree. */
const DEGREE = 111_195

/** Metres to the other side of the earth. */
const FARTHEST = 180 * DEGREE

/** A comparison with a constant that may be a limit of a distance. */
interface DistanceLimit {
  readonly computed: AlgebraExpression
  readonly distance: number
  readonly operator: '<' | '<='
  /** False where the comparison holds for points that are farther away. */
  readonly isNear: boolean
}

/** Comparisons that hold for near points only, or for all others. */
const NEARNESS: Readonly<Partial<Record<ComparisonOperator, Pick<DistanceLimit, 'operator' | 'isNear'>>>> = {
  '<': { operator: '<', isNear: true },
  '<=': { operator: '<=', isNear: true },
  '>': { operator: '<=', isNear: false },
  '>=': { operator: '<', isNear: false },
}

/** Parses a condition as such a comparison; null for any other. */
export function distanceLimit(expression: AlgebraExpression): DistanceLimit | null {
  if (expression.type !== 'binary' || !isComparison(expression.operator)) return null
  const { left, right, operator } = expression
  const [computed, constant] = isConstantExpression(right) ? [left, right] : [right, left]
  const test = NEARNESS[computed === left ? operator : FLIPPED[operator]]
  if (test === undefined || !isConstantExpression(constant)) return null
  const limit = termValue(constant)
  return limit.type === 'number' && limit.value >= 0 ? { computed, distance: limit.value, ...test } : null
}

/** A test of points that only holds near some position. */
interface NearTest {
  readonly variable: string
  /** The boxes in which it may hold. */
  readonly boxes: readonly GridBox[]
  readonly test: (longitude: number, latitude: number) => boolean
}

/** Parses a function of points, or a distance with a limit, as such a test; null for others. */
function nearTest(
  expression: AlgebraExpression,
  limit: Pick<DistanceLimit, 'distance' | 'operator'> | null,
): NearTest | null {
  const call = columnCall(expression)
  const over = call?.called.overPoints?.(call.constants) ?? null
  if (call === null || over === null) return null
  const { variable, called, constants } = call
  if (limit === null) {
    const boxes = called.isTest === true ? (called.testBoxes?.(constants) ?? null) : null
    return boxes && { variable, boxes, test: (longitude, latitude) => over(longitude, latitude) === 1 }
  }
  const { distance, operator } = limit
  const boxes = called.distances?.(constants)?.boxesWithin(distance) ?? null
  const test = (longitude: number, latitude: number) => {
    const own = over(longitude, latitude)
    return operator === '<' ? own < distance : own <= distance
  }
  return boxes && { variable, boxes, test }
}

/** The codes of the points of a column that pass a test, listed and as a table; null for other columns, and for many points. */
function pointsThat({ boxes, test }: NearTest, domain: Domain) {
  const part = onlyPartOf(domain)
  if (part?.kind !== 'point' || !(domain instanceof ColumnDomain)) return null
  const { longitudes, latitudes, first } = part
  const table = scratchUint8(domain.size + 1).fill(0)
  const codes: number[] = []
  const max = MAX_LISTED + part.count / NEAR_PART
  for (const box of boxes)
    forEachNear(domain.column.gridOf(part), box, place => {
      const isNew = codes.length <= max && table[first + place] === 0
      if (!isNew || !test(longitudes[place] as number, latitudes[place] as number)) return
      table[first + place] = 1
      codes.push(first + place)
    })
  return codes.length > max ? null : { codes, table }
}

/** The codes of the points to which a condition restricts a variable; null for other conditions, and for many points. */
export function pointsNear(
  expression: AlgebraExpression,
  variable: string,
  domain: ColumnDomain,
  evaluation: Evaluation,
): readonly number[] | null {
  const limit = distanceLimit(expression)
  const near = limit?.isNear === false ? null : nearTest(limit?.computed ?? expression, limit)
  if (near?.variable !== variable) return null
  return evaluation.memo('points near', expression, domain, () => pointsThat(near, domain))?.codes ?? null
}

/**
 * For a key that increases with the distance of a column of points from a position: all rows within some distance, but at least
 * as many as requested, found by the grid of the points. Null for other keys, and where this would select too many points, or fewer rows have one.
 */
export function nearestRows(
  key: OrderCondition & { readonly isAbsentHighest: boolean },
  batch: Batch,
  count: number,
): Uint32Array | null {
  const { expression, input } = deferredSource(key.expression, batch)
  const call = key.descending ? null : columnCall(expression)
  const distances = call?.called.distances?.(call.constants) ?? null
  const vector = call === null || distances === null ? undefined : input.get(call.variable)
  const part = vector?.type === 'ids' ? onlyPartOf(vector.domain) : null
  if (distances === null || vector?.type !== 'ids' || part?.kind !== 'point') return null
  // Rows without a value would be the first.
  if (!key.isAbsentHighest && !hasWholeValues(vector)) return null
  const grid = (vector.domain as ColumnDomain).column.gridOf(part)
  const first = radiusOf(grid, (OVERSAMPLING * count) / batch.size)
  for (let radius = first; radius < GROWTH * FARTHEST; radius *= GROWTH) {
    const test = nearTest(expression, { distance: radius / distances.unit, operator: '<=' })
    const near = test && pointsThat(test, vector.domain)
    if (near === null) return null
    const rows = rowsMarked(vector.ids, near.table, 1, allRows(batch.size))
    if (rows.length >= count) return rows
  }
  // More rows are requested than have a point.
  return null
}

/** Radius in metres of a circle with a fraction of the area of a grid. */
function radiusOf({ box }: PointGrid, part: number): number {
  const area = Math.max(1e-6, (box.east - box.west) * (box.north - box.south))
  return DEGREE * Math.sqrt((area * Math.min(1, part)) / Math.PI)
}

/**
 * The rows in which a distance of a column of points from a position satisfies a comparison with a constant, found by the grid of
 * the points; null for other conditions, and where this would select too many points.
 */
export function rowsByDistance(
  expression: AlgebraExpression,
  { batch, rows, required }: TestedRows,
  evaluation: Evaluation,
): Uint32Array | null {
  const limit = distanceLimit(expression)
  if (limit === null) return null
  const { expression: source, input } = deferredSource(limit.computed, batch)
  const test = nearTest(source, limit)
  const vector = test === null ? undefined : input.get(test.variable)
  if (test === null || vector?.type !== 'ids') return null
  const { ids, domain } = vector
  const { operator, distance } = limit
  const near = evaluation.memo(`points ${operator} ${distance}`, source, domain, () =>
    pointsThat(test, domain),
  )
  return near && rowsMarked(ids, near.table, limit.isNear === required ? 1 : 0, rows)
}

/** The rows that pass or fail a test of points: tests each of few points, else those near the position of the test. */
export function rowsOfPoints(
  expression: AlgebraExpression,
  { ids, domain }: IdVector,
  { longitudes, latitudes, first }: PointPart,
  { rows, required }: TestedRows,
  evaluation: Evaluation,
): Uint32Array | null {
  const mark = required ? 1 : 0
  const near = rows.length < FEW_POINTS ? null : nearTest(expression, null)
  const found = near && evaluation.memo('points near', expression, domain, () => pointsThat(near, domain))
  if (found !== null) return rowsMarked(ids, found.table, mark, rows)
  const call = columnCall(expression)
  const make = () => call?.called.overPoints?.(call.constants) ?? null
  const test = evaluation.memo('points', expression, domain, make)
  if (test === null) return null
  const selected = scratchUint32(rows.length)
  let count = 0
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number
    const id = ids[row] as number
    if (id !== 0 && test(longitudes[id - first] as number, latitudes[id - first] as number) === mark)
      selected[count++] = row
  }
  return selected.subarray(0, count)
}

/** Expressions under which tables of coordinates are cached. */
const COORDINATES = {
  longitudes: { type: 'variable', name: 'longitudes' },
  latitudes: { type: 'variable', name: 'latitudes' },
} as const

/** A coordinate of points; read once for the same rows, for all expressions. */
export function coordinateNumbers(
  part: PointPart,
  coordinate: 'longitudes' | 'latitudes',
  ids: Uint32Array,
  domain: ColumnDomain,
  evaluation: Evaluation,
): NumberVector {
  const { table, known } = evaluation.memo('coordinates', COORDINATES[coordinate], domain, () => {
    const values = scratchFloat64(domain.size + 1).fill(Number.NaN, 0, part.first)
    values.set(part[coordinate], part.first)
    const table: NumberTable = { kind: 'double', values }
    return { table, known: new WeakMap<Uint32Array, NumberVector>() }
  })
  const vector = known.get(ids) ?? lookedUp(table, ids)
  if (!isScratchReused()) {
    // Cached values are read now: later they might be written to memory that is reused.
    void vector.values
    known.set(ids, vector)
  }
  return vector
}
