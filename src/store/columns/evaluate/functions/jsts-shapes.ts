import Coordinate from 'jsts/org/locationtech/jts/geom/Coordinate.js'
import GeometryFactory from 'jsts/org/locationtech/jts/geom/GeometryFactory.js'
import { LRUCache } from 'lru-cache'
import { parseWkt, type WktGeometry } from '../../../../model/wkt.ts'
import type { GridBox } from '../../grid.ts'
import type { ShapeLine } from './sphere-distance.ts'

/** The used members of a JSTS geometry, most of which its own types lack. */
export interface PlaneShape {
  getDimension(): number
  getGeometryType(): string
  getNumGeometries(): number
  getGeometryN(at: number): PlaneShape
  getEnvelopeInternal(): Box
  getEnvelope(): PlaneShape
  getCoordinates(): readonly Coordinate[]
  getExteriorRing(): PlaneShape
  getNumInteriorRing(): number
  getInteriorRingN(at: number): PlaneShape
  isRectangle(): boolean
  isEmpty(): boolean
}

interface Box {
  getMinX(): number
  getMaxX(): number
  getMinY(): number
  getMaxY(): number
}

export const FACTORY = new GeometryFactory()

/** Maximum number of characters of WKT that is parsed: geometries are untrusted. */
const MAX_WKT = 2 ** 24

/** Recently parsed geometries: one of the two operands is often a constant. All together have a maximum of characters. */
const KNOWN = new LRUCache<string, { readonly geometry: PlaneShape | null }>({
  max: 64,
  maxSize: 2 ** 22,
  sizeCalculation: (_, wkt) => wkt.length + 1,
})

/** The geometry of a text, empty where the text is (GeoSPARQL, requirement wkt-literal-empty); null where it is invalid. */
export function readWkt(wkt: string): PlaneShape | null {
  const known = KNOWN.get(wkt)
  if (known !== undefined) return known.geometry
  let geometry: PlaneShape | null = null
  try {
    const read = wkt.length <= MAX_WKT ? parseWkt(wkt.trim() === '' ? NOTHING : wkt) : undefined
    geometry = read === undefined ? null : shapeOf(read)
  } catch {
    // What JSTS refuses, such as a ring that is not closed, is no geometry.
  }
  KNOWN.set(wkt, { geometry })
  return geometry
}

/** The box around a geometry, which is not empty. */
export function boxOf(geometry: PlaneShape): GridBox {
  const box = geometry.getEnvelopeInternal()
  return { west: box.getMinX(), south: box.getMinY(), east: box.getMaxX(), north: box.getMaxY() }
}

/** Points, lines and rings of shapes that are known. */
const LINES = new WeakMap<PlaneShape, readonly ShapeLine[]>()

/** The points, lines and rings of a geometry. */
export function shapeLines(geometry: PlaneShape): readonly ShapeLine[] {
  const known = LINES.get(geometry)
  if (known !== undefined) return known
  const lines = partsOf(geometry).map(part => ({
    positions: part.getCoordinates().flatMap(({ x, y }) => [x, y]),
    box: boxOf(part),
  }))
  LINES.set(geometry, lines)
  return lines
}

function partsOf(geometry: PlaneShape): readonly PlaneShape[] {
  if (geometry.isEmpty()) return []
  const several = (count: number, part: (at: number) => PlaneShape) =>
    Array.from({ length: count }, (_, at) => part(at))
  switch (geometry.getGeometryType()) {
    case 'Point':
    case 'LineString':
      return [geometry]
    case 'Polygon':
      return [
        geometry.getExteriorRing(),
        ...several(geometry.getNumInteriorRing(), at => geometry.getInteriorRingN(at)),
      ]
    default:
      return several(geometry.getNumGeometries(), at => geometry.getGeometryN(at)).flatMap(partsOf)
  }
}

const NOTHING = 'GEOMETRYCOLLECTION EMPTY'

function shapeOf(geometry: WktGeometry): PlaneShape {
  const made =
    'geometries' in geometry
      ? FACTORY.createGeometryCollection(geometry.geometries.map(shapeOf) as never)
      : positioned(geometry.type, geometry.coordinates)
  return made as unknown as PlaneShape
}

/** @throws Error where the lists of positions lie deeper, or less deep, than those of the type */
function positioned(type: string, coordinates: readonly unknown[]) {
  switch (type) {
    case 'Point':
      return point(coordinates)
    case 'MultiPoint':
      return FACTORY.createMultiPoint(listOf(coordinates, point) as never)
    case 'LineString':
      return line(coordinates)
    case 'MultiLineString':
      return FACTORY.createMultiLineString(listOf(coordinates, line) as never)
    case 'Polygon':
      return area(coordinates)
    default:
      return FACTORY.createMultiPolygon(listOf(coordinates, area) as never)
  }
}

function point(value: unknown) {
  const isEmpty = (value as readonly unknown[]).length === 0
  return isEmpty ? FACTORY.createPoint() : FACTORY.createPoint(position(value) as never)
}

function line(value: unknown) {
  return FACTORY.createLineString(listOf(value, position) as never)
}

function area(value: unknown) {
  const [shell, ...holes] = listOf(value, ring => FACTORY.createLinearRing(listOf(ring, position) as never))
  return shell === undefined ? FACTORY.createPolygon() : FACTORY.createPolygon(shell as never, holes as never)
}

function position(value: unknown): Coordinate {
  const [longitude, latitude] = value as readonly unknown[]
  if (typeof longitude !== 'number' || typeof latitude !== 'number') throw MISPLACED
  return new Coordinate(longitude, latitude)
}

function listOf<Item>(value: unknown, item: (value: unknown) => Item): readonly Item[] {
  if (!Array.isArray(value)) throw MISPLACED
  return value.map(item)
}

/** Thrown within this module only. */
const MISPLACED = new Error('Positions lie deeper, or less deep, than those of the type.')
