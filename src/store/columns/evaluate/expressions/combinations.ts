import { type AlgebraExpression, variablesOfExpression } from '../../../../sparql/algebra.ts'
import { isStable } from '../functions/builtins.ts'
import type { Batch } from '../vectors/batch.ts'
import { scratchUint32 } from '../vectors/scratch.ts'
import type { IdVector } from '../vectors/vector.ts'

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
