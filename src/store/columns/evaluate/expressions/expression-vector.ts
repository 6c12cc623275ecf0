import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluation.ts'
import { isStable } from '../functions/builtins.ts'
import type { EvaluationScope } from '../scope.ts'
import type { Batch } from '../vectors/batch.ts'
import { ColumnDomain, onlyPartOf } from '../vectors/domain.ts'
import { isCanonical, presentNumbers } from '../vectors/number-vectors.ts'
import { constantVector, pooledIds } from '../vectors/translate.ts'
import { type TermValue, termValue } from '../vectors/value.ts'
import { gathered, hasWholeValues, type IdVector, type NumberVector, type Vector } from '../vectors/vector.ts'
import { combinationsOf, isWorthTable } from './comparisons.ts'
import { isOfKind, valueByKind } from './kinds.ts'
import { firstAlike } from './text-prefixes.ts'

/** Each row may have a text of megabytes, which is stored. */
const ROWS_BETWEEN_CHECKS = 16

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
  const { pool } = evaluation
  const sole = scope.scalars.soleVector(expression, batch)
  if (sole?.domain instanceof ColumnDomain && isOfKind(expression))
    return vectorByKind(expression, { ...sole, domain: sole.domain }, scope, evaluation)
  const codes =
    sole?.domain instanceof ColumnDomain && isWorthTable(expression, sole.domain, batch.size)
      ? numbersAlike(expression, { ...sole, domain: sole.domain }, evaluation)
      : null
  const chosen = sole === null ? chosenVector(expression, batch, scope, evaluation) : null
  if (chosen !== null) return chosen
  const alike = codes ?? combinationsOf(expression, batch)
  const known = codes?.known ?? (alike && new Uint32Array(alike.size))
  const scalar =
    codes === null ? scope.scalars.compile(expression, batch) : scope.scalars.once(expression, batch)
  const ids = new Uint32Array(batch.size)
  for (let row = 0; row < batch.size; row++) {
    const number = alike === null ? 0 : (alike.numbers[row] as number)
    let id = known === null ? 0 : (known[number] as number)
    if (id === 0) {
      const value = scalar(row)
      id = value === null ? NO_TERM : pool.internValue(value)
      if (known !== null) known[number] = id
    }
    ids[row] = id === NO_TERM ? 0 : id
    if (row % ROWS_BETWEEN_CHECKS === 0) evaluation.check()
  }
  evaluation.allocate(4 * batch.size)
  return { type: 'ids', domain: pool, ids }
}

/** In tables of terms: a value without a term. 0 means not computed yet. */
const NO_TERM = 0xffff_ffff

/** The codes of rows, or those of values for which an expression is the same, and a table of the known terms by code. */
function numbersAlike(
  expression: AlgebraExpression,
  { ids, domain }: IdVector & { readonly domain: ColumnDomain },
  evaluation: Evaluation,
) {
  const size = domain.size + 1
  const known = evaluation.memo('terms', expression, domain, () => new Uint32Array(size))
  const first = evaluation.memo('prefixes', expression, domain, () => firstAlike(expression, domain))
  return { numbers: first === null ? ids : gathered(first, ids), size, known }
}

/** An expression that is constant for all values of a kind: a single term where a column has only one kind. */
function vectorByKind(
  expression: AlgebraExpression,
  codes: IdVector & { readonly domain: ColumnDomain },
  { scalars }: EvaluationScope,
  evaluation: Evaluation,
): Vector {
  const { domain, ids } = codes
  const { pool } = evaluation
  const idOf = (value: TermValue | null) => (value === null ? 0 : pool.internValue(value))
  const kinds = evaluation.memo('terms by kind', expression, domain, () =>
    valueByKind(expression, domain, scalars, idOf),
  )
  if (kinds.ofAll !== null && hasWholeValues(codes))
    return { type: 'constant', domain: pool, id: kinds.ofAll }
  evaluation.allocate(4 * ids.length)
  return { type: 'ids', domain: pool, ids: ids.map(code => kinds.at(code)) }
}

/** IF: its condition and both branches are evaluated for all rows at once. Null for any other expression. */
function chosenVector(
  expression: AlgebraExpression,
  batch: Batch,
  scope: EvaluationScope,
  evaluation: Evaluation,
): Vector | null {
  if (expression.type !== 'builtin' || expression.name !== 'IF' || !isStable(expression)) return null
  const [test, then, otherwise] = expression.arguments
  if (test === undefined || then === undefined || otherwise === undefined) return null
  const yes = scope.filter.select(test, batch)
  const no = scope.filter.select({ type: 'not', operand: test }, batch)
  const [left, right] = [then, otherwise].map(branch => numbersOf(branch, batch, scope))
  if (left != null && right != null && left.kind === right.kind) {
    const values = new Float64Array(batch.size).fill(Number.NaN)
    for (const row of yes) values[row] = left.values[row] as number
    for (const row of no) values[row] = right.values[row] as number
    const places = left.kind === 'decimal' ? { places: Math.max(left.places ?? 0, right.places ?? 0) } : {}
    return { ...presentNumbers(left.kind as 'integer' | 'decimal' | 'double', values), ...places }
  }
  const [ofYes, ofNo] = [then, otherwise].map(branch =>
    pooledIds(vectorOf(branch, batch, scope, evaluation), batch.size, evaluation),
  ) as [Uint32Array, Uint32Array]
  evaluation.allocate(4 * batch.size)
  const ids = new Uint32Array(batch.size)
  for (const row of yes) ids[row] = ofYes[row] as number
  for (const row of no) ids[row] = ofNo[row] as number
  return { type: 'ids', domain: evaluation.pool, ids }
}

/** The numbers of an expression whose terms are determined by their values; null for any other. */
function numbersOf(
  expression: AlgebraExpression,
  batch: Batch,
  { numbers }: EvaluationScope,
): NumberVector | null {
  const vector = expression.type === 'variable' ? batch.get(expression.name) : undefined
  const part = vector?.type === 'ids' ? onlyPartOf(vector.domain) : null
  const hasForms = part !== null && (part.kind !== 'number' || part.forms !== null)
  const isOther = expression.type === 'literal' && !isCanonical(termValue(expression))
  return hasForms || isOther ? null : numbers.vector(expression, batch)
}

function unboundVector({ pool }: Evaluation): Vector {
  return { type: 'constant', domain: pool, id: 0 }
}
