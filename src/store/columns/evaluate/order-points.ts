import { forEachNear, type PointGrid } from '../grid.ts'
import { allRows, type Batch } from './batch.ts'
import { ColumnDomain, onlyPartOf } from './domain.ts'
import { columnCall } from './functions/extensions.ts'
import { deferredSource } from './order-texts.ts'
import { rowsMarked } from './row-filters.ts'
import { scratchUint8 } from './scratch.ts'
import type { SortKey } from './sort-keys.ts'
import { hasWholeValues } from './vector.ts'

/** Rows that the first circle is to have for each that is looked for, where points are spread evenly. */
const PLENTY = 4
/** What a circle with too few rows grows by. */
const GROWTH = 3
/** Circles with more than one of so many points are not worth while. */
const NEAR_PART = 8

/** Metres of a degree. */
const DEGREE = 111_195

/**
 * Of a key that rises with the distance of a column of points from a place: all rows within some distance, so many of them at
 * least, found by the grid of the points. Null for other keys, and where most points are as near.
 */
export function nearestRows(key: SortKey, batch: Batch, count: number): Uint32Array | null {
  if (key.descending) return null
  const { expression, input } = deferredSource(key.expression, batch)
  const call = columnCall(expression)
  const distances = call?.called.distances?.(call.constants) ?? null
  const vector = call === null || distances === null ? undefined : input.get(call.variable)
  if (call === null || distances === null || vector?.type !== 'ids') return null
  // Without a value they would be the first.
  if (!key.isAbsentHighest && !hasWholeValues(vector)) return null
  const { domain, ids } = vector
  const part = domain instanceof ColumnDomain ? onlyPartOf(domain) : null
  const distanceOf = part?.kind === 'point' ? call.called.overPoints?.(call.constants) : null
  if (!(domain instanceof ColumnDomain) || part?.kind !== 'point' || distanceOf == null) return null
  const { longitudes, latitudes, first } = part
  const grid = domain.column.gridOf(part)
  const max = part.count / NEAR_PART
  const radius = radiusOf(grid, (PLENTY * count) / batch.size)
  for (let distance = radius / distances.unit; ; distance *= GROWTH) {
    const isNear = scratchUint8(domain.size + 1).fill(0)
    let near = 0
    for (const box of distances.boxesWithin(distance))
      forEachNear(grid, box, place => {
        if (distanceOf(longitudes[place] as number, latitudes[place] as number) > distance) return
        isNear[first + place] = 1
        near += 1
      })
    if (near > max) return null
    const rows = rowsMarked(ids, isNear, 1, allRows(batch.size))
    if (rows.length >= count) return rows
  }
}

/** Metres of the radius of a circle with a part of the area of a grid. */
function radiusOf({ box }: PointGrid, part: number): number {
  const area = Math.max(1e-6, (box.east - box.west) * (box.north - box.south))
  return DEGREE * Math.sqrt((area * Math.min(1, part)) / Math.PI)
}
