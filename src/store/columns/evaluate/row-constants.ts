import { type AlgebraExpression, variablesOfExpression } from '../../../sparql/algebra.ts'
import type { Batch } from './batch.ts'
import { isStable } from './functions/builtins.ts'

/** True where an expression is the same for all rows of a batch. */
export function readsConstants(expression: AlgebraExpression, batch: Batch): boolean {
  if (!isStable(expression)) return false
  for (const name of variablesOfExpression(expression)) if (batch.get(name)?.type !== 'constant') return false
  return true
}

/** A function with the same value for all rows, computed for the first. */
export function sameForAll<Value>(scalar: (row: number) => Value): (row: number) => Value {
  let known: { readonly value: Value } | null = null
  return row => {
    known ??= { value: scalar(row) }
    return known.value
  }
}
