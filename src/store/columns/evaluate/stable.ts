import type { Formula } from '../../../sparql/operation.ts'
import { VOLATILE } from './functions/builtins.ts'

/** True for an expression that has the same value for the same values of its variables, within one query. */
export function isStable(formula: Formula): boolean {
  switch (formula.type) {
    case 'binary':
      return isStable(formula.left) && isStable(formula.right)
    case 'not':
    case 'minus':
    case 'plus':
      return isStable(formula.operand)
    case 'builtin':
      return !VOLATILE.has(formula.name) && formula.arguments.every(isStable)
    case 'function':
      return formula.arguments.every(isStable)
    case 'in':
      return isStable(formula.operand) && formula.items.every(isStable)
    case 'exists':
      return false
    default:
      return true
  }
}
