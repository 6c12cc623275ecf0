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
 * An expression in which what reads no variable is the term that it gives: `?day < NOW()`, `?day > xsd:date("2020-01-01")` and
 * `?n > 2 * 500` are comparisons with constants, as a column answers them. What gives an error stays as it is.
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

/** True for a call, which may be without operands. */
function isCall({ type }: AlgebraExpression): boolean {
  return type === 'builtin' || type === 'function'
}
