import type { Argument, Call } from '../../language/odsql/ast.ts'
import { LENGTH_UNITS } from '../../language/odsql/vocabulary.ts'
import { rectangleRing, toGeoShape } from '../../model/geometry.ts'
import { lookup } from '../../model/lookup.ts'
import type { Geometry, GeoPoint } from '../../model/value.ts'
import type { FieldNames } from './context.ts'

/** The geometry of a literal: WKT, WKB in hexadecimal digits or GeoJSON (ODSQL 1.3, 1.5). */
export function geometryLiteral(call: Call, node: Argument | undefined, names: FieldNames): Geometry {
  if (node?.type !== 'geometry') throw names.unfit(call, node, "a geometry such as geom'POINT(2.35 48.85)'")
  const text = node.text.trim()
  const geometry = toGeoShape(text)
  if (geometry !== undefined && geometry !== null) {
    const flaw = geometryFlaw(geometry)
    if (flaw !== null) throw names.fault(flaw.reason, node.span, flaw.hint)
    return geometry
  }
  throw names.fault(
    `${JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)} is not a geometry`,
    node.span,
    'write WKT with longitude before latitude, WKB in hexadecimal digits, or GeoJSON; a ring ends where it begins',
  )
}

/** Maximum number of corners of all rings of a literal: the store compares each record with each corner. */
const MAX_CORNERS = 2000

/** Why a geometry cannot be compared with records: it has very many corners, or edges that cross, so that its interior is undefined. */
export function geometryFlaw(
  geometry: Geometry,
): { readonly reason: string; readonly hint: string | undefined } | null {
  const rings = ringsOf(geometry)
  const corners = rings.reduce((sum, ring) => sum + ring.length, 0)
  if (corners > MAX_CORNERS)
    return { reason: `a polygon of ${corners} corners is too large`, hint: `at most ${MAX_CORNERS}` }
  if (rings.some(isTangled)) return { reason: 'the polygon is invalid: its edges cross', hint: undefined }
  return null
}

type Ring = readonly (readonly number[])[]

function ringsOf(geometry: Geometry): readonly Ring[] {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.flatMap(ringsOf)
  if (geometry.type === 'Polygon') return geometry.coordinates as readonly Ring[]
  return geometry.type === 'MultiPolygon' ? (geometry.coordinates as readonly (readonly Ring[])[]).flat() : []
}

/** True where two edges of a ring cross, each strictly from one side of the other to the other side. */
function isTangled(ring: Ring): boolean {
  const [xs, ys] = [ring.map(([x = 0]) => x), ring.map(([, y = 0]) => y)]
  const x = (at: number) => xs[at] ?? 0
  const y = (at: number) => ys[at] ?? 0
  const side = (a: number, b: number, c: number) =>
    Math.sign((x(b) - x(a)) * (y(c) - y(a)) - (y(b) - y(a)) * (x(c) - x(a)))
  for (let a = 0; a + 1 < ring.length; a++)
    for (let c = a + 2; c + 1 < ring.length; c++)
      if (side(a, a + 1, c) * side(a, a + 1, c + 1) < 0 && side(c, c + 1, a) * side(c, c + 1, a + 1) < 0)
        return true
  return false
}

/**
 * A polygon that leaves the map at the meridian of 180 degrees, with its copies on the other side: records there have the
 * longitudes of that side. Any other geometry unchanged, and a polygon around the Earth.
 */
export function acrossMeridian(geometry: Geometry): Geometry {
  if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') return geometry
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  const longitudes = ringsOf(geometry).flatMap(ring => ring.map(([x = 0]) => x))
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)]
  if ((west >= -180 && east <= 180) || east - west >= 360) return geometry
  const turns = [0, ...(east > 180 ? [-360] : []), ...(west < -180 ? [360] : [])]
  const turned = (degrees: number) =>
    (polygons as readonly (readonly Ring[])[]).map(rings =>
      rings.map(ring => ring.map(([x = 0, ...rest]) => [x + degrees, ...rest])),
    )
  return { type: 'MultiPolygon', coordinates: turns.flatMap(turned) }
}

/** The position of a point literal. */
export function pointLiteral(call: Call, node: Argument | undefined, names: FieldNames): GeoPoint {
  const geometry = geometryLiteral(call, node, names)
  const [lon, lat] = geometry.type === 'Point' ? (geometry.coordinates as readonly number[]) : []
  if (lon === undefined || lat === undefined)
    throw names.conversionError(call, `a ${geometry.type}`, 'a POINT', node?.span ?? call.span)
  return { lon, lat }
}

/** Metres of a distance such as `10km`; a bare number is in metres. */
export function metres(call: Call, node: Argument | undefined, names: FieldNames): number {
  if (node?.type === 'number') return node.value
  if (node?.type === 'quantity') {
    const unit = node.unit.toLowerCase()
    const factor = lookup(LENGTH_UNITS, unit)
    if (factor !== undefined) return node.value * factor
    const expected = `a length in ${Object.keys(LENGTH_UNITS).join(', ')}`
    throw names.conversionError(call, `the unit ${node.unit.slice(0, 30)}`, expected, node.span)
  }
  throw names.unfit(call, node, 'a distance such as 10km')
}

/** The rectangle between two corners, in any order of latitude; across the antimeridian, two rectangles. */
export function boxShape(a: GeoPoint, b: GeoPoint): Geometry {
  const [south, north] = [Math.min(a.lat, b.lat), Math.max(a.lat, b.lat)]
  const ring = (west: number, east: number) => rectangleRing(west, south, east, north)
  if (a.lon <= b.lon) return { type: 'Polygon', coordinates: [ring(a.lon, b.lon)] }
  return { type: 'MultiPolygon', coordinates: [[ring(a.lon, 180)], [ring(-180, b.lon)]] }
}
