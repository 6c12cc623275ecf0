import { distanceFrom } from '../../../../model/great-circle.ts'
import { exchanged, parseWkt, withoutSystem } from '../../../../model/wkt.ts'
import { GEO, GEOF, LODESTONE, UOM } from '../../../../rdf/vocab.ts'
import { type GridBox, touch } from '../../grid.ts'
import { pointOf } from '../../lexical.ts'
import { double, literalOf, type TermValue, truth } from '../vectors/value.ts'
import type { ArgumentValue, ExtensionFunction } from './extension-function.ts'
import {
  boxRelation,
  combined,
  distanceBetween,
  extentOf,
  locatorOf,
  type Relation,
  relatedShapes,
} from './jsts.ts'
import { reachOf } from './sphere-distance.ts'

type Entry = readonly [string, ExtensionFunction]

/** Functions of GeoSPARQL 1.1 (section 9.4: simple features; section 9.2: constructions), and nearness. */
export const GEOMETRY_FUNCTIONS: readonly Entry[] = [
  relation(GEOF.sfEquals, 'equals'),
  relation(GEOF.sfDisjoint, 'disjoint'),
  relation(GEOF.sfIntersects, 'intersects'),
  relation(GEOF.sfTouches, 'touches'),
  relation(GEOF.sfCrosses, 'crosses'),
  relation(GEOF.sfWithin, 'within'),
  relation(GEOF.sfContains, 'contains'),
  relation(GEOF.sfOverlaps, 'overlaps'),
  ...(['intersection', 'union', 'difference', 'symDifference'] as const).map(
    (name): Entry => [GEOF[name], { apply: ([left, right]) => setOperation(left, right, name) }],
  ),
  ...(['envelope', 'convexHull', 'boundary'] as const).map(
    (name): Entry => [GEOF[name], { apply: ([value]) => setOperation(value, undefined, name) }],
  ),
  [
    GEOF.distance,
    {
      apply: ([left, right, unit]) => {
        const [a, b, factor] = [wktOf(left), wktOf(right), metresIn(unit)]
        if (a === null || b === null || factor === null) return null
        const metres = distanceBetween(a, b)
        return metres === null ? null : double(metres / factor)
      },
      overPoints: ([other, unit]) => {
        const point = positionOf(other)
        const factor = metresIn(unit)
        if (point === null || factor === null) return null
        const metres = distanceFrom(point[0], point[1])
        return factor === 1 ? metres : (longitude, latitude) => metres(longitude, latitude) / factor
      },
      distances: ([other, unit]) => {
        const point = positionOf(other)
        const metres = metresIn(unit)
        return point === null || metres === null
          ? null
          : { unit: metres, boxesWithin: distance => boxesAround(point[0], point[1], distance * metres) }
      },
    },
  ],
  [
    LODESTONE.longitude,
    {
      apply: ([value]) => coordinate(value, 0),
      overPoints: () => longitude => longitude,
      coordinate: 'longitudes',
    },
  ],
  [
    LODESTONE.latitude,
    {
      apply: ([value]) => coordinate(value, 1),
      overPoints: () => (_, latitude) => latitude,
      coordinate: 'latitudes',
    },
  ],
  [
    LODESTONE.near,
    {
      isTest: true,
      apply: ([value, place, metres]) => {
        const [a, b] = [wktOf(value), wktOf(place)]
        if (a === null || b === null || metres?.type !== 'number') return null
        const distance = distanceBetween(a, b)
        return distance === null ? null : truth(distance <= metres.value)
      },
      overPoints: constants => {
        const circle = circleOf(constants)
        return circle && withinDistanceTest(...circle)
      },
      testBoxes: constants => {
        const circle = circleOf(constants)
        return circle && boxesAround(...circle)
      },
      overBoxes: constants => {
        const circle = circleOf(constants)
        const near = circle && boxesAround(...circle)
        return near && (box => (near.some(each => touch(each, box)) ? null : false))
      },
    },
  ],
]

function relation(iri: string, name: Relation): Entry {
  return [
    iri,
    {
      isTest: true,
      apply: ([left, right]) => {
        const [a, b] = [wktOf(left), wktOf(right)]
        const holds = a === null || b === null ? null : relatedShapes(a, b, name)
        return holds === null ? null : truth(holds)
      },
      overPoints: ([other]) => {
        const wkt = wktOf(other)
        return wkt === null ? null : pointRelation(wkt, name)
      },
      testBoxes: ([other]) => {
        const wkt = wktOf(other)
        const extent = wkt === null || !ONLY_WITHIN.has(name) ? null : extentOf(wkt)
        return extent?.isArea === true ? [extent.box] : null
      },
      overBoxes: ([other]) => {
        const wkt = wktOf(other)
        return wkt === null ? null : boxRelation(wkt, name)
      },
    },
  ]
}

