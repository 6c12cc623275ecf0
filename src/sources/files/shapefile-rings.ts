import type { Position } from '../../model/geometry.ts'
import type { RawGeometry } from '../reference-system.ts'

/** A ring with its area, negative if it is clockwise, and the range of its coordinates. */
interface Ring {
  readonly positions: readonly Position[]
  readonly size: number
  readonly box: readonly [xMin: number, yMin: number, xMax: number, yMax: number]
}

/** Clockwise rings are outer ones, the others are holes of the smallest outer ring that contains them. */
export function polygonsOf(rings: readonly (readonly Position[])[]): RawGeometry | null {
  const closed = rings.filter(ring => ring.length >= 4).map(measured)
  const outer = closed
    .filter(({ size }) => size <= 0)
    .map(ring => ({ ...ring, rings: [ring.positions.toReversed()] }))
  const holes = closed.filter(({ size }) => size > 0)
  // Some programs write all rings the other way round: a large one may then contain others.
  if (outer.length === 0) holes.sort((a, b) => b.size - a.size)
  const only = outer.length === 1 ? outer[0] : undefined
  const smallestFirst = outer.toSorted((a, b) => b.size - a.size)
  for (const hole of holes) {
    const home = only ?? smallestFirst.find(ring => contains(ring, hole.positions[0] as Position))
    if (home !== undefined) home.rings.push(hole.positions.toReversed())
    else {
      const own = { ...hole, rings: [[...hole.positions]] }
      outer.push(own)
      smallestFirst.unshift(own)
    }
  }
  const polygons = outer.map(({ rings }) => rings)
  if (polygons.length === 0) return null
  return polygons.length === 1
    ? { type: 'Polygon', coordinates: polygons[0] }
    : { type: 'MultiPolygon', coordinates: polygons }
}

function measured(positions: readonly Position[]): Ring {
  let [xMin, yMin, xMax, yMax] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x, y] of positions) {
    xMin = Math.min(xMin, x)
    yMin = Math.min(yMin, y)
    xMax = Math.max(xMax, x)
    yMax = Math.max(yMax, y)
  }
  return { positions, size: area(positions), box: [xMin, yMin, xMax, yMax] }
}

/** Twice the signed area of a ring, negative if it is clockwise. */
function area(ring: readonly Position[]): number {
  let sum = 0
  for (let i = 1; i < ring.length; i++) {
    const [[x1, y1], [x2, y2]] = [ring[i - 1] as Position, ring[i] as Position]
    sum += x1 * y2 - x2 * y1
  }
  return sum
}

function contains({ positions: ring, box }: Ring, [x, y]: Position): boolean {
  if (x < box[0] || y < box[1] || x > box[2] || y > box[3]) return false
  let isInside = false
  for (let i = 1; i < ring.length; i++) {
    const [[x1, y1], [x2, y2]] = [ring[i - 1] as Position, ring[i] as Position]
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) isInside = !isInside
  }
  return isInside
}
