import type { AlgebraExpression } from '../../../sparql/algebra.ts'
import { forEachNear } from '../grid.ts'
import { type ColumnDomain, onlyPartOf } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import { type ColumnCall, columnCall } from './functions/extensions.ts'

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
