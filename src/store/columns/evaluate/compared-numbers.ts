import { type ComparisonOperator, isOrdered } from '../../../model/comparison.ts'
import type { AlgebraExpression } from '../../../sparql/algebra.ts'
import type { Batch } from './batch.ts'
import type { NumberKernels } from './numbers.ts'
import { isComparison } from './ranges.ts'
import { scratchUint32 } from './scratch.ts'

/** Compares two numeric expressions; null for other expressions. */
export function comparedNumbers(
  { operator, left, right }: Extract<AlgebraExpression, { type: 'binary' }>,
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
