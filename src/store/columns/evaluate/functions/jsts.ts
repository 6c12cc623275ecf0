import ConvexHull from 'jsts/org/locationtech/jts/algorithm/ConvexHull.js'
import PointInAreaLocator from 'jsts/org/locationtech/jts/algorithm/locate/IndexedPointInAreaLocator.js'
import Coordinate from 'jsts/org/locationtech/jts/geom/Coordinate.js'
import WKTWriter from 'jsts/org/locationtech/jts/io/WKTWriter.js'
import BoundaryOp from 'jsts/org/locationtech/jts/operation/BoundaryOp.js'
import DistanceOp from 'jsts/org/locationtech/jts/operation/distance/DistanceOp.js'
import OverlayOp from 'jsts/org/locationtech/jts/operation/overlay/OverlayOp.js'
import RelateOp from 'jsts/org/locationtech/jts/operation/relate/RelateOp.js'
import { distanceFrom } from '../../../../model/great-circle.ts'
import { lookup } from '../../../../model/lookup.ts'
import { type GridBox, touch } from '../../grid.ts'
import type { BoxTest } from './extension-function.ts'
import { boxOf, FACTORY, type PlaneShape, readWkt, shapeLines } from './jsts-shapes.ts'
import { apartOnSphere } from './sphere-distance.ts'

/** Geometry on the plane of longitudes and latitudes, by JSTS, whose geometries `jsts-shapes.ts` makes. */

type Matrix = ReturnType<typeof relate>

/** Relations of simple features (OGC 06-103r4, section 6.1.15), by the matrix of two geometries and their dimensions. */
const RELATIONS = {
  equals: (matrix: Matrix, first: number, second: number) => matrix.isEquals(first, second),
  disjoint: (matrix: Matrix) => matrix.isDisjoint(),
  intersects: (matrix: Matrix) => matrix.isIntersects(),
  touches: (matrix: Matrix, first: number, second: number) => matrix.isTouches(first, second),
  crosses: (matrix: Matrix, first: number, second: number) => matrix.isCrosses(first, second),
  within: (matrix: Matrix) => matrix.isWithin(),
  contains: (matrix: Matrix) => matrix.isContains(),
  overlaps: (matrix: Matrix, first: number, second: number) => matrix.isOverlaps(first, second),
} as const

export type Relation = keyof typeof RELATIONS

/** Whether two geometries have a relation; null where one is invalid. */
export function relatedShapes(left: string, right: string, relation: Relation): boolean | null {
  const [a, b] = [readWkt(left), readWkt(right)]
  if (a === null || b === null) return null
  if (a.isEmpty() || b.isEmpty())
    return relation === 'disjoint' || (relation === 'equals' && a.isEmpty() && b.isEmpty())
  const known = relationByBox(extent(a).box, extent(b), relation)
  if (known !== null) return known
  try {
    return RELATIONS[relation](relate(a, b), a.getDimension(), b.getDimension())
  } catch {
    // A collection, or a self-intersecting shape for which the result is undefined.
    return relatedParts(a, b, relation)
  }
}

/** The relation of a shape to another as far as its box decides it: all where it is apart, or inside a rectangle. */
function relationByBox(inner: GridBox, { box, isRectangle }: Extent, relation: Relation): boolean | null {
  if (!touch(inner, box)) return relation === 'disjoint'
  const isInside =
    inner.west > box.west && inner.east < box.east && inner.south > box.south && inner.north < box.north
  return isRectangle && isInside ? relation === 'intersects' || relation === 'within' : null
}

/** What the boxes of shapes decide of their relation to a geometry; null where that is empty or invalid. */
export function boxRelation(wkt: string, relation: Relation): BoxTest | null {
  const other = extentOf(wkt)
  return other && (box => relationByBox(box, other, relation))
}

function relate(a: PlaneShape, b: PlaneShape) {
  return RelateOp.relate(a as never, b as never)
}

/** Collections are related part by part, where the relation can be determined in that way. */
function relatedParts(a: PlaneShape, b: PlaneShape, relation: Relation): boolean | null {
  const parts = (geometry: PlaneShape): readonly PlaneShape[] =>
    Array.from({ length: geometry.getNumGeometries() }, (_, at) => geometry.getGeometryN(at))
  const [left, right] = [parts(a), parts(b)]
  if (left.length <= 1 && right.length <= 1) return null
  const touches = () => left.some(one => right.some(other => !isDisjoint(one, other)))
  switch (relation) {
    case 'intersects':
      return touches()
    case 'disjoint':
      return !touches()
    case 'within':
      return left.every(one => right.some(other => contains(other, one)))
    case 'contains':
      return right.every(other => left.some(one => contains(one, other)))
    default:
      return null
  }
}

