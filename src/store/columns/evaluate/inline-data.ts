import type { SparqlOperation } from '../../../sparql/operation.ts'
import { Batch } from './batch.ts'
import type { Evaluation } from './evaluation.ts'
import type { Vector } from './vector.ts'

/** The solutions of VALUES. */
export function inlineData(
  { variables, rows }: Extract<SparqlOperation, { type: 'values' }>,
  { pool }: Evaluation,
): Batch {
  const vectors = variables.map((name, at) => {
    const ids = Uint32Array.from(rows, row => (row[at] == null ? 0 : pool.intern(row[at])))
    return [name, { type: 'ids', domain: pool, ids } satisfies Vector] as const
  })
  // A variable without any value is as one that is not there.
  return new Batch(
    rows.length,
    new Map(vectors.filter(([, { ids }]) => ids.some(id => id !== 0) || rows.length === 0)),
  )
}
