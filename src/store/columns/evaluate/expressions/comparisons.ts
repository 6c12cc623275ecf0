import { type ComparisonOperator, isOrdered } from '../../../../model/comparison.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import {
  type AlgebraExpression,
  type ExpressionOf,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import { grown } from '../../bytes.ts'
import type { GraphColumns } from '../../graph.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import { isStable } from '../functions/builtins.ts'
import { allRows, Batch } from '../vectors/batch.ts'
import { ColumnDomain, type Domain, onlyPartOf, ResourceDomain, SubjectDomain } from '../vectors/domain.ts'
import { scratchUint32 } from '../vectors/scratch.ts'
import { translated } from '../vectors/translate.ts'
import { hasWholeValues, type IdVector } from '../vectors/vector.ts'
import { markResources } from './iri-tests.ts'
import type { NumberKernels } from './numbers.ts'
import { isComparison } from './ranges.ts'
import { isByteTest, readTextTest } from './read-text-test.ts'
import type { ScalarCompiler } from './scalar.ts'
import { markKnownTruths } from './text-tests.ts'
import { FAILS, HOLDS, type TestedRows, truthOf } from './truths.ts'

/**
 * Selects the rows in which two variables are equal or different (`=`, `!=` and `sameTerm`), by the numbers of their terms: those
 * of resources of one graph, or of values of one column; null for other conditions, and for variables that may have other values.
 */
export function comparedByNumber(
  expression: AlgebraExpression,
  batch: Batch,
): ((rows: Uint32Array, required: boolean) => Uint32Array) | null {
  const operands = comparedVariables(expression)
  if (operands === null) return null
  const [first, second] = operands.names.map(name => batch.get(name))
  if (first?.type !== 'ids' || second?.type !== 'ids') return null
  const isDirect = first.domain === second.domain && areEqualByNumber(first.domain)
  const graph = isDirect ? null : graphOfResources(first.domain)
  if (!isDirect && (graph === null || graph !== graphOfResources(second.domain))) return null
  const [left, right] = [first, second].map(vector =>
    graph === null ? vector.ids : translated(vector, domainsOf(graph).resources, batch.size),
  ) as [Uint32Array, Uint32Array]
  return (rows, required) => rowsAlike(left, right, rows, operands.areAlike === required)
}

function comparedVariables(
  expression: AlgebraExpression,
): { readonly names: readonly [string, string]; readonly areAlike: boolean } | null {
  const [left, right] =
    expression.type === 'binary' && (expression.operator === '=' || expression.operator === '!=')
      ? [expression.left, expression.right]
      : expression.type === 'builtin' && expression.name === 'SAMETERM'
        ? expression.arguments
        : []
  if (left?.type !== 'variable' || right?.type !== 'variable') return null
  const areAlike = expression.type !== 'binary' || expression.operator === '='
  return { names: [left.name, right.name], areAlike }
}

/** True where two values of a domain are equal exactly if their numbers are equal. */
function areEqualByNumber(domain: Domain): boolean {
  if (domain instanceof SubjectDomain) return true
  const part = domain instanceof ColumnDomain ? onlyPartOf(domain) : null
  switch (part?.kind) {
    case 'resource':
      return true
    case 'text':
      return new Set(part.languages.map(language => language.toLowerCase())).size === part.languages.length
    case 'number':
      // NaN does not equal itself; a float equals numbers that are rounded to it.
      return (
        !part.datatypes.includes(XSD.float) &&
        domain.ranks() === null &&
        !Number.isNaN(part.values[part.count - 1])
      )
    default:
      return false
  }
}

/** The graph whose resources all values of a domain are; null for other domains. */
function graphOfResources(domain: Domain): GraphColumns | null {
  if (domain instanceof ResourceDomain || domain instanceof SubjectDomain) return domain.graph
  return domain instanceof ColumnDomain && onlyPartOf(domain)?.kind === 'resource' ? domain.graph : null
}

/** The rows in which both numbers are present, and are equal or not. Branchless: see row-filters.ts. */
function rowsAlike(left: Uint32Array, right: Uint32Array, rows: Uint32Array, areAlike: boolean): Uint32Array {
  const flip = areAlike ? 0 : 1
  const selected = scratchUint32(rows.length)
  let count = 0
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number
    const a = left[row] as number
    const b = right[row] as number
    selected[count] = row
    count += Number(a !== 0) & Number(b !== 0) & (Number(a === b) ^ flip)
  }
  return selected.subarray(0, count)
}

