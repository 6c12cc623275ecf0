import type { Geometry } from '../../model/value.ts'

type Corner = readonly [lon: number, lat: number]
type Ring = readonly Corner[]
/** Polygons, each its outer ring before its holes. */
export type Area = readonly (readonly Ring[])[]

/** Which coordinate of a corner a cut goes by: 0 for longitude, 1 for latitude. */
export type Axis = 0 | 1

/** An area as a tree of parts: below and above a longitude or latitude, down to pieces of few corners. */
export type Parts =
  | { readonly type: 'piece'; readonly shape: Geometry | null }
  | {
      readonly type: 'cut'
      readonly axis: Axis
      readonly at: number
      readonly below: Parts
      readonly above: Parts
    }

/** Corners of a piece: the store compares a point with it in some microseconds. */
const FEW_CORNERS = 16
/** Cuts are a little beside a corner, where hardly a position of the data lies. */
const BESIDE = 1.234_567_891e-10

/** The area of a geometry that is nothing but polygons; null for any other. */
export function areaOf(shape: Geometry): Area | null {
  if (shape.type === 'Polygon') return [shape.coordinates as unknown as readonly Ring[]]
  return shape.type === 'MultiPolygon' ? (shape.coordinates as unknown as Area) : null
}

/**
 * Cuts an area into parts, so that a point is compared with few of its corners: the store reads every corner of a shape
 * for each point that it tries. Only for points: a line or a polygon may lie in several parts.
 */
export function partsOf(area: Area, depth = 0): Parts {
  const corners = cornersOf(area)
  if (corners <= FEW_CORNERS || depth >= DEEPEST) return piece(area)
  const [cut, other] = ([0, 1] as const).map(axis => halves(area, axis)).sort((a, b) => a.worst - b.worst)
  if (cut === undefined || other === undefined || cut.worst > corners * WORTHWHILE) return piece(area)
  const { axis, at, below, above } = cut
  return { type: 'cut', axis, at, below: partsOf(below, depth + 1), above: partsOf(above, depth + 1) }
}

const DEEPEST = 12
/** A cut is made where the larger part has so much less of the corners. */
const WORTHWHILE = 0.85

/** The two parts of an area at the middle of its corners. */
function halves(area: Area, axis: Axis) {
  const places = area
    .flatMap(rings => rings.flatMap(ring => ring.map(corner => corner[axis])))
    .sort((a, b) => a - b)
  const at = (places[places.length >> 1] ?? 0) + BESIDE
  const [below, above] = [clipped(area, axis, at, 'below'), clipped(area, axis, at, 'above')]
  return { axis, at, below, above, worst: Math.max(cornersOf(below), cornersOf(above)) }
}

function cornersOf(area: Area): number {
  return area.reduce((sum, rings) => sum + rings.reduce((all, ring) => all + ring.length, 0), 0)
}

function piece(area: Area): Parts {
  const [only, ...others] = area
  if (only === undefined) return { type: 'piece', shape: null }
  const shape: Geometry =
    others.length === 0
      ? { type: 'Polygon', coordinates: only as never }
      : { type: 'MultiPolygon', coordinates: area as never }
  return { type: 'piece', shape }
}

type Side = 'below' | 'above'

/** What of an area lies on one side of a cut (Sutherland and Hodgman). */
function clipped(area: Area, axis: Axis, at: number, side: Side): Area {
  return area.flatMap(rings => {
    const [outer, ...holes] = rings.map(ring => clippedRing(ring, axis, at, side))
    if (outer === null || outer === undefined) return []
    return [[outer, ...holes.filter(ring => ring !== null)]]
  })
}

function clippedRing(ring: Ring, axis: Axis, at: number, side: Side): Ring | null {
  const isKept = (corner: Corner) => (side === 'below' ? corner[axis] <= at : corner[axis] >= at)
  const kept: Corner[] = []
  for (let index = 0; index + 1 < ring.length; index++) {
    const [from, to] = [ring[index] as Corner, ring[index + 1] as Corner]
    if (isKept(from)) kept.push(from)
    if (isKept(from) !== isKept(to)) {
      const part = (at - from[axis]) / (to[axis] - from[axis])
      kept.push(
        axis === 0 ? [at, from[1] + (to[1] - from[1]) * part] : [from[0] + (to[0] - from[0]) * part, at],
      )
    }
  }
  const [first] = kept
  return first === undefined || kept.length < 3 ? null : [...kept, first]
}
