import { rectangle } from './hull.ts'
import type { Geometry, GeoPoint } from './value.ts'

/** Mean radius of Earth in metres (IUGG, R1): all distances are computed on a sphere. */
export const EARTH_RADIUS = 6_371_008.8
const CORNERS = 64

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
 * @param metres the radius; beyond half the circumference of Earth the result is the whole map
 */
export function circle({ lon, lat }: GeoPoint, metres: number): Geometry {
  const angle = metres / EARTH_RADIUS
  const [phi, lambda] = [radians(lat), radians(lon)]
  const isPolar = Math.abs(phi) + angle >= Math.PI / 2
  // The shape of a circle around a pole on a flat map: all longitudes.
  if (isPolar)
    return rectangle(-180, Math.max(-90, lat - degrees(angle)), 180, Math.min(90, lat + degrees(angle)))
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
}
