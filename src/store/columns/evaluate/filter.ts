import type { Formula } from '../../../sparql/operation.ts'
import type { PointPart } from '../dictionary-parts.ts'
import { allRows, type Batch } from './batch.ts'
import { isConstantExpression } from './constants.ts'
import { ColumnDomain, type Domain, onlyPartOf } from './domain.ts'
import type { Evaluation } from './evaluation.ts'
import { type ColumnCall, columnCall, isTestFunction } from './functions/extensions.ts'
import { comparedNumbers, type NumberKernels } from './numbers.ts'
import { pointsNear } from './points.ts'
import { codeRangeOf, isComparison } from './ranges.ts'
import { effectiveBoolean, type ScalarCompiler, subjectCall } from './scalar.ts'
import { scratchUint32 } from './scratch.ts'
import { merged, rowsBound, rowsInRange, rowsMarked, rowsWithBit, without } from './selection.ts'
import {
  bothHold,
  eitherHolds,
  FAILS,
  HOLDS,
  nextUnknown,
  rangeTruths,
  reversed,
  rowsThat,
  type Truths,
  truthsFor,
  writeKnown,
} from './truths.ts'
import { termValue } from './value.ts'

/** Points up to which each is tested. */
const FEW_POINTS = 2048

/** What tables of truths have beside the bits of those that hold and fail; 0 is not known yet. */
const ERROR = 4

/** A disjunction is worked out for all rows of a batch at once where it is asked of one in so many of them. */
const DENSE_PART = 2

/** Domains with more values than this many times the rows get no table of truths. */
const TABLE_FACTOR = 8

