import { positionsOf, toGeoShape } from '../../model/geometry.ts'
import { distanceFrom } from '../../model/great-circle.ts'
import type { Geometry } from '../../model/value.ts'
import { acrossMeridian, geometryFlaw } from '../resolve/geometry-literals.ts'
import type { Side } from './comparison.ts'
import type { FunctionCall } from './functions.ts'
import { type Scope, unserved, wrong } from './scope.ts'
import {
  constantOf,
  describeExpression,
  describeType,
  NULL,
  perRecord,
  startOf,
  type TypedConstant,
  type TypedExpression,
} from './typed-expression.ts'

/** Returns the value of a geography function (URL Conventions 5.1.1.9): distances and lengths in metres. */
export function applyGeo(call: FunctionCall, sides: readonly Side[], scope: Scope): TypedExpression {
  const name = call.name.toLowerCase()
  const required = name === 'geo.length' ? 1 : 2
  if (name !== 'geo.distance' && name !== 'geo.intersects' && name !== 'geo.length')
    throw unserved(scope, startOf(call), call.span)
  if (sides.length !== required)
    throw wrong(scope, `${startOf(call)} takes ${required} arguments, not ${sides.length}`, call.span)
  for (const { typed, node } of sides)
    if (typed.type !== 'null' && typed.type !== 'place' && !isGeography(typed))
      throw wrong(
        scope,
        `${startOf(call)} takes geographies, and ${describeExpression(node)} is of type ${describeType(typed)}`,
        node.span,
      )
  if (sides.some(({ typed }) => typed.type === 'null')) return NULL
  if (name === 'geo.length') return length(call, sides, scope)
  return name === 'geo.distance' ? distance(call, sides, scope) : intersects(call, sides, scope)
}

function isGeography(typed: TypedExpression): typed is TypedConstant {
  return typed.type === 'constant' && typed.kind === 'geography'
}

/** The positions and the geometries among two arguments, in either order. */
function parted(sides: readonly Side[], scope: Scope) {
  const places = sides.flatMap(({ typed }) => (typed.type === 'place' ? [typed.field] : []))
  const shapes = sides.flatMap(({ typed, node }) =>
    isGeography(typed) ? [{ shape: geometryOf(typed, node, scope), node }] : [],
  )
  return { places, shapes }
}

function distance(call: FunctionCall, sides: readonly Side[], scope: Scope): TypedExpression {
  const { places, shapes } = parted(sides, scope)
  const points = shapes.map(({ shape, node }) => {
    const [position] = positionsOf(shape)
    if (shape.type !== 'Point' || position === undefined)
      throw wrong(scope, `geo.distance takes points, not a ${shape.type}`, node.span)
    return position
  })
  const [field] = places
  const [point, other] = points
  if (point !== undefined && other !== undefined) return constantOf('double', metres(point, other))
  if (field === undefined || point === undefined)
    throw unserved(scope, 'The distance of two properties', call.span)
  if (field.type !== 'geo_point_2d') throw unserved(scope, 'The distance of a shape', call.span)
  return perRecord('double', { type: 'distance', field, point: { lon: point[0], lat: point[1] } })
}

function intersects(call: FunctionCall, sides: readonly Side[], scope: Scope): TypedExpression {
  const { places, shapes } = parted(sides, scope)
  const [field] = places
  const [shape] = shapes
  if (field === undefined || shape === undefined || shapes.length > 1)
    throw unserved(scope, 'geo.intersects of other than a property and a literal', call.span)
  const holds = {
    type: 'spatial',
    field,
    relation: 'intersects',
    shape: acrossMeridian(shape.shape),
  } as const
  return { type: 'test', holds, fails: { ...holds, relation: 'disjoint' } }
}

function length(call: FunctionCall, [side]: readonly Side[], scope: Scope): TypedExpression {
  if (side === undefined || !isGeography(side.typed))
    throw unserved(scope, 'The length of a property', call.span)
  const shape = geometryOf(side.typed, side.node, scope)
  if (shape.type !== 'LineString')
    throw wrong(scope, `geo.length takes a LineString, not a ${shape.type}`, side.node.span)
  const positions = positionsOf(shape)
  const total = positions.slice(1).reduce((sum, to, index) => sum + metres(positions[index] ?? to, to), 0)
  return constantOf('double', total)
}

function geometryOf({ value }: TypedConstant, node: Side['node'], scope: Scope): Geometry {
  const geometry = toGeoShape(String(value))
  if (geometry === undefined || geometry === null)
    throw wrong(
      scope,
      `${startOf(node)} is no geography`,
      node.span,
      'write WKT with longitude before latitude; a ring ends where it begins',
    )
  const flaw = geometryFlaw(geometry)
  if (flaw !== null) throw wrong(scope, flaw.reason, node.span, flaw.hint)
  return geometry
}

/** Great-circle distance of two positions. */
function metres(a: readonly [number, number], b: readonly [number, number]): number {
  return distanceFrom(a[0], a[1])(b[0], b[1])
}