function isDisjoint(a: PlaneShape, b: PlaneShape): boolean {
  try {
    return relate(a, b).isDisjoint()
  } catch {
    return true
  }
}

function contains(a: PlaneShape, b: PlaneShape): boolean {
  try {
    return relate(a, b).isContains()
  } catch {
    return false
  }
}

type Place = 'inside' | 'boundary' | 'outside'

/** Returns the position of points relative to an area; null for a geometry that is not an area. */
export function locatorOf(wkt: string): ((longitude: number, latitude: number) => Place) | null {
  const geometry = readWkt(wkt)
  if (geometry === null || geometry.getDimension() !== 2) return null
  const type = geometry.getGeometryType()
  if (type !== 'Polygon' && type !== 'MultiPolygon') return null
  const box = geometry.getEnvelopeInternal()
  const [west, east, south, north] = [box.getMinX(), box.getMaxX(), box.getMinY(), box.getMaxY()]
  const isRectangle = geometry.isRectangle()
  const locator = isRectangle ? null : new PointInAreaLocator(geometry as never)
  return (longitude, latitude) => {
    if (longitude < west || longitude > east || latitude < south || latitude > north) return 'outside'
    if (locator === null)
      return longitude > west && longitude < east && latitude > south && latitude < north
        ? 'inside'
        : 'boundary'
    // Locations of JTS: 0 interior, 1 boundary, 2 exterior.
    const location = locator.locate(new Coordinate(longitude, latitude)) as number
    return location === 0 ? 'inside' : location === 1 ? 'boundary' : 'outside'
  }
}

/** The bounding box of a geometry. */
interface Extent {
  readonly box: GridBox
  readonly isArea: boolean
  readonly isRectangle: boolean
}

/** The extent of a geometry; null where it is empty or invalid. */
export function extentOf(wkt: string): Extent | null {
  const geometry = readWkt(wkt)
  return geometry === null || geometry.isEmpty() ? null : extent(geometry)
}

function extent(geometry: PlaneShape): Extent {
  const isArea = geometry.getDimension() === 2
  return {
    box: boxOf(geometry),
    isArea,
    isRectangle: isArea && geometry.isRectangle(),
  }
}

/** The smallest distance of two geometries on the sphere, in metres, 0 where they meet; null where one is empty or invalid. */
export function distanceBetween(left: string, right: string): number | null {
  const [a, b] = [readWkt(left), readWkt(right)]
  if (a === null || b === null || a.isEmpty() || b.isEmpty()) return null
  const [first, second] = new DistanceOp(a as never, b as never).nearestPoints() as readonly {
    readonly x: number
    readonly y: number
  }[]
  if (first === undefined || second === undefined) return null
  // The nearest on the plane need not be the nearest on the sphere, but bound their distance.
  const bound = distanceFrom(first.x, first.y)(second.x, second.y)
  return bound === 0 ? 0 : apartOnSphere(shapeLines(a), shapeLines(b), bound)
}

/** A geometry computed from one or two others, as WKT; null where it cannot be computed. */
export function combined(
  left: string,
  right: string | null,
  how: 'intersection' | 'union' | 'difference' | 'symDifference' | 'envelope' | 'convexHull' | 'boundary',
): string | null {
  const a = readWkt(left)
  const b = right === null ? null : readWkt(right)
  if (a === null || (right !== null && b === null)) return null
  try {
    const result = b === null ? single(a, how) : overlay(a, b, how)
    return result === null ? null : (new WKTWriter(FACTORY).write(result as never) as string)
  } catch {
    return null
  }
}

function single(a: PlaneShape, how: string): PlaneShape | null {
  switch (how) {
    case 'envelope':
      return a.getEnvelope()
    case 'convexHull':
      return new ConvexHull(a as never).getConvexHull() as unknown as PlaneShape
    case 'boundary':
      return withoutRing(BoundaryOp.getBoundary(a as never) as unknown as PlaneShape)
    default:
      return null
  }
}

/** A ring as the closed line string that it is: simple features have no WKT of rings. */
function withoutRing(geometry: PlaneShape): PlaneShape {
  return geometry.getGeometryType() === 'LinearRing'
    ? (FACTORY.createLineString(geometry.getCoordinates() as never) as unknown as PlaneShape)
    : geometry
}

function overlay(a: PlaneShape, b: PlaneShape, how: string): PlaneShape | null {
  const codes: Readonly<Record<string, number>> = {
    intersection: OverlayOp.INTERSECTION,
    union: OverlayOp.UNION,
    difference: OverlayOp.DIFFERENCE,
    symDifference: OverlayOp.SYMDIFFERENCE,
  }
  const code = lookup(codes, how)
  return code === undefined
    ? null
    : (OverlayOp.overlayOp(a as never, b as never, code) as unknown as PlaneShape)
}
