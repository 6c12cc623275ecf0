import type { Expression } from '../../language/odsql/ast.ts'
import { isTemporal } from '../../model/field.ts'
import { conjunction, disjunction } from '../conditions.ts'
import { type DateConstant, dateBounds, parseDate } from '../date-literals.ts'
import { type Comparator, type Condition, NEVER, type Scalar, scalarType } from '../plan.ts'
import type { FieldNames } from './context.ts'
import { momentScalar, resolveScalar } from './scalars.ts'

/** The date of a node that is compared with a temporal field; null where it is not a date. */
export function dateOf(node: Expression, names: FieldNames): DateConstant | null {
  const moment = momentScalar(node, names)
  if (moment !== null || !names.context.dialect.bareDates) return moment
  const text = bareDate(node)
  return text === null ? null : parseDate(text)
}

/** `2013/02/11`, which is parsed as two divisions, or a bare year (ODSQL 9.2). */
function bareDate(node: Expression): string | null {
  if (node.type === 'number') return /^\d{1,4}$/.test(node.text) ? node.text : null
  if (node.type !== 'arithmetic' || node.operator !== '/') return null
  const [before, last] = [bareDate(node.left), bareDate(node.right)]
  return before === null || last === null ? null : `${before}/${last}`
}

/** The comparison of a computed date with a literal, as of a field with it; null for other operands. */
export function computedDate(
  left: Expression,
  operator: Comparator,
  right: Expression,
  names: FieldNames,
): Condition | null {
  const moment = left.type === 'call' ? dateOf(right, names) : null
  if (moment === null) return null
  const value = resolveScalar(left, names)
  const of = scalarType(value)
  if (!isTemporal(of)) return null
  const { start, end, isPeriod, insideDay } = dateBounds(moment, of, names.context.timezone)
  const is = (comparator: Comparator, constant: Scalar): Condition => {
    return { type: 'relation', left: value, operator: comparator, right: constant }
  }
  const at = (text: string): Scalar => ({ type: 'constant', value: text, of })
  if (insideDay) {
    if (operator === '=') return NEVER
    return operator === '!=' ? is('=', value) : is(operator.startsWith('<') ? '<=' : '>', at(start))
  }
  if (!isPeriod || (operator !== '=' && operator !== '!=')) return is(operator, at(start))
  if (operator === '=') return conjunction([is('>=', at(start)), end === null ? null : is('<', at(end))])
  return disjunction([is('<', at(start)), end === null ? NEVER : is('>=', at(end))])
}
