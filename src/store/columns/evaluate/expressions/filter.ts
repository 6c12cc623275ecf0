import type { ExpressionOf } from '../../../../sparql/algebra.ts'
import { type AlgebraExpression, isConstantExpression } from '../../../../sparql/algebra.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import { columnCall } from '../functions/extensions.ts'
import { allRows, type Batch } from '../vectors/batch.ts'
import { ColumnDomain, onlyPartOf, SubjectDomain } from '../vectors/domain.ts'
import { merged, rowsBound, rowsInRange, rowsMarked, rowsOfTable, without } from '../vectors/row-filters.ts'
import { scratchUint32 } from '../vectors/scratch.ts'
import { termValue } from '../vectors/value.ts'
import { hasWholeValues } from '../vectors/vector.ts'
import { combinationsOf } from './combinations.ts'
import { comparedByNumber, comparedNumbers, isWorthTable, rowsByValue } from './comparisons.ts'
import { isCondition } from './conditions.ts'
import { isOfKind, valueByKind } from './kinds.ts'
import type { NumberKernels } from './numbers.ts'
import { rowsByDistance, rowsOfPoints } from './points.ts'
import { codeRangeOf } from './ranges.ts'
import { readsConstants, type ScalarCompiler, subjectCall } from './scalar.ts'
import { effectiveBoolean, FAILS, HOLDS, truthOf } from './truths.ts'

/** Combinations of values are computed where at least one in this many rows of a batch is tested. */
const DENSE_PART = 2

/**
 * Selects the rows of batches for which conditions hold. Rows are ascending numbers; a condition is tested on the rows that the
 * previous ones selected. True and false are tested separately, because an error is neither (SPARQL 1.1 Query, section 17.2).
 */
export class Filter {
  private readonly evaluation: Evaluation
  private readonly scalars: ScalarCompiler
  private readonly numbers: NumberKernels

  constructor(evaluation: Evaluation, scalars: ScalarCompiler, numbers: NumberKernels) {
    this.evaluation = evaluation
    this.scalars = scalars
    this.numbers = numbers
  }

  /** The rows, of the given ones or of all, for which a condition is true. */
  select(condition: AlgebraExpression, batch: Batch, rows: Uint32Array | null = null): Uint32Array {
    return this.rowsWith(condition, batch, rows ?? allRows(batch.size), true)
  }

  /** The rows of a batch for which conditions are true. */
  filtered(conditions: readonly AlgebraExpression[], batch: Batch): Batch {
    let remaining = batch
    for (const condition of conditions) {
      const rows = this.select(condition, remaining)
      if (rows.length < remaining.size) remaining = remaining.rows(rows)
    }
    return remaining
  }

  /** @param required false selects the rows for which the condition is false */
  private rowsWith(
    expression: AlgebraExpression,
    batch: Batch,
    rows: Uint32Array,
    required: boolean,
  ): Uint32Array {
    if (rows.length === 0) return rows
    this.evaluation.advance(rows.length)
    switch (expression.type) {
      case 'not':
        return this.rowsWith(expression.operand, batch, rows, !required)
      case 'exists': {
        const mask = this.scalars.exists(expression, batch)
        return rowsOfTable(mask, expression.negated === required ? 0 : 1, rows)
      }
      case 'binary':
        if (expression.operator === '&&' || expression.operator === '||') {
          const { left, right } = expression
          if ((expression.operator === '&&') === required)
            return this.rowsWith(right, batch, this.rowsWith(left, batch, rows, required), required)
          const first = this.rowsWith(left, batch, rows, required)
          // What is decided by value is decided for all rows at once.
          const isByValue = rows.length === batch.size && this.scalars.soleVector(right, batch) !== null
          const rest = isByValue ? rows : without(rows, first)
          return merged(first, this.rowsWith(right, batch, rest, required))
        }
        break
      case 'builtin':
        if (expression.name === 'COALESCE') return this.coalesced(expression.arguments, batch, rows, required)
        if (expression.name === 'BOUND') return boundRows(expression, batch, rows, required)
        if (expression.name === 'IF' && expression.arguments.length === 3) {
          const [test, then, otherwise] = expression.arguments as Branches
          const yes = this.rowsWith(test, batch, rows, true)
          const no = this.rowsWith(test, batch, without(rows, yes), false)
          return merged(
            this.rowsWith(then, batch, yes, required),
            this.rowsWith(otherwise, batch, no, required),
          )
        }
        break
      default:
    }
    return this.atomRows(expression, batch, rows, required)
  }

  /** Errors of the first are replaced by the second: for `COALESCE(condition, false)` an error is false. */
  private coalesced(
    parts: readonly AlgebraExpression[],
    batch: Batch,
    rows: Uint32Array,
    required: boolean,
  ): Uint32Array {
    const [first, second, ...others] = parts
    const isTwoValued =
      first !== undefined && second !== undefined && others.length === 0 && isConstantExpression(second)
    if (!isTwoValued || !isCondition(first))
      return this.scalarRows({ type: 'builtin', name: 'COALESCE', arguments: parts }, batch, rows, required)
    const otherwise = effectiveBoolean(termValue(second))
    if (otherwise !== required) return this.rowsWith(first, batch, rows, required)
    return without(rows, this.rowsWith(first, batch, rows, !required))
  }

