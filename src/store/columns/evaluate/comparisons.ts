import { type ComparisonOperator, isOrdered } from '../../../model/comparison.ts'
import { XSD } from '../../../rdf/vocab.ts'
import type { AlgebraExpression, ExpressionOf } from '../../../sparql/algebra.ts'
import type { GraphColumns } from '../graph.ts'
import type { Batch } from './batch.ts'
import { ColumnDomain, type Domain, onlyPartOf, ResourceDomain, SubjectDomain } from './domain.ts'
import type { NumberKernels } from './numbers.ts'
import { isComparison } from './ranges.ts'
import { scratchUint32 } from './scratch.ts'
import type { IdVector } from './vector.ts'

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
  const [left, right] = isDirect ? [first.ids, second.ids] : [resourcesOf(first), resourcesOf(second)]
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

/** The numbers of the resources of rows in their graph; 0 for none. */
function resourcesOf({ domain, ids }: IdVector): Uint32Array {
  if (domain instanceof SubjectDomain) {
    const { subjectResources } = domain.graph
    return numbered(ids, id => subjectResources[id - 1] as number)
  }
  const part = onlyPartOf(domain)
  return part?.kind === 'resource' ? numbered(ids, id => part.ids[id - part.first] as number) : ids
}

function numbered(ids: Uint32Array, numberOf: (id: number) => number): Uint32Array {
  const numbers = scratchUint32(ids.length)
  for (let row = 0; row < ids.length; row++) {
    const id = ids[row] as number
    numbers[row] = id === 0 ? 0 : numberOf(id)
  }
  return numbers
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
