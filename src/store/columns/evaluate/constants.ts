import {
  type AlgebraExpression,
  isConstantExpression,
  operandsOf,
  variablesOfExpression,
} from '../../../sparql/algebra.ts'
import { isStable } from './functions/builtins.ts'
import type { ScalarCompiler } from './scalar.ts'
import { termOf } from './value.ts'

/**
 * Replaces subexpressions without variables by their values: `?day < NOW()`, `?day > xsd:date("2020-01-01")` and `?n > 2 * 500`
 * become comparisons with constants, which columns can answer. Subexpressions that are errors stay unchanged.
 */
export function withConstants(expression: AlgebraExpression, scalars: ScalarCompiler): AlgebraExpression {
  if (isConstantExpression(expression) || operandsOf(expression).length + Number(isCall(expression)) === 0)
    return expression
  if (variablesOfExpression(expression).size === 0 && isStable(expression)) {
    const value = scalars.over(expression, new Map(), 1)(0)
    const term = value === null ? null : termOf(value)
    return term === null || term.type === 'triple' ? expression : term
  }
  const within = (operand: AlgebraExpression) => withConstants(operand, scalars)
  switch (expression.type) {
    case 'binary': {
      const [left, right] = [within(expression.left), within(expression.right)]
      const isSame = left === expression.left && right === expression.right
      return isSame ? expression : { ...expression, left, right }
    }
    case 'not': {
      const operand = within(expression.operand)
      return operand === expression.operand ? expression : { ...expression, operand }
    }
    default:
      return expression
  }
}

/** True for a call, which may have no operands. */
function isCall({ type }: AlgebraExpression): boolean {
  return type === 'builtin' || type === 'function'
}
