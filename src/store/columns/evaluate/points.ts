import type { AlgebraExpression } from '../../../sparql/algebra.ts'
import type { PointPart } from '../dictionary-parts.ts'
import { forEachNear, type GridBox } from '../grid.ts'
import { distanceLimit } from './distances.ts'
import { ColumnDomain, onlyPartOf } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import { columnCall } from './functions/extensions.ts'
import { lookedUp, type NumberTable } from './number-tables.ts'
import { rowsMarked } from './row-filters.ts'
import { isScratchReused, scratchFloat64, scratchUint8, scratchUint32 } from './scratch.ts'
import type { IdVector, NumberVector } from './vector.ts'

/** Up to this number of points each one is tested. */
const FEW_POINTS = 2048

/** Maximum number of points that are listed: the first number, plus one in the second of all points. */
const FEW = 64
const NEAR_PART = 6

/** A test of points that only holds near some position. */
interface NearTest {
  readonly variable: string
  /** The boxes in which it may hold. */
  readonly boxes: readonly GridBox[]
  readonly test: (longitude: number, latitude: number) => boolean
}

/** The codes of the points of a column that pass a test that only holds near some position; null for others, and for many points. */
export function pointsNear(
  expression: AlgebraExpression,
  variable: string | null,
  domain: ColumnDomain,
  evaluation: Evaluation,
): Uint32Array | null {
  const near = functionTest(expression) ?? distanceTest(expression)
  if (near === null || (variable !== null && near.variable !== variable)) return null
  return evaluation.memo('points near', expression, domain, () => found(near, domain))
}

function found({ boxes, test }: NearTest, domain: ColumnDomain): Uint32Array | null {
  const part = onlyPartOf(domain)
  if (part?.kind !== 'point') return null
  const { longitudes, latitudes, first } = part
  const grid = domain.column.gridOf(part)
  const codes = new Set<number>()
  const max = FEW + part.count / NEAR_PART
  for (const box of boxes)
    forEachNear(grid, box, place => {
      if (codes.size <= max && test(longitudes[place] as number, latitudes[place] as number))
        codes.add(first + place)
    })
  return codes.size > max ? null : Uint32Array.from(codes)
}

function functionTest(expression: AlgebraExpression): NearTest | null {
  const call = columnCall(expression)
  if (call?.called.isTest !== true) return null
  const { variable, called, constants } = call
  const boxes = called.within?.(constants) ?? null
  const test = boxes === null ? null : (called.overPoints?.(constants) ?? null)
  if (boxes === null || test === null) return null
  return { variable, boxes, test: (longitude, latitude) => test(longitude, latitude) === 1 }
}

/** `geof:distance(?place, …) < limit`. */
function distanceTest(expression: AlgebraExpression): NearTest | null {
  const limit = distanceLimit(expression)
  const call = limit?.isNear === true ? columnCall(limit.computed) : null
  const distances = call?.called.distances?.(call.constants) ?? null
  const distanceOf = distances === null ? null : call?.called.overPoints?.(call.constants)
  if (limit === null || call === null || distances === null || distanceOf == null) return null
  const { distance, operator } = limit
  return {
    variable: call.variable,
    boxes: distances.boxesWithin(distance),
    test: (longitude, latitude) => {
      const own = distanceOf(longitude, latitude)
      return operator === '<' ? own < distance : own <= distance
    },
  }
}

/** The rows that pass or fail a test of points: tests each of few points, else those near the position of the test. */
export function rowsOfPoints(
  expression: AlgebraExpression,
  { ids, domain }: IdVector,
  part: PointPart,
  { rows, required }: { readonly rows: Uint32Array; readonly required: boolean },
  evaluation: Evaluation,
): Uint32Array | null {
  if (!(domain instanceof ColumnDomain)) return null
  const near =
    rows.length < FEW_POINTS
      ? null
      : evaluation.memo('points marked', expression, domain, () =>
          marked(pointsNear(expression, null, domain, evaluation), domain.size),
        )
  if (near !== null) return rowsMarked(ids, near, required ? 1 : 0, rows)
  const call = columnCall(expression)
  const test = evaluation.memo(
    'points',
    expression,
    domain,
    () => call?.called.overPoints?.(call.constants) ?? null,
  )
  if (test === null) return null
  const { longitudes, latitudes, first } = part
  const mark = required ? 1 : 0
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

/** A table by code: 1 for the listed codes. */
function marked(codes: Uint32Array | null, size: number): Uint8Array | null {
  if (codes === null) return null
  const table = scratchUint8(size + 1).fill(0)
  for (let at = 0; at < codes.length; at++) table[codes[at] as number] = 1
  return table
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
