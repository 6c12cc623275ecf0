import { type AlgebraExpression, variablesOfExpression } from '../../../sparql/algebra.ts'
import { allRows, Batch } from './batch.ts'
import { comparedNumbers } from './compared-numbers.ts'
import { distanceLimit } from './distances.ts'
import { ColumnDomain, type Domain } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import { markResources } from './form-tests.ts'
import { columnCall } from './functions/extensions.ts'
import type { NumberKernels } from './numbers.ts'
import { codeRangeOf } from './ranges.ts'
import { isByteTest, readTextTest } from './read-text-test.ts'
import { rowsWithBit } from './row-filters.ts'
import type { ScalarCompiler } from './scalar.ts'
import { markKnownTruths } from './text-tests.ts'
import {
  bothTrue,
  eitherHolds,
  FAILS,
  HOLDS,
  nextUnknown,
  rangeTruths,
  reversed,
  type Truths,
  truthOf,
  truthsFor,
  writeKnown,
} from './truths.ts'
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

function isDistance(expression: AlgebraExpression | undefined): boolean {
  return expression !== undefined && columnCall(expression)?.called.distances !== undefined
}

/** Conditions on the values of one column, each evaluated once per value and looked up for rows. */
export class TruthTables {
  private readonly evaluation: Evaluation
  private readonly scalars: ScalarCompiler
  private readonly numbers: NumberKernels

  constructor(evaluation: Evaluation, scalars: ScalarCompiler, numbers: NumberKernels) {
    this.evaluation = evaluation
    this.scalars = scalars
    this.numbers = numbers
  }

  /** The truth of a condition for all rows; null where some part of it is not a test of the values of one column. */
  truths(expression: AlgebraExpression, batch: Batch): Truths | null {
    if (expression.type === 'not') {
      const operand = this.truths(expression.operand, batch)
      return operand === null ? null : reversed(operand)
    }
    if (expression.type === 'binary' && (expression.operator === '&&' || expression.operator === '||')) {
      const left = this.truths(expression.left, batch)
      const right = left === null ? null : this.truths(expression.right, batch)
      if (left === null || right === null) return null
      return expression.operator === '&&' ? bothTrue(left, right) : eitherHolds(left, right)
    }
    const vector = this.scalars.soleVector(expression, batch)
    // Points within a distance are found without the distances of all others.
    if (vector === null || columnCall(expression) !== null || isDistance(distanceLimit(expression)?.computed))
      return null
    this.evaluation.advance(batch.size)
    const { ids, domain } = vector
    const range = codeRangeOf(expression, domain)
    if (range !== null) return rangeTruths(ids, range.from, range.to, !range.negated)
    if (!isWorthTable(expression, domain, batch.size)) return null
    const truths = truthsFor(batch.size)
    const { bytes } = truths
    const { table, truthAt } = this.tableOf(expression, batch, domain)
    for (
      let row = writeKnown(bytes, table, ids, 0);
      row < bytes.length;
      row = writeKnown(bytes, table, ids, row)
    )
      truthAt(row, ids[row] as number)
    return truths
  }

  /** Evaluates the condition once for each value of a domain. */
  rows(
    expression: AlgebraExpression,
    batch: Batch,
    { ids, domain }: IdVector,
    rows: Uint32Array,
    required: boolean,
  ): Uint32Array {
    const { table, truthAt } = this.tableOf(expression, batch, domain)
    for (
      let at = nextUnknown(table, ids, rows, 0);
      at < rows.length;
      at = nextUnknown(table, ids, rows, at)
    ) {
      const row = rows[at] as number
      truthAt(row, ids[row] as number)
    }
    return rowsWithBit(ids, table, required ? HOLDS : FAILS, rows)
  }

  /** Compares numbers that are computed for all values, such as years of dates. */
  private markNumbers(expression: AlgebraExpression, domain: ColumnDomain, table: Uint8Array): void {
    const [name] = variablesOfExpression(expression)
    if (name === undefined || expression.type !== 'binary') return
    const ids = allRows(domain.size + 1)
    const values = new Batch(ids.length, new Map([[name, { type: 'ids', domain, ids } satisfies IdVector]]))
    const compared = comparedNumbers(expression, values, this.numbers.byRow)
    if (compared === null) return
    for (const id of compared(ids, true)) table[id] = HOLDS
    for (const id of compared(ids, false)) table[id] = FAILS
  }

  /** A table of the known truths of the values of a domain, and a function that computes an unknown one. */
  private tableOf(expression: AlgebraExpression, batch: Batch, domain: Domain) {
    const memoised = this.evaluation.memo('truths', expression, domain, () => {
      const table = new Uint8Array(domain.size + 1)
      if (domain instanceof ColumnDomain) {
        markKnownTruths(expression, domain, table, this.evaluation, this.scalars)
        this.markNumbers(expression, domain, table)
      }
      const test = domain instanceof ColumnDomain ? readTextTest(expression, this.evaluation) : null
      return { table, rows: 0, resources: test?.ofTerms === true ? test : null }
    })
    memoised.rows += batch.size
    const { rows, resources } = memoised
    if (
      resources !== null &&
      markResources(resources, domain as ColumnDomain, rows, this.evaluation, memoised.table)
    )
      memoised.resources = null
    // The pool of a query grows from batch to batch.
    if (memoised.table.length <= domain.size) {
      const larger = new Uint8Array(2 * (domain.size + 1))
      larger.set(memoised.table)
      memoised.table = larger
    }
    const { table } = memoised
    const scalar = this.scalars.once(expression, batch)
    let worked = 0
    const truthAt = (row: number, id: number): void => {
      table[id] = truthOf(scalar(row))
      if (++worked % 256 === 0) this.evaluation.check()
    }
    return { table, truthAt }
  }
}
