import type { Expression, OrderItem, SearchExpression, SelectOption } from '../../language/odata/ast.ts'
import { field } from '../../model/field.ts'
import { searchWords } from '../../model/search.ts'
import { conjunction, disjunction, negate, refuseExcessOfOData, refuseLarge } from '../conditions.ts'
import type { Condition, Ordering, Word } from '../plan.ts'
import { signsOf, wordsCondition } from '../resolve/filter-functions.ts'
import { conditionOf, typedExpressionOf } from './expression.ts'
import type { RowExtent, RowStep } from './rows.ts'
import { type Scope, unserved, withinScope, wrong } from './scope.ts'
import { isNumericKind, isValue, perRecord, scalarOf, startOf } from './typed-expression.ts'

/** Keys of an order. */
const MAX_KEYS = 32

/** Returns the keys of an order; null is the lowest value (Protocol 11.2.6.2). Constants are dropped: they order nothing. */
export function orderings(items: readonly OrderItem[], scope: Scope): readonly Ordering[] {
  const beyond = items[MAX_KEYS]
  if (beyond !== undefined) throw wrong(scope, `An order has at most ${MAX_KEYS} keys`, beyond.span)
  return items.flatMap(({ expression, descending }): Ordering[] => {
    const typed = typedExpressionOf(expression, scope)
    if (typed.type === 'null' || typed.type === 'constant') return []
    if (!isValue(typed)) throw wrong(scope, `${startOf(expression, typed)} has no order`, expression.span)
    const value = scalarOf(typed)
    refuseLarge(value)
    return [{ value, descending, absent: 'lowest' }]
  })
}

/** The step that sorts rows. */
export function orderRows(items: readonly OrderItem[], scope: Scope): RowStep {
  const keys = orderings(items, scope).flatMap(({ value, descending }) =>
    value.type === 'random' ? [] : [{ value, descending }],
  )
  return { type: 'order', keys }
}

/** What is returned of the values of a collection; steps process each value as a row of one cell. */
export interface Elements {
  /** Selects the values that count, whichever of them are returned. */
  readonly filter: readonly RowStep[]
  readonly page: readonly RowStep[]
  readonly counted: boolean
}

/** Returns what the options of a collection request, in the order of Protocol 11.2.6: a filter, an order, a page. */
export function elementsOf(options: readonly SelectOption[], outer: Scope): Elements {
  const value = perRecord('string', { type: 'field', field: field('0', 'text') })
  const scope: Scope = { ...outer, names: new Map(), variables: new Map([['$this', value]]), rows: true }
  let [filter, order]: [RowStep | null, RowStep | null] = [null, null]
  let [skip, top]: [number, number | null] = [0, null]
  let counted = false
  const names = new Set<string>()
  for (const { name, clause, span } of options) {
    const described = name.slice(0, 40)
    if (clause === null)
      throw unserved(outer, `The option ${described} of a collection that is selected`, span)
    if (names.has(clause.type)) throw wrong(outer, `The option ${described} must not be there twice`, span)
    names.add(clause.type)
    const within = { ...scope, option: `$${clause.type} in $select` }
    switch (clause.type) {
      case 'filter': {
        const condition = conditionOf(clause.expression, within)
        refuseExcessOfOData(condition)
        filter = { type: 'filter', condition }
        break
      }
      case 'orderby':
        order = orderRows(clause.items, within)
        break
      case 'top':
        top = clause.count
        break
      case 'skip':
        skip = clause.count
        break
      case 'count':
        counted = clause.requested
        break
      default:
        clause satisfies never
    }
  }
  const page: readonly RowStep[] = skip === 0 && top === null ? [] : [{ type: 'window', skip, top }]
  return {
    filter: filter === null ? [] : [filter],
    page: order === null ? page : [order, ...page],
    counted,
  }
}

/** Words of all terms of one search. */
const MAX_WORDS = 100

/**
 * Returns the condition of a search (URL Conventions 5.1.7): whole words anywhere in a record, compared without case and accents;
 * the words of a phrase are adjacent. A term without letters or digits is a part of a text.
 */
export function searchCondition(node: SearchExpression, scope: Scope): Condition {
  const words = { count: 0 }
  return resolve(node, scope, words)
}

function resolve(node: SearchExpression, outer: Scope, words: { count: number }): Condition {
  const scope = withinScope(outer, { type: 'null', span: node.span })
  switch (node.type) {
    case 'term':
    case 'phrase': {
      const folded = searchWords(node.text)
      words.count += folded.length
      if (words.count > MAX_WORDS) throw wrong(scope, `A search has at most ${MAX_WORDS} words`, node.span)
      if (folded.length === 0) return wordsCondition(signsOf(node.text))
      const texts = node.type === 'phrase' ? [folded.join(' ')] : folded
      return { type: 'words', words: texts.map((text): Word => ({ text, mode: 'word' })) }
    }
    case 'and':
      return conjunction(node.operands.map(operand => resolve(operand, scope, words)))
    case 'or':
      return disjunction(node.operands.map(operand => resolve(operand, scope, words)))
    case 'not':
      return negate(resolve(node.operand, scope, words))
  }
}

/** The constant that says how many of the first rows are selected: a count, a sum or a percentage of one. */
export function amountOf(node: Expression, extent: RowExtent, scope: Scope): number {
  const typed = typedExpressionOf(node, scope)
  const value = typed.type === 'constant' ? Number(typed.value) : Number.NaN
  const fits = {
    count: Number.isSafeInteger(value) && value >= 0,
    percent: value > 0 && value <= 100,
    sum: Number.isFinite(value),
  }
  if (fits[extent] && typed.type === 'constant' && isNumericKind(typed.kind)) return value
  const required = { count: 'count', percent: 'number above 0 and up to 100', sum: 'number' }
  throw wrong(scope, `${startOf(node)} is no ${required[extent]}`, node.span)
}
