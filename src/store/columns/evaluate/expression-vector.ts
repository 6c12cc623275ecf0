import type { AlgebraExpression } from '../../../sparql/algebra.ts'
import type { Batch } from './batch.ts'
import type { Evaluation } from './evaluation.ts'
import type { EvaluationScope } from './scope.ts'
import { constantVector } from './translate.ts'
import { termOf } from './value.ts'
import type { Vector } from './vector.ts'

/** The values of an expression over a batch as a vector. */
export function vectorOf(
  expression: AlgebraExpression,
  batch: Batch,
  scope: EvaluationScope,
  evaluation: Evaluation,
): Vector {
  if (expression.type === 'variable') return batch.get(expression.name) ?? unboundVector(evaluation)
  if (expression.type === 'iri' || expression.type === 'literal')
    return constantVector(expression, evaluation)
  const numbers = scope.numbers.vector(expression, batch)
  if (numbers !== null) return numbers
  const scalar = scope.scalars.compile(expression, batch)
  const { pool } = evaluation
  const ids = new Uint32Array(batch.size)
  for (let row = 0; row < batch.size; row++) {
    const value = scalar(row)
    if (value !== null) ids[row] = pool.intern(termOf(value))
    if (row % 256 === 255) evaluation.check()
  }
  evaluation.allocate(4 * batch.size)
  return { type: 'ids', domain: pool, ids }
}

function unboundVector({ pool }: Evaluation): Vector {
  return { type: 'constant', domain: pool, id: 0 }
}