/**
 * Finds the rows of batches for which conditions hold. Rows are rising numbers; a condition is asked of the rows that the
 * ones before it left. What holds and what fails are asked apart, for an error is neither (SPARQL 1.1 Query, section 17.2).
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

  /** The rows, of some or of all, for which a condition is true. */
  select(condition: Formula, batch: Batch, rows: Uint32Array | null = null): Uint32Array {
    return rows === null ? this.rowsOfAll(condition, batch) : this.rowsWith(condition, batch, rows, true)
  }

  /** A range of one column is read without a list of the rows before it. */
  private rowsOfAll(condition: Formula, batch: Batch): Uint32Array {
    if (condition.type === 'binary' && condition.operator === '&&')
      return this.rowsWith(condition.right, batch, this.rowsOfAll(condition.left, batch), true)
    const vector = condition.type === 'binary' ? this.scalars.soleVector(condition, batch) : null
    const range =
      vector === null || condition.type !== 'binary' ? null : codeRangeOf(condition, vector.domain)
    if (vector === null || range === null) return this.rowsWith(condition, batch, allRows(batch.size), true)
    this.evaluation.advance(batch.size)
    return rowsInRange(vector.ids, range.from, range.to, !range.negated, null)
  }

  /** @param required false asks for the rows for which the condition is false */
  private rowsWith(formula: Formula, batch: Batch, rows: Uint32Array, required: boolean): Uint32Array {
    if (rows.length === 0) return rows
    this.evaluation.advance(rows.length)
    switch (formula.type) {
      case 'not':
        return this.rowsWith(formula.operand, batch, rows, !required)
      case 'binary':
        if (formula.operator === '&&' || formula.operator === '||') {
          const { left, right } = formula
          if ((formula.operator === '&&') === required)
            return this.rowsWith(right, batch, this.rowsWith(left, batch, rows, required), required)
          const truths = DENSE_PART * rows.length < batch.size ? null : this.truths(formula, batch)
          if (truths !== null)
            return rowsThat(truths, required ? HOLDS : FAILS, rows.length === batch.size ? null : rows)
          const first = this.rowsWith(left, batch, rows, required)
          const rest = without(rows, first)
          return merged(first, this.rowsWith(right, batch, rest, required))
        }
        break
      case 'builtin':
        if (formula.name === 'COALESCE') return this.coalesced(formula.arguments, batch, rows, required)
        if (formula.name === 'BOUND') return boundRows(formula, batch, rows, required)
        if (formula.name === 'IF' && formula.arguments.length === 3) {
          const [test, then, otherwise] = formula.arguments as [Formula, Formula, Formula]
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
    return this.atomRows(formula, batch, rows, required)
  }

  /** The truth of a condition for all rows; null where some part of it is no test of the values of one column. */
  private truths(formula: Formula, batch: Batch): Truths | null {
    if (formula.type === 'not') {
      const operand = this.truths(formula.operand, batch)
      return operand === null ? null : reversed(operand)
    }
    if (formula.type === 'binary' && (formula.operator === '&&' || formula.operator === '||')) {
      const left = this.truths(formula.left, batch)
      const right = left === null ? null : this.truths(formula.right, batch)
      if (left === null || right === null) return null
      return formula.operator === '&&' ? bothHold(left, right) : eitherHolds(left, right)
    }
    const vector = this.scalars.soleVector(formula, batch)
    if (vector === null || columnCall(formula) !== null) return null
    this.evaluation.advance(batch.size)
    const { ids, domain } = vector
    const range = formula.type === 'binary' ? codeRangeOf(formula, domain) : null
    if (range !== null) return rangeTruths(ids, range.from, range.to, !range.negated)
    if (domain.size > TABLE_FACTOR * batch.size + 64) return null
    const truths = truthsFor(batch.size)
    const { bytes } = truths
    const { table, truthAt } = this.tableOf(formula, batch, domain)
    for (
      let row = writeKnown(bytes, table, ids, 0);
      row < bytes.length;
      row = writeKnown(bytes, table, ids, row)
    )
      truthAt(row, ids[row] as number)
    return truths
  }

  /** Errors of the first go to the second: of `COALESCE(condition, false)` what does not hold is false. */
  private coalesced(
    parts: readonly Formula[],
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

  private atomRows(formula: Formula, batch: Batch, rows: Uint32Array, required: boolean): Uint32Array {
    if (isConstantExpression(formula))
      return effectiveBoolean(termValue(formula)) === required ? rows : rows.subarray(0, 0)
    const called = this.calledRows(formula, batch, rows, required)
    if (called !== null) return called
    const vector = this.scalars.soleVector(formula, batch)
    if (vector !== null) {
      const { ids, domain } = vector
      const range = formula.type === 'binary' ? codeRangeOf(formula, domain) : null
      if (range !== null) return rowsInRange(ids, range.from, range.to, range.negated !== required, rows)
      if (domain.size <= TABLE_FACTOR * rows.length + 64)
        return this.tableRows(formula, batch, domain, ids, rows, required)
    }
    if (formula.type === 'binary') {
      const compared = comparedNumbers(formula, batch, this.numbers)
      if (compared !== null) return compared(rows, required)
    }
    return this.scalarRows(formula, batch, rows, required)
  }

  /** A test that a function makes of a whole column, or of the positions of points. */
  private calledRows(
    formula: Formula,
    batch: Batch,
    rows: Uint32Array,
    required: boolean,
  ): Uint32Array | null {
    const call = columnCall(formula)
    if (call === null || call.called.isTest !== true) return null
    const { called, constants } = call
    const subjects = subjectCall(formula, batch)
    if (subjects !== null && called.overSubjects !== undefined) {
      const { ids, domain } = subjects
      const table = this.evaluation.memo(
        'subjects',
        formula,
        domain,
        () => called.overSubjects?.(constants, domain.graph) ?? null,
      )
      return table === null ? null : rowsMarked(ids, table, required ? 1 : 0, rows)
    }
    const vector = batch.get(call.variable)
    if (vector?.type !== 'ids' || !(vector.domain instanceof ColumnDomain)) return null
    const { ids, domain } = vector
    const part = onlyPartOf(domain)
    if (part?.kind === 'point') return this.pointRows(formula, call, { ids, domain, part }, rows, required)
    const { column } = domain
    const table = this.evaluation.memo(
      'codes',
      formula,
      domain,
      () => called.overCodes?.(constants, column) ?? null,
    )
    if (table === null) return null
    return rowsMarked(ids, table, required ? 1 : 0, rows)
  }

  /** A test of points: of each of few, else of those near the place that it is about. */
  private pointRows(
    formula: Formula,
    call: ColumnCall,
    {
      ids,
      domain,
      part,
    }: { readonly ids: Uint32Array; readonly domain: ColumnDomain; readonly part: PointPart },
    rows: Uint32Array,
    required: boolean,
  ): Uint32Array | null {
    const table =
      rows.length < FEW_POINTS
        ? null
        : this.evaluation.memo('points marked', formula, domain, () =>
            marked(pointsNear(formula, null, domain, this.evaluation), domain.size),
          )
    if (table !== null) return rowsMarked(ids, table, required ? 1 : 0, rows)
    const test = this.evaluation.memo(
      'points',
      formula,
      domain,
      () => call.called.overPoints?.(call.constants) ?? null,
    )
    if (test === null) return null
    const { longitudes, latitudes, first } = part
    const want = required ? 1 : 0
    const selected = scratchUint32(rows.length)
    let count = 0
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number
      const id = ids[row] as number
      if (id !== 0 && test(longitudes[id - first] as number, latitudes[id - first] as number) === want)
        selected[count++] = row
    }
    return selected.subarray(0, count)
  }

  /** Works the condition out once for each value of a domain. */
  private tableRows(
    formula: Formula,
    batch: Batch,
    domain: Domain,
    ids: Uint32Array,
    rows: Uint32Array,
    required: boolean,
  ): Uint32Array {
    const { table, truthAt } = this.tableOf(formula, batch, domain)
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

  /** A table of what is known of the values of a domain, and what works out the truth of one that is not. */
  private tableOf(formula: Formula, batch: Batch, domain: Domain) {
    const held = this.evaluation.memo('truths', formula, domain, () => ({
      table: new Uint8Array(domain.size + 1),
    }))
    // The pool of a query grows from batch to batch.
    if (held.table.length <= domain.size) {
      const larger = new Uint8Array(2 * (domain.size + 1))
      larger.set(held.table)
      held.table = larger
    }
    const { table } = held
    const scalar = this.scalars.compile(formula, batch)
    let worked = 0
    const truthAt = (row: number, id: number): number => {
      const value = effectiveBoolean(scalar(row))
      const truth = value === null ? ERROR : value ? HOLDS : FAILS
      table[id] = truth
      if (++worked % 256 === 0) this.evaluation.check()
      return truth
    }
    return { table, truthAt }
  }

  private scalarRows(formula: Formula, batch: Batch, rows: Uint32Array, required: boolean): Uint32Array {
    const scalar = this.scalars.compile(formula, batch)
    const selected = scratchUint32(rows.length)
    let count = 0
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number
      if (effectiveBoolean(scalar(row)) === required) selected[count++] = row
      if (at % 256 === 255) this.evaluation.check()
    }
    return selected.subarray(0, count)
  }
}

/** A table of codes: 1 for those that are listed. */
function marked(codes: Uint32Array | null, size: number): Uint8Array | null {
  if (codes === null) return null
  const table = new Uint8Array(size + 1)
  for (let at = 0; at < codes.length; at++) table[codes[at] as number] = 1
  return table
}

/** Functions whose value is a boolean or an error. */
const TESTS: ReadonlySet<string> = new Set([
  'BOUND',
  'REGEX',
  'CONTAINS',
  'STRSTARTS',
  'STRENDS',
  'SAMETERM',
  'LANGMATCHES',
  'ISIRI',
  'ISURI',
  'ISBLANK',
  'ISLITERAL',
  'ISNUMERIC',
])

/** True for an expression whose value is a boolean or an error, so that asking whether it holds says all of it. */
function isCondition(formula: Formula): boolean {
  switch (formula.type) {
    case 'not':
    case 'exists':
    case 'in':
      return true
    case 'binary':
      return isComparison(formula.operator) || formula.operator === '&&' || formula.operator === '||'
    case 'builtin':
      return TESTS.has(formula.name)
    case 'function':
      return isTestFunction(formula.iri)
    default:
      return false
  }
}

function boundRows(
  formula: Extract<Formula, { type: 'builtin' }>,
  batch: Batch,
  rows: Uint32Array,
  required: boolean,
): Uint32Array {
  const [operand] = formula.arguments
  const vector = operand?.type === 'variable' ? batch.get(operand.name) : undefined
  if (vector === undefined) return required ? rows.subarray(0, 0) : rows
  return rowsBound(vector, rows, required)
}
