import { type Position, positionsOf } from '../../../../model/geometry.ts'
import { boundingBox, convexHull } from '../../../../model/great-circle.ts'
import { memoised } from '../../../../model/memoised.ts'
import type { Geometry } from '../../../../model/value.ts'
import { parseWkt, wktText } from '../../../../model/wkt.ts'
import { GEO } from '../../../../rdf/vocab.ts'
import type { Evaluation } from '../evaluation.ts'
import { boxesIn } from '../expressions/shapes.ts'
import type { Batch } from '../vectors/batch.ts'
import { onlyPartOf } from '../vectors/domain.ts'
import { literalOf } from '../vectors/value.ts'
import { type Vector, vectorValueAt } from '../vectors/vector.ts'
import type { Aggregator, ValuesOf } from './aggregator.ts'

/** Positions of a group of which the shape is worked out before further ones are added. */
const MAX_POSITIONS = 2 ** 14

/** Bytes of a position, and the rows of a batch whose work is that of reading one. */
const [BYTES_A_POSITION, ROWS_A_POSITION] = [64, 16]

/** The convex hull or the bounding box of all positions of a group, as a geo:wktLiteral. */
export class CollectedGeometries implements Aggregator {
  private readonly positions = new Map<number, { known: Position[]; limit: number }>()
  private readonly valuesOf: ValuesOf
  private readonly evaluation: Evaluation
  private readonly shape: 'hull' | 'box'

  constructor(valuesOf: ValuesOf, evaluation: Evaluation, shape: 'hull' | 'box') {
    this.valuesOf = valuesOf
    this.evaluation = evaluation
    this.shape = shape
  }

  add(batch: Batch, groups: Uint32Array): void {
    const vector = this.valuesOf(batch)
    const part = vector.type === 'ids' ? onlyPartOf(vector.domain) : null
    const boxOf =
      this.shape === 'box' && vector.type === 'ids' ? boxesIn(vector.domain, this.evaluation) : null
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      if (part?.kind === 'point' && vector.type === 'ids') {
        const id = vector.ids[row] as number
        if (id !== 0)
          this.addTo(group, [
            [part.longitudes[id - part.first] as number, part.latitudes[id - part.first] as number],
          ])
        continue
      }
      const box = boxOf !== null && vector.type === 'ids' ? boxOf(vector.ids[row] as number) : null
      if (box !== null) {
        this.addTo(group, [
          [box.west, box.south],
          [box.east, box.north],
        ])
        continue
      }
      const value = vectorValueAt(vector, row)
      if (value?.type !== 'other' || value.term.datatype !== GEO.wktLiteral) continue
      const geometry = parseWkt(value.term.value)
      if (geometry !== undefined) this.addTo(group, positionsOf(geometry))
    }
  }

  result(count: number): Vector {
    const { pool } = this.evaluation
    const ids = new Uint32Array(count)
    for (const [group, { known }] of this.positions) {
      const shape = this.around(known)
      if (shape !== null) ids[group] = pool.intern(literalOf(wktText(shape), GEO.wktLiteral))
    }
    return { type: 'ids', domain: pool, ids }
  }

  private around(positions: readonly Position[]): Geometry | null {
    return this.shape === 'hull' ? convexHull(positions) : boundingBox(positions)
  }

  /** Many positions of a group are replaced by those of the shape around them. */
  private addTo(group: number, positions: readonly Position[]): void {
    const { evaluation } = this
    evaluation.advance(ROWS_A_POSITION * positions.length)
    evaluation.allocate(BYTES_A_POSITION * positions.length)
    const own = memoised(this.positions, group, () => ({ known: [], limit: MAX_POSITIONS }))
    for (const position of positions) own.known.push(position)
    if (own.known.length < own.limit) return
    const shape = this.around(own.known)
    const fewer = shape === null ? [] : [...positionsOf(shape)]
    evaluation.release(BYTES_A_POSITION * (own.known.length - fewer.length))
    own.known = fewer
    own.limit = Math.max(MAX_POSITIONS, 2 * fewer.length)
  }
}
