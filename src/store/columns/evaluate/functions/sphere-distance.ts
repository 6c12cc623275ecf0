import { degrees, distanceFrom, EARTH_RADIUS, radians } from '../../../../model/great-circle.ts'
import type { GridBox } from '../../grid.ts'

/** A point, a line or a ring: longitudes and latitudes in turn, and the box around them. */
export interface ShapeLine {
  readonly positions: readonly number[]
  readonly box: GridBox
}

/** The smallest distance between shapes that do not meet, in metres, which a known one bounds: from the corners of each to the edges of the other. */
export function apartOnSphere(a: readonly ShapeLine[], b: readonly ShapeLine[], bound: number): number {
  // An edge reaches from corner to corner: those of b have been compared with the points of a.
  const edged = a.filter(({ positions }) => positions.length > 2)
  return edged.length === 0 ? fromCorners(a, b, bound) : fromCorners(b, edged, fromCorners(a, b, bound))
}

function fromCorners(corners: readonly ShapeLine[], lines: readonly ShapeLine[], bound: number): number {
  let least = bound
  for (const { positions } of corners)
    for (let at = 0; at < positions.length; at += 2)
      least = fromCorner(positions[at] as number, positions[at + 1] as number, lines, least)
  return least
}

function fromCorner(longitude: number, latitude: number, lines: readonly ShapeLine[], bound: number): number {
  const metres = distanceFrom(longitude, latitude)
  let least = bound
  let { height, width } = reachOf(latitude, least)
  const isApart = (west: number, south: number, east: number, north: number) => {
    if (Math.min(south, north) - latitude > height || latitude - Math.max(south, north) > height) return true
    const x = shorterWay(west - longitude)
    const end = x + east - west
    const isBeside = x * end > 0 && Math.min(Math.abs(x), Math.abs(end)) > width
    return isBeside && Math.max(Math.abs(x), Math.abs(end)) < 360 - width
  }
  for (const { positions, box } of lines) {
    if (isApart(box.west, box.south, box.east, box.north)) continue
    // A point is an edge from itself to itself.
    const last = Math.max(positions.length - 4, 0)
    for (let at = 0; at <= last; at += 2) {
      const next = positions.length < 4 ? at : at + 2
      const [west, south] = [positions[at] as number, positions[at + 1] as number]
      const [east, north] = [positions[next] as number, positions[next + 1] as number]
      if (isApart(west, south, east, north)) continue
      const x = shorterWay(west - longitude)
      const part = nearestPart(latitude, x, south - latitude, x + east - west, north - latitude)
      const distance = metres(west + part * (east - west), south + part * (north - south))
      if (distance >= least) continue
      least = distance
      ;({ height, width } = reachOf(latitude, least))
    }
  }
  return least
}

/** Degrees of longitude by the shorter way around. */
function shorterWay(degreesEast: number): number {
  return degreesEast - 360 * Math.round(degreesEast / 360)
}

/**
 * How far along an edge its position nearest to the origin lies, from 0 to 1. Degrees of longitude are as long as they are halfway between
 * the two, which is where they are found in the step before.
 */
function nearestPart(latitude: number, x: number, y: number, endX: number, endY: number): number {
  const height = endY - y
  let part = 0
  let between = latitude
  for (let step = 0; step < 3; step++) {
    const scale = Math.cos(radians(between))
    const [start, width] = [x * scale, (endX - x) * scale]
    const square = width * width + height * height
    if (square === 0) return 0
    part = Math.max(0, Math.min(1, -(start * width + y * height) / square))
    between = latitude + (y + part * height) / 2
  }
  return part
}

/** Degrees that a circle extends to the north and to the east, or slightly more; a width of 360 is the whole parallel. */
export function reachOf(
  latitude: number,
  metres: number,
): { readonly height: number; readonly width: number } {
  const angle = metres / EARTH_RADIUS
  const height = degrees(angle) * 1.000001 + 1e-9
  const isPolar = Math.abs(latitude) + height >= 90
  const sine = isPolar ? 1 : Math.sin(angle) / Math.cos(radians(latitude))
  const width =
    isPolar || sine >= 1 || angle >= Math.PI / 2 ? 360 : degrees(Math.asin(sine)) * 1.000001 + 1e-9
  return { height, width }
}
