/** The operators that compare two values in order. */
export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>='

/** What each operator is with its sides exchanged. */
export const FLIPPED: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  '=': '=',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
}

/** Whether two values relate as the operator says. @param order below, at or above 0: the first is before, at or after the second */
export function isOrdered(operator: ComparisonOperator, order: number): boolean {
  switch (operator) {
    case '=':
      return order === 0
    case '!=':
      return order !== 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
    default:
      return operator satisfies never
  }
}
