import type { SelectOption } from '../../language/odata/ast.ts'
import { field } from '../../model/field.ts'
import { refuseExcessOfOData } from '../filter-limits.ts'
import { conditionOf } from './expression.ts'
import { orderRows } from './order.ts'
import type { RowStep } from './rows.ts'
import { type Scope, unserved, wrong } from './scope.ts'
import { perRecord } from './typed-expression.ts'

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
