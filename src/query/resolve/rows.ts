import type { Argument, Call, Expression, OrderItem, SelectItem } from '../../language/odsql/ast.ts'
import { FUNCTIONS } from '../../language/odsql/vocabulary.ts'
import { isGeo, isNumeric, isTemporal } from '../../model/field.ts'
import { MAX_ROW_VALUES } from '../conditions.ts'
import { describeValue } from '../faults.ts'
import {
  AGGREGATE_NAMES,
  type Aggregate,
  type AggregateName,
  type GroupKey,
  type RowOrdering,
  type RowSelection,
  type RowValue,
  scalarType,
} from '../plan.ts'
import { directed, expressionKey, FieldNames, type ResolveContext, spelling } from './context.ts'
import type { Groups } from './groups.ts'
import { foldNumber, isExpression, resolveScalar } from './scalars.ts'

/** True where an expression contains an aggregate. */
export function hasAggregate(node: Expression): boolean {
  switch (node.type) {
    case 'call':
      return FUNCTIONS.get(node.name)?.kind === 'aggregate'
    case 'arithmetic':
      return hasAggregate(node.left) || hasAggregate(node.right)
    case 'sign':
      return hasAggregate(node.operand)
    default:
      return false
  }
}

/** The parsed items of a clause, and its text. */
interface Clause<Item> {
  readonly items: readonly Item[]
  readonly text: string
}

/** Resolves the aggregates that a select clause requests for each group (ODSQL 4.3). */
export function resolveRows(
  select: Clause<SelectItem>,
  groups: Groups,
  context: ResolveContext,
): readonly RowSelection[] {
  const rows = new Rows(new FieldNames('select', context), select, groups)
  return select.items.map(item => {
    if (item.expression === null)
      throw rows.names.fault(
        '* cannot be selected of a group',
        item.span,
        'select aggregates or grouped fields',
      )
    const value = rows.value(item.expression)
    return { key: item.label ?? keyOf(expressionKey(item, select.text), value, groups.keys), value }
  })
}

/** The key of a selection without label: that of the group that it repeats, where only the spelling differs. */
function keyOf(written: string, value: RowValue, groups: readonly GroupKey[]): string {
  const group = value.type === 'key' ? groups[value.index]?.key : undefined
  return group !== undefined && spelling(group) === spelling(written) ? group : written
}

/** Returns the order of the rows; aggregates come first (ODSQL 6.3). */
export function resolveRowOrder(
  order: Clause<OrderItem>,
  groups: Groups,
  select: readonly RowSelection[],
  context: ResolveContext,
): readonly RowOrdering[] {
  const rows = new Rows(new FieldNames('order_by', context), order, groups, select)
  let keyed = false
  return order.items.map(item => {
    const { node, descending } = directed(item)
    const value = rows.value(node)
    const aggregate = value.type !== 'key'
    if (aggregate && keyed)
      throw rows.names.fault('Aggregates must come before the grouped fields', item.span)
    keyed ||= !aggregate
    if (value.type === 'aggregate' && isArea(value.aggregate.name))
      throw rows.names.fault(`${value.aggregate.name} has no order`, item.span)
    return { value, descending }
  })
}

/** True for an aggregate that is a geometry. */
function isArea(name: AggregateName): boolean {
  return name === 'envelope' || name === 'bbox'
}

/** Resolves the values of rows in one clause; it lives for one clause. */
class Rows {
  readonly names: FieldNames
  private readonly text: string
  private readonly groups: readonly GroupKey[]
  /** The indexes of the keys by their labels and their texts, however these are spelled. */
  private readonly keys: ReadonlyMap<string, number>
  private readonly labels: ReadonlyMap<string, RowValue>
  private aggregates = 0

  /** @param labels selected values, which their keys name */
  constructor(
    names: FieldNames,
    { items, text }: Clause<SelectItem | OrderItem>,
    groups: Groups,
    labels: readonly RowSelection[] = [],
  ) {
    const beyond = items[MAX_ROW_VALUES]
    if (beyond !== undefined)
      throw names.fault(
        `${items.length} values of a group were found where at most ${MAX_ROW_VALUES} are served`,
        beyond.span,
      )
    this.names = names
    this.text = text
    this.groups = groups.keys
    this.keys = new Map([
      ...groups.items.map((item, index) => {
        return [spelling(expressionKey({ ...item, label: null }, groups.text)), index] as const
      }),
      ...groups.keys.map(({ key }, index) => [spelling(key), index] as const),
    ])
    this.labels = new Map(labels.map(({ key, value }) => [key, value]))
  }

