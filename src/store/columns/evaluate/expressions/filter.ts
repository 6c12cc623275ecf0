import { memoised } from '../../../../model/memoised.ts'
import {
  type AlgebraExpression,
  type ExpressionOf,
  isConstantExpression,
} from '../../../../sparql/algebra.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import { columnCall } from '../functions/extensions.ts'
import { allRows, type Batch } from '../vectors/batch.ts'
import { ColumnDomain, onlyPartOf, SubjectDomain } from '../vectors/domain.ts'
import {
  markInRange,
  markRows,
  markWithBit,
  merged,
  rowsBound,
  rowsInRange,
  rowsMarked,
  rowsOfTable,
  rowsWithBit,
  without,
} from '../vectors/row-filters.ts'
import { scratchUint8, scratchUint32 } from '../vectors/scratch.ts'
import { translated } from '../vectors/translate.ts'
import { termValue } from '../vectors/value.ts'
import { hasWholeValues, type IdVector } from '../vectors/vector.ts'
import {
  combinationsOf,
  comparedByNumber,
  comparedNumbers,
  isWorthTable,
  truthsByValue,
} from './comparisons.ts'
import { isCondition } from './conditions.ts'
import { isOfKind, valueByKind } from './kinds.ts'
import type { NumberKernels } from './numbers.ts'
import { rowsByDistance, rowsOfPoints } from './point-distances.ts'
import { codeRangeOf } from './ranges.ts'
import { readsConstants, type ScalarCompiler, subjectCall } from './scalar.ts'
import { rowsOfShapes } from './shapes.ts'
import { effectiveBoolean, FAILS, HOLDS, type TestedRows, truthOf } from './truths.ts'

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
    return this.rowsWith(condition, { batch, rows: rows ?? allRows(batch.size), required: true })
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

  private rowsWith(expression: AlgebraExpression, tested: TestedRows): Uint32Array {
    const { batch, rows, required } = tested
    if (rows.length === 0) return rows
    this.evaluation.advance(rows.length)
    const within = (part: AlgebraExpression, some = rows, truth = required) =>
      this.rowsWith(part, { batch, rows: some, required: truth })
    switch (expression.type) {
      case 'not':
        return within(expression.operand, rows, !required)
      case 'exists': {
        const mask = this.scalars.exists(expression, batch)
        return rowsOfTable(mask, expression.negated === required ? 0 : 1, rows)
      }
      case 'binary':
        if (expression.operator === '&&' || expression.operator === '||') {
          const { left, operator, right } = expression
          if ((operator === '&&') === required) return within(right, within(left))
          return this.rowsOfAny(junctionParts(expression, operator), tested)
        }
        break
      case 'builtin':
        if (expression.name === 'COALESCE') return this.coalesced(expression, tested)
        if (expression.name === 'BOUND') return boundRows(expression, tested)
        if (expression.name === 'IF' && expression.arguments.length === 3) {
          const [test, then, otherwise] = expression.arguments as Branches
          const yes = within(test, rows, true)
          const no = within(test, without(rows, yes), false)
          return merged(within(then, yes), within(otherwise, no))
        }
        break
      default:
    }
    return this.atomRows(expression, tested)
  }

  /** The rows for which one of several conditions has the required truth. */
  private rowsOfAny(conditions: readonly AlgebraExpression[], tested: TestedRows): Uint32Array {
    const { batch, rows, required } = tested
    const some = rows.length === batch.size ? null : rows
    const table = scratchUint8(batch.size).fill(0)
    const others = some === null ? conditions.filter(each => !this.mark(each, tested, table)) : conditions
    let isMarked = others.length < conditions.length
    for (const condition of others) {
      const rest = isMarked ? rowsOfTable(table, 0, some) : rows
      markRows(table, this.rowsWith(condition, { batch, rows: rest, required }))
      isMarked = true
    }
    return rowsOfTable(table, 1, some)
  }

  /** Marks the rows for which a condition has the required truth; false where it is not decided by the codes of all rows. */
  private mark(condition: AlgebraExpression, tested: TestedRows, table: Uint8Array): boolean {
    const { batch, required } = tested
    if (condition.type === 'not')
      return this.mark(condition.operand, { ...tested, required: !required }, table)
    const vector = this.scalars.soleVector(condition, batch)
    if (vector === null) return false
    const { ids, domain } = vector
    const range = codeRangeOf(condition, domain)
    if (range !== null) markInRange(table, ids, range.from, range.to, range.negated !== required)
    else if (condition.type === 'in' && isWorthTable(condition, domain, batch.size))
      markWithBit(table, ids, this.truthTable(condition, vector, tested), required ? HOLDS : FAILS)
    else return false
    this.evaluation.advance(batch.size)
    return true
  }

  private truthTable(expression: AlgebraExpression, vector: IdVector, tested: TestedRows): Uint8Array {
    const { evaluation, scalars } = this
    return truthsByValue(expression, vector, tested, { evaluation, scalars, numbers: this.numbers.byRow })
  }

  /** Errors of the first are replaced by the second: for `COALESCE(condition, false)` an error is false. */
  private coalesced(expression: ExpressionOf<'builtin'>, tested: TestedRows): Uint32Array {
    const [first, second, ...others] = expression.arguments
    const isTwoValued =
      first !== undefined && second !== undefined && others.length === 0 && isConstantExpression(second)
    if (!isTwoValued || !isCondition(first)) return this.scalarRows(expression, tested)
    const { rows, required } = tested
    const otherwise = effectiveBoolean(termValue(second))
    if (otherwise !== required) return this.rowsWith(first, tested)
    return without(rows, this.rowsWith(first, { ...tested, required: !required }))
  }

  private atomRows(expression: AlgebraExpression, tested: TestedRows): Uint32Array {
    const { batch, rows, required } = tested
    if (isConstantExpression(expression))
      return effectiveBoolean(termValue(expression)) === required ? rows : rows.subarray(0, 0)
    const called =
      this.calledRows(expression, tested) ??
      rowsByDistance(expression, tested, this.evaluation) ??
      rowsOfShapes(expression, tested, this.scalars, this.evaluation)
    if (called !== null) return called
    const vector = this.scalars.soleVector(expression, batch)
    if (vector !== null) {
      const { ids, domain } = vector
      const range = codeRangeOf(expression, domain)
      // All rows are read without a list of them.
      const some = rows.length === batch.size ? null : rows
      if (range !== null) return rowsInRange(ids, range.from, range.to, range.negated !== required, some)
      if (domain instanceof SubjectDomain) {
        const { resources } = domainsOf(domain.graph)
        const range = codeRangeOf(expression, resources)
        if (range !== null)
          return rowsInRange(translated(vector, resources, batch.size), range.from, range.to, required, rows)
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
      // There may be as many distinct computed values as rows.
      const compared = isOfComputed(expression)
        ? comparedNumbers(expression, batch, this.numbers.byRow)
        : null
      if (compared !== null) return compared(rows, required)
      if (isWorthTable(expression, domain, rows.length))
        return rowsWithBit(ids, this.truthTable(expression, vector, tested), required ? HOLDS : FAILS, rows)
    }
    const compared =
      comparedByNumber(expression, batch) ??
      (expression.type === 'binary' ? comparedNumbers(expression, batch, this.numbers) : null)
    if (compared !== null) return compared(rows, required)
    return this.scalarRows(expression, tested)
  }

  /** Evaluates a test for a whole column, or for the positions of points. */
  private calledRows(expression: AlgebraExpression, tested: TestedRows): Uint32Array | null {
    const { batch, rows, required } = tested
    const mark = required ? 1 : 0
    const call = columnCall(expression)
    if (call === null || call.called.isTest !== true) return null
    const { called, constants } = call
    const subjects = subjectCall(expression, batch, this.evaluation)
    if (subjects !== null) return subjects.tests && rowsMarked(subjects.ids, subjects.tests, mark, rows)
    const vector = batch.get(call.variable)
    if (vector?.type !== 'ids' || !(vector.domain instanceof ColumnDomain)) return null
    const { ids, domain } = vector
    const part = onlyPartOf(domain)
    if (part?.kind === 'point') return rowsOfPoints(expression, vector, part, tested, this.evaluation)
    const codes = () => called.overCodes?.(constants, domain.column) ?? null
    const table = this.evaluation.memo('codes', expression, domain, codes)
    return table && rowsMarked(ids, table, mark, rows)
  }

  private scalarRows(expression: AlgebraExpression, { batch, rows, required }: TestedRows): Uint32Array {
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

const PARTS = new WeakMap<AlgebraExpression, readonly AlgebraExpression[]>()

/** The operands of nested conjunctions or disjunctions, in their order. */
function junctionParts(expression: AlgebraExpression, operator: '&&' | '||'): readonly AlgebraExpression[] {
  return memoised(PARTS, expression, () => {
    const parts: AlgebraExpression[] = []
    const add = (part: AlgebraExpression): void => {
      if (part.type !== 'binary' || part.operator !== operator) parts.push(part)
      else for (const side of [part.left, part.right]) add(side)
    }
    add(expression)
    return parts
  })
}

type Branches = readonly [test: AlgebraExpression, then: AlgebraExpression, otherwise: AlgebraExpression]

/** True for a comparison of arithmetic, or of fields of dates. */
function isOfComputed(expression: AlgebraExpression): expression is ExpressionOf<'binary'> {
  const isComputed = ({ type }: AlgebraExpression) => type === 'binary' || type === 'builtin'
  return expression.type === 'binary' && (isComputed(expression.left) || isComputed(expression.right))
}

function boundRows(expression: ExpressionOf<'builtin'>, { batch, rows, required }: TestedRows): Uint32Array {
  const [operand] = expression.arguments
  const vector = operand?.type === 'variable' ? batch.get(operand.name) : undefined
  if (vector === undefined) return required ? rows.subarray(0, 0) : rows
  return rowsBound(vector, rows, required)
}
