import { all, any, negate } from '../conditions.ts'
import type { Comparator, Condition } from '../plan.ts'
import { technicalName } from '../technical.ts'
import type { Scope } from './scope.ts'

/** Equality has none here: to take out what a look-up finds is quicker than to look at every other value. */
const OPPOSITE: Readonly<Partial<Record<Comparator, Comparator>>> = {
  '!=': '=',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
}

/**
 * An equivalent condition that finds records where the given one only tests them: `not` goes to the leaves of an `or`,
 * and a comparison of a field that every record has once turns into its opposite. Statistics tell which fields these are.
 */
export function simplify(condition: Condition, scope: Scope): Condition {
  switch (condition.type) {
    case 'and':
      return (
        all(condition.operands.map(operand => simplify(operand, scope))) ?? { type: 'always', value: true }
      )
    case 'or':
      return any(condition.operands.map(operand => simplify(operand, scope)))
    case 'not':
      return negated(simplify(condition.operand, scope), scope)
    default:
      return condition
  }
}

function negated(condition: Condition, scope: Scope): Condition {
  switch (condition.type) {
    case 'or':
      return (
        all(condition.operands.map(operand => negated(operand, scope))) ?? { type: 'always', value: true }
      )
    case 'and': {
      const opposites = condition.operands.map(operand => negated(operand, scope))
      return opposites.some(({ type }) => type === 'not') ? negate(condition) : any(opposites)
    }
    case 'compare': {
      const { field } = condition
      const everyRecordHasOne =
        !field.multivalued && (technicalName(field) !== undefined || scope.isComplete(field))
      const operator = OPPOSITE[condition.operator]
      if (!everyRecordHasOne || operator === undefined) return negate(condition)
      return { ...condition, operator }
    }
    case 'present':
      return scope.isComplete(condition.field) ? { type: 'always', value: false } : negate(condition)
    default:
      return negate(condition)
  }
}
