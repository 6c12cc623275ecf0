import type { AlgebraExpression, OrderCondition } from '../../../sparql/algebra.ts'

/** A key of an order, and where solutions are that have no value of it. */
export interface SortKey extends OrderCondition {
  /** True where no value comes above all values, false where it comes below them as the recommendation has it. */
  readonly isAbsentHighest: boolean
}

/**
 * The keys of an order (SPARQL 1.1 Query, section 15.1). A key that only tells whether a variable is bound is one with the
 * variable itself where that is the next key: it tells nothing but where solutions without a value go.
 */
export function sortKeys(conditions: readonly OrderCondition[]): readonly SortKey[] {
  const keys: SortKey[] = []
  for (let at = 0; at < conditions.length; at++) {
    const condition = conditions[at] as OrderCondition
    const next = conditions[at + 1]
    const tested = testedForAbsence(condition)
    const isOfNext =
      tested !== null && next?.expression.type === 'variable' && next.expression.name === tested.variable
    if (isOfNext) at += 1
    keys.push(
      isOfNext
        ? { ...next, isAbsentHighest: tested.isAbsentLast !== next.descending }
        : { ...condition, isAbsentHighest: false },
    )
  }
  return keys
}

/** The variable of a key that is `BOUND(?x)` or `!BOUND(?x)`, and whether it puts solutions without a value last; null for others. */
function testedForAbsence({
  expression,
  descending,
}: OrderCondition): { readonly variable: string; readonly isAbsentLast: boolean } | null {
  const isNegated = expression.type === 'not'
  const test: AlgebraExpression = isNegated ? expression.operand : expression
  if (test.type !== 'builtin' || test.name !== 'BOUND') return null
  const [operand] = test.arguments
  return operand?.type === 'variable'
    ? { variable: operand.name, isAbsentLast: isNegated !== descending }
    : null
}
