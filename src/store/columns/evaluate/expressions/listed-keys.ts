import { memoised } from '../../../../model/memoised.ts'
import {
  type AlgebraExpression,
  type ExpressionOf,
  isConstantExpression,
} from '../../../../sparql/algebra.ts'
import { equalityKey } from '../vectors/term-order.ts'
import { termValue } from '../vectors/value.ts'

interface ListedKeys {
  readonly keys: ReadonlySet<string>
  /** The items without a key: a value with a key is compared with these alone. */
  readonly others: readonly AlgebraExpression[]
}

const LISTS = new WeakMap<ExpressionOf<'in'>, ListedKeys>()

/** The keys of the items of IN, by which values are found in long lists. */
export function listedKeys(expression: ExpressionOf<'in'>): ListedKeys {
  return memoised(LISTS, expression, () => {
    const keys = new Set<string>()
    const others = expression.items.filter(item => {
      const key = isConstantExpression(item) ? equalityKey(termValue(item)) : null
      if (key !== null) keys.add(key)
      return key === null
    })
    return { keys, others }
  })
}