/** Relations that no point outside of an area's bounding box has to it. */
const ONLY_WITHIN: ReadonlySet<Relation> = new Set(['intersects', 'within', 'touches'])

/**
 * The relation of points to an area: inside, on its boundary or outside. Null if the other is not an area, or for other
 * relations.
 */
function pointRelation(
  wkt: string,
  name: Relation,
): ((longitude: number, latitude: number) => number) | null {
  const locate = locatorOf(wkt)
  if (locate === null) return null
  const [place, holds] = PLACES[name] ?? []
  if (place === undefined) return null
  return (longitude, latitude) => ((locate(longitude, latitude) === place) === holds ? 1 : 0)
}

/** Where a point must be, or must not be, to have a relation to an area. */
const PLACES: Readonly<
  Partial<Record<Relation, readonly [place: 'inside' | 'boundary' | 'outside', holds: boolean]>>
> = {
  intersects: ['outside', false],
  disjoint: ['outside', true],
  within: ['inside', true],
  touches: ['boundary', true],
}

/** A coordinate of a point; null for other geometries. */
function coordinate(value: ArgumentValue, axis: 0 | 1): TermValue | null {
  const point = positionOf(value)
  return point === null ? null : double(point[axis])
}

/** The point and the metres around it that are arguments; null for others. */
function circleOf([place, metres]: readonly TermValue[]): readonly [number, number, number] | null {
  const point = positionOf(place)
  return point === null || metres?.type !== 'number' ? null : [...point, metres.value]
}

/** Longitude and latitude of a point; null for other geometries. */
function positionOf(value: ArgumentValue): readonly [longitude: number, latitude: number] | null {
  const wkt = wktOf(value)
  if (wkt === null) return null
  const point = pointOf(wkt)
  if (point !== null) return point
  const read = parseWkt(wkt)
  const [longitude, latitude] = read?.type === 'Point' && 'coordinates' in read ? read.coordinates : []
  return typeof longitude === 'number' && typeof latitude === 'number' ? [longitude, latitude] : null
}

/** A geometry as WKT of longitudes and latitudes; null for another reference system, or an invalid geometry. */
function wktOf(value: ArgumentValue): string | null {
  if (value?.type !== 'other' || value.term.datatype !== GEO.wktLiteral) return null
  return withoutSystem(value.term.value)?.wkt ?? null
}

/** Metres of a unit. */
function metresIn(unit: ArgumentValue): number | null {
  if (unit?.type !== 'iri') return null
  switch (unit.value) {
    case UOM.metre:
    case 'http://qudt.org/vocab/unit/M':
      return 1
    case 'http://qudt.org/vocab/unit/KiloM':
      return 1000
    default:
      return null
  }
}

function setOperation(
  left: ArgumentValue,
  right: ArgumentValue,
  name: Parameters<typeof combined>[2],
): TermValue | null {
  const a = wktOf(left)
  const b = right === undefined ? null : wktOf(right)
  if (a === null || (right !== undefined && b === null)) return null
  const wkt = combined(a, b, name)
  if (wkt === null) return null
  // The result is in the reference system of the first geometry (GeoSPARQL 1.1, section 9.4).
  const system = left?.type === 'other' ? withoutSystem(left.term.value)?.latitudeFirst : null
  const text = system == null ? wkt : `<${system}> ${exchanged(wkt)}`
  return { type: 'other', term: literalOf(text, GEO.wktLiteral) }
}

/** A test of nearness that computes no distance for points outside of the circle's latitudes and longitudes. */
function withinDistanceTest(
  longitude: number,
  latitude: number,
  metres: number,
): (longitude: number, latitude: number) => number {
  const distance = distanceFrom(longitude, latitude)
  const { height, width } = reachOf(latitude, metres)
  return (otherLongitude, otherLatitude) => {
    if (Math.abs(otherLatitude - latitude) > height) return 0
    const apart = Math.abs(otherLongitude - longitude)
    if (Math.min(apart, 360 - apart) > width) return 0
    return distance(otherLongitude, otherLatitude) <= metres ? 1 : 0
  }
}

/** The box of a circle, and its copies shifted by 360 degrees to the west and to the east. */
function boxesAround(longitude: number, latitude: number, metres: number): readonly GridBox[] {
  const { height, width } = reachOf(latitude, metres)
  const [south, north] = [latitude - height, latitude + height]
  if (width >= 180) return [{ west: -Infinity, south, east: Infinity, north }]
  return [-360, 0, 360].map(turn => ({
    west: longitude + turn - width,
    south,
    east: longitude + turn + width,
    north,
  }))
}
