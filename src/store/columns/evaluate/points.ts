import type { AlgebraExpression } from '../../../sparql/algebra.ts'
import type { PointPart } from '../dictionary-parts.ts'
import { forEachNear } from '../grid.ts'
import { type ColumnDomain, onlyPartOf } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import { type ColumnCall, columnCall } from './functions/extensions.ts'
import { lookedUp, type NumberTable } from './number-tables.ts'
import { scratchFloat64 } from './scratch.ts'
import type { NumberVector } from './vector.ts'

/** The codes of the points of a column for which a test holds that holds near some place alone; null for any other. */
export function pointsNear(
  expression: AlgebraExpression,
  variable: string | null,
  domain: ColumnDomain,
  evaluation: Evaluation,
): Uint32Array | null {
  const call = columnCall(expression)
  if (call === null || (variable !== null && call.variable !== variable)) return null
  return evaluation.memo('points near', expression, domain, () => found(call, domain))
}

function found({ called, constants }: ColumnCall, domain: ColumnDomain): Uint32Array | null {
  const part = onlyPartOf(domain)
  if (part?.kind !== 'point' || called.isTest !== true) return null
  const boxes = called.within?.(constants) ?? null
  const test = boxes === null ? null : (called.overPoints?.(constants) ?? null)
  if (boxes === null || test === null) return null
  const { longitudes, latitudes, first } = part
  const grid = domain.column.gridOf(part)
  const codes = new Set<number>()
  for (const box of boxes)
    forEachNear(grid, box, place => {
      if (test(longitudes[place] as number, latitudes[place] as number) === 1) codes.add(first + place)
    })
  return Uint32Array.from(codes)
}

/** Names under which tables of coordinates are remembered. */
const COORDINATES = {
  longitudes: { type: 'variable', name: 'longitudes' },
  latitudes: { type: 'variable', name: 'latitudes' },
} as const

/** A coordinate of points; read once for the same rows, however many expressions read it. */
export function coordinateNumbers(
  part: PointPart,
  coordinate: 'longitudes' | 'latitudes',
  ids: Uint32Array,
  domain: ColumnDomain,
  evaluation: Evaluation,
): NumberVector {
  const { table, known } = evaluation.memo('coordinates', COORDINATES[coordinate], domain, () => {
    const values = scratchFloat64(domain.size + 1).fill(Number.NaN, 0, part.first)
    values.set(part[coordinate], part.first)
    const table: NumberTable = { kind: 'double', values }
    return { table, known: new WeakMap<Uint32Array, NumberVector>() }
  })
  let vector = known.get(ids)
  if (vector === undefined) {
    vector = lookedUp(table, ids)
    known.set(ids, vector)
  }
  return vector
}
