import { type Position, positionsOf } from '../../../../model/geometry.ts'
import { convexHull, rectangle } from '../../../../model/great-circle.ts'
import { memoised } from '../../../../model/memoised.ts'
import { parseWkt, wktText } from '../../../../model/wkt.ts'
import { GEO } from '../../../../rdf/vocab.ts'
import type { Evaluation } from '../evaluation.ts'
import { boxesIn } from '../expressions/shapes.ts'
import type { Batch } from '../vectors/batch.ts'
import { onlyPartOf } from '../vectors/domain.ts'
import { literalOf } from '../vectors/value.ts'
import { type Vector, vectorValueAt } from '../vectors/vector.ts'
import type { Aggregator, Operand } from './aggregator.ts'

/** Positions of a group of which the hull is worked out before further ones are added. */
const MAX_POSITIONS = 2 ** 10

/** Bytes of a position, and the rows of a batch whose work is that of reading one. */
const [BYTES_A_POSITION, ROWS_A_POSITION] = [64, 16]

/** The longitude and latitude of a row whose value is a point; null for other values. */
function pointReader(vector: Vector): ((row: number) => readonly [lon: number, lat: number] | null) | null {
  const part = vector.type === 'ids' ? onlyPartOf(vector.domain) : null
  if (part?.kind !== 'point' || vector.type !== 'ids') return null
  const { ids } = vector
  const { first, longitudes, latitudes } = part
  return row => {
    const id = ids[row] as number
    return id === 0 ? null : [longitudes[id - first] as number, latitudes[id - first] as number]
  }
}

/** The positions of the value of a row: none where it is no geometry. */
function positionsAt(vector: Vector, row: number): Iterable<Position> {
  const value = vectorValueAt(vector, row)
  if (value?.type !== 'other' || value.term.datatype !== GEO.wktLiteral) return []
  const geometry = parseWkt(value.term.value)
  return geometry === undefined ? [] : positionsOf(geometry)
}

/** Bounds of no position: west, south, east, north. */
const NOWHERE = [180, 90, -180, -90] as const

/** The bounding box of all positions of a group, as a geo:wktLiteral. */
export class BoundingBoxes implements Aggregator {
  /** West, south, east and north of each group. */
  private bounds = new Float64Array(0)
  private groups = 0
  private readonly valuesOf: Operand
  private readonly evaluation: Evaluation

  constructor(valuesOf: Operand, evaluation: Evaluation) {
    this.valuesOf = valuesOf
    this.evaluation = evaluation
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const vector = this.valuesOf(batch)
    const pointAt = pointReader(vector)
    const boxOf = vector.type === 'ids' ? boxesIn(vector.domain, this.evaluation) : null
    this.makeRoom(count)
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      this.evaluation.advance(1)
      if (pointAt !== null) {
        const point = pointAt(row)
        if (point !== null) this.widen(group, ...point, ...point)
        continue
      }
      const box = boxOf !== null && vector.type === 'ids' ? boxOf(vector.ids[row] as number) : null
      if (box !== null) this.widen(group, box.west, box.south, box.east, box.north)
      else
        for (const [lon, lat] of positionsAt(vector, row)) {
          this.evaluation.advance(ROWS_A_POSITION)
          this.widen(group, lon, lat, lon, lat)
        }
    }
  }

  private widen(group: number, west: number, south: number, east: number, north: number): void {
    const { bounds } = this
    const at = 4 * group
    bounds[at] = Math.min(bounds[at] as number, west)
    bounds[at + 1] = Math.min(bounds[at + 1] as number, south)
    bounds[at + 2] = Math.max(bounds[at + 2] as number, east)
    bounds[at + 3] = Math.max(bounds[at + 3] as number, north)
  }

  private makeRoom(count: number): void {
    this.bounds = this.evaluation.grown(this.bounds, 4 * count)
    for (; this.groups < count; this.groups++) this.bounds.set(NOWHERE, 4 * this.groups)
  }

  result(count: number): Vector {
    this.makeRoom(count)
    const { bounds, evaluation } = this
    const ids = new Uint32Array(count)
    for (let group = 0; group < count; group++) {
      evaluation.advance(ROWS_A_POSITION)
      const [west = 0, south = 0, east = 0, north = 0] = bounds.subarray(4 * group, 4 * group + 4)
      if (west > east) continue
      const box = rectangle(west, south, east, north)
      ids[group] = evaluation.pool.intern(literalOf(wktText(box), GEO.wktLiteral))
    }
    return { type: 'ids', domain: evaluation.pool, ids }
  }
}

/** The convex hull of all positions of a group, as a geo:wktLiteral. */
export class ConvexHulls implements Aggregator {
  private readonly positions = new Map<number, { known: Position[]; limit: number }>()
  private readonly valuesOf: Operand
  private readonly evaluation: Evaluation

  constructor(valuesOf: Operand, evaluation: Evaluation) {
    this.valuesOf = valuesOf
    this.evaluation = evaluation
  }

  add(batch: Batch, groups: Uint32Array): void {
    const vector = this.valuesOf(batch)
    const pointAt = pointReader(vector)
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      const point = pointAt?.(row) ?? null
      if (point !== null) this.addTo(group, [point])
      else if (pointAt === null) this.addTo(group, positionsAt(vector, row))
    }
  }

  result(count: number): Vector {
    const { evaluation } = this
    const ids = new Uint32Array(count)
    for (const [group, { known }] of this.positions) {
      evaluation.check()
      const hull = convexHull(known)
      if (hull !== null) ids[group] = evaluation.pool.intern(literalOf(wktText(hull), GEO.wktLiteral))
    }
    return { type: 'ids', domain: evaluation.pool, ids }
  }

  /** Many positions of a group are replaced by those of the hull around them. */
  private addTo(group: number, positions: Iterable<Position>): void {
    const { evaluation } = this
    const own = memoised(this.positions, group, () => ({ known: [], limit: MAX_POSITIONS }))
    const before = own.known.length
    for (const position of positions) own.known.push(position)
    evaluation.advance(ROWS_A_POSITION * (own.known.length - before))
    evaluation.allocate(BYTES_A_POSITION * (own.known.length - before))
    if (own.known.length < own.limit) return
    const hull = convexHull(own.known)
    const fewer = hull === null ? [] : [...positionsOf(hull)]
    evaluation.release(BYTES_A_POSITION * (own.known.length - fewer.length))
    own.known = fewer
    own.limit = Math.max(MAX_POSITIONS, 2 * fewer.length)
  }
}