  value(node: Expression): RowValue {
    const label = node.type === 'field' ? this.labels.get(node.name) : undefined
    if (label !== undefined) return label
    const index = this.keyOf(node)
    if (index !== undefined) return { type: 'key', index }
    switch (node.type) {
      case 'number':
        return { type: 'constant', value: node.value, of: 'double' }
      case 'string':
        return { type: 'constant', value: node.value, of: 'text' }
      case 'arithmetic': {
        const { type, operator, left, right } = node
        return { type, operator, left: this.number(left), right: this.number(right) }
      }
      case 'sign': {
        const right = this.number(node.operand)
        const left: RowValue = { type: 'constant', value: 0, of: 'double' }
        return node.negative ? { type: 'arithmetic', operator: '-', left, right } : right
      }
      case 'field':
        this.names.field(node)
        throw this.names.fault(
          `The field ${node.name} is not an aggregate and not in group_by`,
          node.span,
          'group by it or aggregate it',
        )
      case 'call':
        if (this.names.function(node).kind === 'aggregate')
          return { type: 'aggregate', aggregate: this.aggregate(node) }
        throw this.names.fault(
          `The function ${node.name} is not an aggregate and not in group_by`,
          node.span,
          'group by it or aggregate it',
        )
      default:
        throw this.names.fault(`${describeValue(node)} is no value of a group`, node.span)
    }
  }

  private number(node: Expression): RowValue {
    const value = this.value(node)
    if (!this.isNumber(value))
      throw this.names.fault(`Arithmetic takes numbers, not ${describeValue(node)}`, node.span)
    return value
  }

  private isNumber(value: RowValue): boolean {
    switch (value.type) {
      case 'key': {
        const grouping = this.groups[value.index]?.grouping
        return grouping?.type === 'value' && isNumeric(scalarType(grouping.value))
      }
      case 'constant':
        return value.of !== 'text'
      case 'aggregate': {
        const { name, of } = value.aggregate
        if (name === 'min' || name === 'max') return of !== null && isNumeric(scalarType(of))
        return !isArea(name)
      }
      case 'arithmetic':
        return true
    }
  }

  private keyOf(node: Expression): number | undefined {
    if (!['field', 'call', 'arithmetic'].includes(node.type)) return undefined
    const item = { expression: node, label: null, span: node.span }
    return this.keys.get(spelling(expressionKey(item, this.text)))
  }

  private aggregate(call: Call): Aggregate {
    if (++this.aggregates > MAX_ROW_VALUES)
      throw this.names.fault(
        `More than ${MAX_ROW_VALUES} aggregates were found where at most ${MAX_ROW_VALUES} are served`,
        call.span,
      )
    const name = AGGREGATE_NAMES.find(each => each === (call.name === 'median' ? 'percentile' : call.name))
    if (name === undefined) throw new Error(`no aggregate for the function ${call.name}`)
    const [first, second] = call.arguments
    const rank = call.name === 'percentile' ? this.rank(call, second) : 50
    const aggregate = { name, distinct: false, rank }
    if (first?.type === 'star' && name === 'count') return { ...aggregate, of: null }
    const distinct = first?.type === 'distinct'
    const node = distinct ? first.operand : first
    if (node === undefined || !isExpression(node) || (distinct && name !== 'count'))
      throw this.names.unfit(call, first, 'a field')
    const of = resolveScalar(node, this.names)
    this.checkType(call, node, scalarType(of), name)
    return { ...aggregate, of, distinct }
  }

  private checkType(call: Call, node: Expression, type: ReturnType<typeof scalarType>, name: AggregateName) {
    const geo = isArea(name)
    const ordered = isNumeric(type) || (isTemporal(type) && (name === 'min' || name === 'max'))
    if (name === 'count' || (geo ? isGeo(type) : ordered)) return
    const isDate = isTemporal(type)
    const expected = `${call.name} takes ${geo ? 'a field with positions' : 'numbers'}, and ${describeValue(node)} is of type ${type}`
    const reason = geo || isDate ? expected : 'StatAggregation only supports numeric or date expression'
    throw this.names.fault(reason, node.span)
  }

  private rank(call: Call, node: Argument | undefined): number {
    const value = foldNumber(node)
    if (value !== null && value >= 0 && value <= 100) return value
    throw this.names.unfit(call, node, 'a number from 0 to 100')
  }
}
