/** The operators that compare two ordered values. */
export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>='

/** Each operator with its operands exchanged. */
export const FLIPPED: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  '=': '=',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
}

/** Whether an order satisfies an operator. @param order below, at or above 0: the first value is before, at or after the second */
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
  }
}
