import { memoised } from '../../../../model/memoised.ts'
import {
  type AlgebraExpression,
  isConstantExpression,
  operandsOf,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import { isStable } from '../functions/builtins.ts'
import { isTestFunction } from '../functions/extensions.ts'
import { termOf, termValue } from '../vectors/value.ts'
import { isComparison } from './ranges.ts'
import type { ScalarCompiler } from './scalar.ts'

/** Functions whose value is a boolean or an error. */
const TESTS: ReadonlySet<string> = new Set([
  'BOUND',
  'REGEX',
  'CONTAINS',
  'STRSTARTS',
  'STRENDS',
  'SAMETERM',
  'LANGMATCHES',
  'ISIRI',
  'ISURI',
  'ISBLANK',
  'ISLITERAL',
  'ISNUMERIC',
])

/** True for an expression whose value is a boolean or an error, so that testing whether it is true determines its value. */
export function isCondition(expression: AlgebraExpression): boolean {
  switch (expression.type) {
    case 'not':
    case 'exists':
    case 'in':
      return true
    case 'binary':
      return isComparison(expression.operator) || expression.operator === '&&' || expression.operator === '||'
    case 'builtin':
      return TESTS.has(expression.name)
    case 'function':
      return isTestFunction(expression.iri)
    default:
      return false
  }
}

const PLAIN = new WeakMap<AlgebraExpression, AlgebraExpression>()

/** Simplifies comparisons of conditions with true and false, as in OData and generated queries. */
export function plainCondition(condition: AlgebraExpression): AlgebraExpression {
  return memoised(PLAIN, condition, () => withoutTruths(condition))
}

function withoutTruths(condition: AlgebraExpression): AlgebraExpression {
  switch (condition.type) {
    case 'not': {
      const operand = plainCondition(condition.operand)
      return operand === condition.operand ? condition : { type: 'not', operand }
    }
    case 'builtin': {
      // The first is tested; where it is an error, the second.
      const [first, ...others] = condition.arguments
      if (condition.name !== 'COALESCE' || first === undefined || !isCondition(first)) return condition
      const plain = plainCondition(first)
      return plain === first ? condition : { ...condition, arguments: [plain, ...others] }
    }
    case 'binary': {
      const { operator, left, right } = condition
      if (operator === '&&' || operator === '||') {
        const sides = [plainCondition(left), plainCondition(right)] as const
        return sides[0] === left && sides[1] === right
          ? condition
          : { type: 'binary', operator, left: sides[0], right: sides[1] }
      }
      if (operator !== '=' && operator !== '!=') return condition
      const [truth, tested] = booleanOf(right) === null ? [booleanOf(left), right] : [booleanOf(right), left]
      if (truth === null || !isCondition(tested)) return condition
      const operand = plainCondition(tested)
      return truth === (operator === '=') ? operand : { type: 'not', operand }
    }
    default:
      return condition
  }
}

function booleanOf(expression: AlgebraExpression): boolean | null {
  const value = expression.type === 'literal' ? termValue(expression) : null
  return value?.type === 'boolean' ? value.value : null
}

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