  private atomRows(
    expression: AlgebraExpression,
    batch: Batch,
    rows: Uint32Array,
    required: boolean,
  ): Uint32Array {
    if (isConstantExpression(expression))
      return effectiveBoolean(termValue(expression)) === required ? rows : rows.subarray(0, 0)
    const called = this.calledRows(expression, batch, rows, required)
    if (called !== null) return called
    const byDistance = rowsByDistance(expression, batch, rows, required, this.evaluation)
    if (byDistance !== null) return byDistance
    const vector = this.scalars.soleVector(expression, batch)
    if (vector !== null) {
      const { ids, domain } = vector
      const range = codeRangeOf(expression, domain)
      // All rows are read without a list of them.
      const some = rows.length === batch.size ? null : rows
      if (range !== null) return rowsInRange(ids, range.from, range.to, range.negated !== required, some)
      if (domain instanceof SubjectDomain) {
        const { graph } = domain
        const resources = codeRangeOf(expression, domainsOf(graph).resources)
        if (resources !== null) {
          const numbers = ids.map(id => (id === 0 ? 0 : (graph.subjectResources[id - 1] as number)))
          return rowsInRange(numbers, resources.from, resources.to, required, rows)
        }
      }
      if (domain instanceof ColumnDomain && isOfKind(expression)) {
        const truths = this.evaluation.memo('kinds', expression, domain, () =>
          valueByKind(expression, domain, this.scalars, truthOf),
        )
        const bit = required ? HOLDS : FAILS
        if (truths.ofAll !== null && hasWholeValues(vector))
          return truths.ofAll === bit ? rows : rows.subarray(0, 0)
        return rows.filter(row => truths.at(ids[row] as number) === bit)
      }
      const compared = this.computedRows(expression, batch, rows, required)
      if (compared !== null) return compared
      if (isWorthTable(expression, domain, rows.length))
        return rowsByValue(expression, batch, vector, rows, required, {
          evaluation: this.evaluation,
          scalars: this.scalars,
          numbers: this.numbers.byRow,
        })
    }
    const compared =
      comparedByNumber(expression, batch) ??
      (expression.type === 'binary' ? comparedNumbers(expression, batch, this.numbers) : null)
    if (compared !== null) return compared(rows, required)
    return this.scalarRows(expression, batch, rows, required)
  }

  /** Compares values computed from numbers or dates row by row: there may be as many distinct values as rows. */
  private computedRows(
    expression: AlgebraExpression,
    batch: Batch,
    rows: Uint32Array,
    required: boolean,
  ): Uint32Array | null {
    if (expression.type !== 'binary') return null
    const { left, right } = expression
    if (!isComputed(left) && !isComputed(right)) return null
    return comparedNumbers(expression, batch, this.numbers.byRow)?.(rows, required) ?? null
  }

  /** Evaluates a test for a whole column, or for the positions of points. */
  private calledRows(
    expression: AlgebraExpression,
    batch: Batch,
    rows: Uint32Array,
    required: boolean,
  ): Uint32Array | null {
    const call = columnCall(expression)
    if (call === null || call.called.isTest !== true) return null
    const { called, constants } = call
    const subjects = subjectCall(expression, batch)
    if (subjects !== null && called.overSubjects !== undefined) {
      const { ids, domain } = subjects
      const table = this.evaluation.memo(
        'subjects',
        expression,
        domain,
        () => called.overSubjects?.(constants, domain.graph) ?? null,
      )
      return table === null ? null : rowsMarked(ids, table, required ? 1 : 0, rows)
    }
    const vector = batch.get(call.variable)
    if (vector?.type !== 'ids' || !(vector.domain instanceof ColumnDomain)) return null
    const { ids, domain } = vector
    const part = onlyPartOf(domain)
    if (part?.kind === 'point')
      return rowsOfPoints(expression, vector, part, { rows, required }, this.evaluation)
    const { column } = domain
    const table = this.evaluation.memo(
      'codes',
      expression,
      domain,
      () => called.overCodes?.(constants, column) ?? null,
    )
    if (table === null) return null
    return rowsMarked(ids, table, required ? 1 : 0, rows)
  }

  private scalarRows(
    expression: AlgebraExpression,
    batch: Batch,
    rows: Uint32Array,
    required: boolean,
  ): Uint32Array {
    const scalar = this.scalars.compile(expression, batch)
    if (readsConstants(expression, batch))
      return effectiveBoolean(scalar(rows[0] as number)) === required ? rows : rows.subarray(0, 0)
    const combinations = DENSE_PART * rows.length < batch.size ? null : combinationsOf(expression, batch)
    const known = combinations === null ? null : new Uint8Array(combinations.size)
    const selected = scratchUint32(rows.length)
    let count = 0
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number
      const combination = combinations === null ? 0 : (combinations.numbers[row] as number)
      let truth = known === null ? 0 : (known[combination] as number)
      if (truth === 0) {
        truth = truthOf(scalar(row))
        if (known !== null) known[combination] = truth
      }
      if (truth === (required ? HOLDS : FAILS)) selected[count++] = row
      if (at % 256 === 255) this.evaluation.check()
    }
    return selected.subarray(0, count)
  }
}

type Branches = readonly [test: AlgebraExpression, then: AlgebraExpression, otherwise: AlgebraExpression]

/** True for arithmetic, and for fields of dates. */
function isComputed(expression: AlgebraExpression): boolean {
  return expression.type === 'binary' || expression.type === 'builtin'
}

function boundRows(
  expression: ExpressionOf<'builtin'>,
  batch: Batch,
  rows: Uint32Array,
  required: boolean,
): Uint32Array {
  const [operand] = expression.arguments
  const vector = operand?.type === 'variable' ? batch.get(operand.name) : undefined
  if (vector === undefined) return required ? rows.subarray(0, 0) : rows
  return rowsBound(vector, rows, required)
}
