import { type Position, positionsOf } from '../../model/geometry.ts'
import type { Geometry } from '../../model/value.ts'
import { GEOF, XSD } from '../../rdf/vocab.ts'
import type { Expression } from '../../sparql/algebra.ts'
import { apply, conditional, literal } from '../../sparql/build.ts'
import type { Condition, SpatialRelation } from '../plan.ts'
import { areaOf, type Parts, partsOf } from './parts.ts'
import { geometryTerm } from './scope.ts'

const TRUE = literal('true', XSD.boolean)
const FALSE = literal('false', XSD.boolean)

const RELATIONS: Readonly<Record<SpatialRelation, string>> = {
  intersects: GEOF.sfIntersects,
  disjoint: GEOF.sfDisjoint,
  within: GEOF.sfWithin,
}

/** Corners from which on a shape is compared only with what its box touches: each comparison reads them all. */
const MANY_CORNERS = 8

/** The test that a geometry relates to a shape (GeoSPARQL 1.1, simple features). */
export function spatialTest(
  { field, relation, shape }: Extract<Condition, { readonly type: 'spatial' }>,
  value: Expression,
): Expression {
  const positions = positionsOf(shape)
  const box = positions.length > MANY_CORNERS ? boxOf(positions) : null
  if (box === null) return apply(RELATIONS[relation], value, geometryTerm(shape))
  const area = field.type === 'geo_point_2d' ? areaOf(shape) : null
  const test =
    area === null
      ? apply(RELATIONS[relation], value, geometryTerm(shape))
      : partTest(partsOf(area), relation, value)
  return conditional(touches(value, box), test, relation === 'disjoint' ? TRUE : FALSE)
}

function touches(value: Expression, shape: Geometry): Expression {
  return apply(GEOF.sfIntersects, value, geometryTerm(shape))
}

/** Compares a point with the part of an area that it lies in. */
function partTest(parts: Parts, relation: SpatialRelation, value: Expression): Expression {
  if (parts.type === 'cut') {
    const { axis, at, below, above } = parts
    const side = axis === 0 ? rectangle(-180, -90, at, 90) : rectangle(-180, -90, 180, at)
    return conditional(
      touches(value, side),
      partTest(below, relation, value),
      partTest(above, relation, value),
    )
  }
  if (parts.shape !== null) return apply(RELATIONS[relation], value, geometryTerm(parts.shape))
  return relation === 'disjoint' ? TRUE : FALSE
}

function rectangle(west: number, south: number, east: number, north: number): Geometry {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}

/** The box around positions; null where they have no area. */
function boxOf(positions: readonly Position[]): Geometry | null {
  const lons = positions.map(([lon]) => lon)
  const lats = positions.map(([, lat]) => lat)
  const [west, east] = [Math.min(...lons), Math.max(...lons)]
  const [south, north] = [Math.min(...lats), Math.max(...lats)]
  if (west === east || south === north) return null
  return rectangle(west, south, east, north)
}
