import { type Position, rectangleRing } from './geometry.ts'
import type { Geometry, GeoPoint } from './value.ts'

/** Mean radius of Earth in metres (IUGG, R1): all distances are computed on a sphere. */
export const EARTH_RADIUS = 6_371_008.8
const CORNERS = 64
/** Corners of a circle around a pole, whose edge is straight on no map of degrees. */
const POLAR_CORNERS = 256

export const radians = (value: number): number => (value * Math.PI) / 180
export const degrees = (value: number): number => (value * 180) / Math.PI

/** Great-circle distances from a point in metres, by the haversine formula. */
export function distanceFrom(
  longitude: number,
  latitude: number,
): (longitude: number, latitude: number) => number {
  const lambda = radians(longitude)
  const phi = radians(latitude)
  const cosine = Math.cos(phi)
  return (otherLongitude, otherLatitude) => {
    const otherPhi = radians(otherLatitude)
    const x = Math.sin((radians(otherLongitude) - lambda) / 2)
    const y = Math.sin((otherPhi - phi) / 2)
    const a = y * y + cosine * Math.cos(otherPhi) * x * x
    return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(a)))
  }
}

/**
 * The circle around a point as a polygon, for fields of shapes, whose distances queries do not compute. Its corners are on the
 * spherical circle, so that it is at most 0.12 % too small.
 *
 * @param metres the radius; around both poles the result is the whole map
 */
export function circle({ lon, lat }: GeoPoint, metres: number): Geometry {
  const angle = metres / EARTH_RADIUS
  const [phi, lambda] = [radians(lat), radians(lon)]
  const isPolar = Math.abs(phi) + angle >= Math.PI / 2
  if (isPolar) return angle - Math.abs(phi) >= Math.PI / 2 ? rectangle(-180, -90, 180, 90) : polarCircle()
  const ring = Array.from({ length: CORNERS }, (_, corner) => {
    const bearing = (2 * Math.PI * corner) / CORNERS
    const sine = Math.sin(phi) * Math.cos(angle) + Math.cos(phi) * Math.sin(angle) * Math.cos(bearing)
    const east = Math.atan2(
      Math.sin(bearing) * Math.sin(angle) * Math.cos(phi),
      Math.cos(angle) - Math.sin(phi) * sine,
    )
    return [degrees(lambda + east), degrees(Math.asin(sine))]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0] as number[]]] }

  /** The circle around one pole on a flat map: all longitudes, from its latitude at each of them to the pole. */
  function polarCircle(): Geometry {
    const pole = lat < 0 ? -90 : 90
    const edge = Array.from({ length: POLAR_CORNERS + 1 }, (_, corner) => {
      const longitude = (360 * corner) / POLAR_CORNERS - 180
      const [sine, cosine] = [Math.sin(phi), Math.cos(phi) * Math.cos(radians(longitude) - lambda)]
      const reach = Math.acos(Math.max(-1, Math.min(1, Math.cos(angle) / Math.hypot(sine, cosine))))
      return [longitude, degrees(Math.atan2(sine, cosine) - Math.sign(pole) * reach)]
    })
    return { type: 'Polygon', coordinates: [[[-180, pole], ...edge, [180, pole], [-180, pole]]] }
  }
}

/** The smallest convex polygon around positions (Andrew's monotone chain); a point or a line for few positions. */
export function convexHull(points: readonly Position[]): Geometry | null {
  const sorted = [...points]
    .sort((a, b) => a[0] - b[0] || a[1] - b[1])
    .filter((point, at, all) => at === 0 || !isSamePosition(point, all[at - 1] as Position))
  const [first] = sorted
  if (first === undefined) return null
  if (sorted.length === 1) return { type: 'Point', coordinates: [...first] }
  const lower = half(sorted)
  const upper = half([...sorted].reverse())
  const ring = [...lower.slice(0, -1), ...upper.slice(0, -1)]
  if (ring.length < 3) return { type: 'LineString', coordinates: ring.map(point => [...point]) }
  return { type: 'Polygon', coordinates: [[...ring, ring[0] as Position].map(point => [...point])] }
}

function isSamePosition(left: Position, right: Position): boolean {
  return left.length === right.length && left.every((number, at) => number === right[at])
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

/** A rectangle between two longitudes and two latitudes. */
export function rectangle(west: number, south: number, east: number, north: number): Geometry {
  return { type: 'Polygon', coordinates: [rectangleRing(west, south, east, north)] }
}
