import type { Expression } from '../../language/odsql/ast.ts'
import { type DateConstant, parseDate } from '../date-literals.ts'
import type { FieldNames } from './context.ts'
import { momentScalar } from './scalars.ts'

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
