import { type Position, positionsOf } from '../../../../model/geometry.ts'
import { boundingBox, convexHull } from '../../../../model/hull.ts'
import { parseWkt, wktText } from '../../../../model/wkt.ts'
import { GEO } from '../../../../rdf/vocab.ts'
import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { Batch } from '../batch.ts'
import { onlyPartOf } from '../domain.ts'
import { literalOf } from '../value.ts'
import { type Vector, vectorValueAt } from '../vector.ts'
import type { Aggregator, AggregatorContext } from './aggregator.ts'

/** The convex hull or the bounding box of all positions of a group, as a geo:wktLiteral. */
export class CollectedGeometries implements Aggregator {
  private readonly positions = new Map<number, Position[]>()
  private readonly operand: AlgebraExpression
  private readonly context: AggregatorContext
  private readonly shape: 'hull' | 'box'

  constructor(operand: AlgebraExpression, context: AggregatorContext, shape: 'hull' | 'box') {
    this.operand = operand
    this.context = context
    this.shape = shape
  }

  add(batch: Batch, groups: Uint32Array): void {
    const vector = this.context.vectorOf(this.operand, batch)
    const part = vector.type === 'ids' ? onlyPartOf(vector.domain) : null
    this.context.evaluation.allocate(32 * groups.length)
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
      const value = vectorValueAt(vector, row)
      if (value?.type !== 'other' || value.term.datatype !== GEO.wktLiteral) continue
      const geometry = parseWkt(value.term.value)
      if (geometry !== undefined) this.addTo(group, positionsOf(geometry))
    }
  }

  result(count: number): Vector {
    const { pool } = this.context.evaluation
    const ids = new Uint32Array(count)
    for (const [group, positions] of this.positions) {
      const shape = this.shape === 'hull' ? convexHull(positions) : boundingBox(positions)
      if (shape !== null) ids[group] = pool.intern(literalOf(wktText(shape), GEO.wktLiteral))
    }
    return { type: 'ids', domain: pool, ids }
  }

  private addTo(group: number, positions: readonly Position[]): void {
    const known = this.positions.get(group)
    if (known === undefined) this.positions.set(group, [...positions])
    else for (const position of positions) known.push(position)
  }
}
