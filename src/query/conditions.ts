import { ALL, type Condition } from './plan.ts'

/** Conjunction without nesting and without conditions that say nothing; null stands for "all records". */
export function all(conditions: readonly (Condition | null)[]): Condition | null {
  const operands = conditions.flatMap(condition => {
    if (condition === null || (condition.type === 'always' && condition.value)) return []
    return condition.type === 'and' ? condition.operands : [condition]
  })
  if (operands.some(isNever)) return { type: 'always', value: false }
  return operands.length <= 1 ? (operands[0] ?? null) : { type: 'and', operands }
}

/** Disjunction without nesting and without conditions that never hold. */
export function any(conditions: readonly Condition[]): Condition {
  const operands = conditions
    .flatMap(condition => (condition.type === 'or' ? condition.operands : [condition]))
    .filter(condition => !isNever(condition))
  if (operands.some(condition => condition.type === 'always')) return ALL
  return operands.length === 1 && operands[0] !== undefined
    ? operands[0]
    : operands.length === 0
      ? { type: 'always', value: false }
      : { type: 'or', operands }
}

/** Negation, two-valued. */
export function negate(condition: Condition): Condition {
  if (condition.type === 'always') return { type: 'always', value: !condition.value }
  return condition.type === 'not' ? condition.operand : { type: 'not', operand: condition }
}

function isNever(condition: Condition): boolean {
  return condition.type === 'always' && !condition.value
}
