import type { Position } from './geometry.ts'
import type { Geometry } from './value.ts'

/** The smallest convex polygon around positions (Andrew's monotone chain); a point or a line for few positions. */
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

/** The rectangle around positions; null for none. */
export function boundingBox(points: readonly Position[]): Geometry | null {
  if (points.length === 0) return null
  let [west, south, east, north] = [180, 90, -180, -90]
  for (const [lon, lat] of points) {
    west = Math.min(west, lon)
    east = Math.max(east, lon)
    south = Math.min(south, lat)
    north = Math.max(north, lat)
  }
  return rectangle(west, south, east, north)
}

/** A rectangle between two longitudes and two latitudes. */
export function rectangle(west: number, south: number, east: number, north: number): Geometry {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}