/** Compares two numeric expressions; null for other expressions. */
export function comparedNumbers(
  { operator, left, right }: ExpressionOf<'binary'>,
  batch: Batch,
  kernels: NumberKernels,
): ((rows: Uint32Array, required: boolean) => Uint32Array) | null {
  if (!isComparison(operator)) return null
  const a = kernels.vector(left, batch)
  const b = a === null ? null : kernels.vector(right, batch)
  if (a === null || b === null) return null
  return (rows, required) => compared(a.values, b.values, rows, selectedOrders(operator, required))
}

const [LESS, EQUAL, GREATER] = [1, 2, 4]

/** The orders of two numbers for which a comparison has the required result, one bit each. */
function selectedOrders(operator: ComparisonOperator, required: boolean): number {
  const bitOf = (order: number, bit: number): number => (isOrdered(operator, order) === required ? bit : 0)
  return bitOf(-1, LESS) | bitOf(0, EQUAL) | bitOf(1, GREATER)
}

/** The rows whose numbers have one of the given orders (as bits); NaN has none. Branchless: see row-filters.ts. */
function compared(x: Float64Array, y: Float64Array, rows: Uint32Array, orders: number): Uint32Array {
  const [less, equal, greater] = [orders & 1, (orders >> 1) & 1, (orders >> 2) & 1]
  const selected = scratchUint32(rows.length)
  let count = 0
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number
    const p = x[row] as number
    const q = y[row] as number
    selected[count] = row
    count += (less & Number(p < q)) | (equal & Number(p === q)) | (greater & Number(p > q))
  }
  return selected.subarray(0, count)
}

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
 * The truths of a condition on the values of one column by value, computed for those of the tested rows: once for each value.
 *
 * @param numbers computes numbers row by row
 */
export function truthsByValue(
  expression: AlgebraExpression,
  vector: IdVector,
  { batch, rows }: TestedRows,
  { evaluation, scalars, numbers }: TruthContext,
): Uint8Array {
  const { ids, domain } = vector
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
  let unknown = unknownIn(table, vector, rows)
  let worked = 0
  for (let at = 0; unknown > 0; unknown--) {
    at = nextUnknown(table, ids, rows, at)
    if (at === rows.length) break
    const row = rows[at] as number
    table[ids[row] as number] = truthOf(scalar(row))
    if (++worked % 256 === 0) evaluation.check()
  }
  return table
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

/** The number of values whose truth is unknown, among those that rows may have; infinite where counting them costs more than it saves. */
function unknownIn(table: Uint8Array, vector: IdVector, rows: Uint32Array): number {
  if (table.length > rows.length / 4) return Number.POSITIVE_INFINITY
  let unknown = 0
  for (let id = hasWholeValues(vector) ? 1 : 0; id < table.length; id++) if (table[id] === 0) unknown++
  return unknown
}

/** The index of the next row of a list whose truth is unknown. */
function nextUnknown(table: Uint8Array, ids: Uint32Array, rows: Uint32Array, from: number): number {
  const length = rows.length | 0
  for (let at = from | 0; at < length; at++) if (table[ids[rows[at] as number] as number] === 0) return at
  return length
}

/** An expression is evaluated once per combination of values where there are this many times more rows than combinations. */
const ROWS_A_COMBINATION = 4

/** The combination number of each row of a batch, for the values that an expression reads; numbers are below `size`. */
interface Combinations {
  readonly numbers: Uint32Array
  readonly size: number
}

/**
 * The combinations of values that a stable expression of several variables reads; null if they are many, or terms have no
 * numbers.
 */
export function combinationsOf(expression: AlgebraExpression, batch: Batch): Combinations | null {
  const names = [...variablesOfExpression(expression)]
  if (names.length < 2 || !isStable(expression)) return null
  const vectors: IdVector[] = []
  for (const name of names) {
    const vector = batch.get(name)
    if (vector?.type === 'numbers') return null
    if (vector?.type === 'ids') vectors.push(vector)
  }
  // The domain of computed terms grows as variables are read: by now all of them are read.
  const widths = vectors.map(({ domain }) => domain.size + 1)
  const size = widths.reduce((product, width) => product * width, 1)
  if (ROWS_A_COMBINATION * size > batch.size) return null
  const numbers = scratchUint32(batch.size).fill(0)
  for (const [at, { ids }] of vectors.entries()) {
    const width = widths[at] as number
    for (let row = 0; row < numbers.length; row++)
      numbers[row] = Math.imul(numbers[row] as number, width) + (ids[row] as number)
  }
  return { numbers, size }
}
