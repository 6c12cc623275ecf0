import type { Batch } from '../vectors/batch.ts'
import type { TermValue } from '../vectors/value.ts'

/** The truth of a condition in tables by value: it holds, it fails, or it is an error; 0 means not computed yet. */
export const [HOLDS, FAILS, ERROR] = [1, 2, 4] as const

/** The effective boolean value (SPARQL 1.1 Query, section 17.2.2); null is an error. */
export function effectiveBoolean(value: TermValue | null): boolean | null {
  if (value === null) return null
  switch (value.type) {
    case 'boolean':
      return value.value
    case 'number':
      return value.value !== 0 && !Number.isNaN(value.value)
    case 'text':
      return value.language === '' ? value.value !== '' : null
    default:
      return null
  }
}

/** The truth of the value of a condition, as in tables. */
export function truthOf(value: TermValue | null): number {
  const holds = effectiveBoolean(value)
  return holds === null ? ERROR : holds ? HOLDS : FAILS
}

/** Rows of a batch, and the truth that a condition must have for those of them that are selected. */
export interface TestedRows {
  readonly batch: Batch
  readonly rows: Uint32Array
  readonly required: boolean
}
