import type { OrderItem } from '../../language/odata/ast.ts'
import type { FieldType } from '../../model/field.ts'
import { refuseLarge } from '../filter-limits.ts'
import type { Ordering, Scalar } from '../plan.ts'
import { typedExpressionOf } from './expression.ts'
import type { RowStep } from './rows.ts'
import { type Scope, wrong } from './scope.ts'
import { describeType, isValue, scalarOf, startOf } from './typed-expression.ts'

/** Keys of an order. */
const MAX_KEYS = 32

/** Returns the keys of an order; null is the lowest value (Protocol 11.2.6.2). Constants are dropped: they order nothing. */
export function orderings(items: readonly OrderItem[], scope: Scope): readonly Ordering[] {
  const beyond = items[MAX_KEYS]
  if (beyond !== undefined) throw wrong(scope, `An order has at most ${MAX_KEYS} keys`, beyond.span)
  return items.flatMap(({ expression, descending }): Ordering[] => {
    const typed = typedExpressionOf(expression, scope)
    if (typed.type === 'null' || typed.type === 'constant') return []
    if (!isValue(typed))
      throw wrong(
        scope,
        `${startOf(expression)} of type ${describeType(typed)} has no order`,
        expression.span,
      )
    const value = scalarOf(typed)
    refuseLarge(value)
    return [{ value, descending, absent: 'lowest' }]
  })
}

/** The step that sorts rows. */
export function orderRows(items: readonly OrderItem[], scope: Scope): RowStep {
  const keys = orderings(items, scope).flatMap(({ value, descending }) =>
    value.type === 'random' ? [] : [{ value, type: orderType(value), descending }],
  )
  return { type: 'order', keys }
}

function orderType(value: Scalar): FieldType {
  return value.type === 'field' ? value.field.type : 'text'
}
