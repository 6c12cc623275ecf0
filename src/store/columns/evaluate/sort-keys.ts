import type { AlgebraExpression, OrderCondition } from '../../../sparql/algebra.ts'

/** A key of an order, and the position of solutions without a value of it. */
export interface SortKey extends OrderCondition {
  /** True where unbound sorts above all values, false where it sorts below them, as in the recommendation. */
  readonly isAbsentHighest: boolean
}

/**
 * The keys of an order (SPARQL 1.1 Query, section 15.1). A key that only tests whether a variable is bound is merged with a
 * following key of the variable itself: it only determines where solutions without a value sort.
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

/** The variable of a key `BOUND(?x)` or `!BOUND(?x)`, and whether it sorts solutions without a value last; null for other keys. */
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
