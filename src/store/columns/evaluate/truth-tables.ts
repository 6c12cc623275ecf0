import { type AlgebraExpression, variablesOfExpression } from '../../../sparql/algebra.ts'
import { grown } from '../bytes.ts'
import { allRows, Batch } from './batch.ts'
import { comparedNumbers } from './comparisons.ts'
import { ColumnDomain, type Domain } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import { markResources } from './form-tests.ts'
import type { NumberKernels } from './numbers.ts'
import { isByteTest, readTextTest } from './read-text-test.ts'
import { rowsWithBit } from './row-filters.ts'
import type { ScalarCompiler } from './scalar.ts'
import { markKnownTruths } from './text-tests.ts'
import { FAILS, HOLDS, truthOf } from './truths.ts'
import type { IdVector } from './vector.ts'

/**
 * Domains with more values than this many times the rows get no truth table; the second applies where the bytes of the values are
 * enough.
 */
const TABLE_FACTOR = 8
const BYTES_FACTOR = 64

/** True where evaluating a condition on one column per value costs less than per row. */
export function isWorthTable(expression: AlgebraExpression, domain: Domain, rows: number): boolean {
  if (domain.size <= TABLE_FACTOR * rows + 64) return true
  return domain instanceof ColumnDomain && domain.size <= BYTES_FACTOR * rows && isByteTest(expression)
}

/**
 * The rows for which a condition on the values of one column has the required truth: it is evaluated once for each value.
 *
 * @param numbers computes numbers row by row
 */
export function rowsByValue(
  expression: AlgebraExpression,
  batch: Batch,
  { ids, domain }: IdVector,
  rows: Uint32Array,
  required: boolean,
  { evaluation, scalars, numbers }: TruthContext,
): Uint32Array {
  const known = evaluation.memo('truths', expression, domain, () => {
    const table = new Uint8Array(domain.size + 1)
    if (!(domain instanceof ColumnDomain)) return { table, rows: 0, resources: null }
    markKnownTruths(expression, domain, table, evaluation, scalars)
    markNumbers(expression, domain, table, numbers)
    const test = readTextTest(expression, evaluation)
    return { table, rows: 0, resources: test?.ofTerms === true ? { test, domain } : null }
  })
  known.rows += batch.size
  const { resources } = known
  if (
    resources !== null &&
    markResources(resources.test, resources.domain, known.rows, evaluation, known.table)
  )
    known.resources = null
  // The pool of a query grows from batch to batch.
  if (known.table.length <= domain.size) known.table = grown(known.table, domain.size + 1)
  const { table } = known
  const scalar = scalars.once(expression, batch)
  let worked = 0
  for (let at = nextUnknown(table, ids, rows, 0); at < rows.length; at = nextUnknown(table, ids, rows, at)) {
    const row = rows[at] as number
    table[ids[row] as number] = truthOf(scalar(row))
    if (++worked % 256 === 0) evaluation.check()
  }
  return rowsWithBit(ids, table, required ? HOLDS : FAILS, rows)
}

interface TruthContext {
  readonly evaluation: Evaluation
  readonly scalars: ScalarCompiler
  readonly numbers: NumberKernels
}

/** Compares numbers that are computed for all values, such as years of dates. */
function markNumbers(
  expression: AlgebraExpression,
  domain: ColumnDomain,
  table: Uint8Array,
  numbers: NumberKernels,
): void {
  const [name] = variablesOfExpression(expression)
  if (name === undefined || expression.type !== 'binary') return
  const ids = allRows(domain.size + 1)
  const values = new Batch(ids.length, new Map([[name, { type: 'ids', domain, ids } satisfies IdVector]]))
  const compared = comparedNumbers(expression, values, numbers)
  if (compared === null) return
  for (const id of compared(ids, true)) table[id] = HOLDS
  for (const id of compared(ids, false)) table[id] = FAILS
}

/** The index of the next row of a list whose truth is unknown. */
function nextUnknown(table: Uint8Array, ids: Uint32Array, rows: Uint32Array, from: number): number {
  const length = rows.length | 0
  for (let at = from | 0; at < length; at++) if (table[ids[rows[at] as number] as number] === 0) return at
  return length
}
