import { FLIPPED } from '../../model/comparison.ts'
import type { Field } from '../../model/field.ts'
import { conjunction, disjunction, negate } from '../conditions.ts'
import { type Comparator, type Condition, type ElementTest, NEVER, planParts, type Scalar } from '../plan.ts'

/**
 * The condition that some value of a field satisfies another condition, in which it is the `element` of a number: as a condition
 * of the field itself where that is equivalent, because such conditions are looked up.
 */
export function someValue(field: Field, number: number, condition: Condition): Condition {
  const present: Condition = { type: 'present', field }
  if (condition.type === 'always') return condition.value ? present : NEVER
  if (!mentions(condition, number)) return conjunction([present, condition])
  if (condition.type === 'or')
    return disjunction(condition.operands.map(operand => someValue(field, number, operand)))
  if (condition.type === 'and') {
    const about = condition.operands.filter(operand => mentions(operand, number))
    const [only] = about
    const others = condition.operands.filter(operand => !mentions(operand, number))
    if (only !== undefined && about.length === 1)
      return conjunction([someValue(field, number, only), ...others])
    if (others.length > 0)
      return conjunction([{ type: 'some', field, number, condition: conjunction(about) }, ...others])
  }
  return ofField(field, number, condition) ?? { type: 'some', field, number, condition }
}

/** The condition that a collection has a value that is counted. */
export function someOf({ field, where }: { readonly field: Field; readonly where?: ElementTest }): Condition {
  return where === undefined ? { type: 'present', field } : someValue(field, where.number, where.condition)
}

const OPPOSITE: Readonly<Record<Comparator, Comparator>> = {
  '=': '!=',
  '!=': '=',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
}

/** A comparison of the element, or its prefix, as a condition of the field; null for any other. */
function ofField(field: Field, number: number, condition: Condition): Condition | null {
  if (condition.type === 'not') {
    const inner = ofField(field, number, condition.operand)
    return inner?.type === 'compare' ? { ...inner, operator: OPPOSITE[inner.operator] } : null
  }
  if (condition.type !== 'relation') return null
  const { left, operator, right } = condition
  if (isElement(left, number) && right.type === 'constant')
    return { type: 'compare', field, operator, value: right.value }
  if (isElement(right, number) && left.type === 'constant')
    return { type: 'compare', field, operator: FLIPPED[operator], value: left.value }
  const isTrue = operator === '=' && right.type === 'constant' && right.value === true
  if (left.type !== 'function' || left.name !== 'startsWith' || !isTrue) return null
  const [text, start] = left.arguments
  if (text === undefined || !isElement(text, number) || start?.type !== 'constant') return null
  return { type: 'startsWith', field, text: String(start.value) }
}

function isElement(scalar: Scalar, number: number): boolean {
  return scalar.type === 'element' && scalar.number === number
}

/** True where a condition or value refers to the element of a number. */
function mentions(node: Condition | Scalar, number: number): boolean {
  return (
    (node.type === 'element' && node.number === number) ||
    planParts(node).some(part => mentions(part, number))
  )
}

/** The condition that every value of a field satisfies another condition; it holds if there are no values. */
export function everyValue(field: Field, number: number, condition: Condition): Condition {
  return negate(someValue(field, number, negate(condition)))
}
