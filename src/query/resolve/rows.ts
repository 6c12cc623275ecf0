import type { Argument, Expression, GroupItem, OrderItem, SelectItem } from '../../language/odsql/ast.ts'
import { FUNCTIONS } from '../../language/odsql/vocabulary.ts'
import { isGeo, isNumeric, isTemporal } from '../../model/field.ts'
import { MAX_ROW_VALUES } from '../conditions.ts'
import { describedArgument, describeValue, malformed } from '../faults.ts'
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
import { expressionKey, FieldNames, type ResolveContext, spelling } from './context.ts'
import { foldNumber, isExpression, resolveScalar } from './scalars.ts'

type Call = Extract<Expression, { type: 'call' }>

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

/** The keys of a grouped query by their labels and their texts, however these are spelled. */
function keysByName(keys: readonly GroupKey[], items: readonly GroupItem[], text: string) {
  const byName = new Map<string, number>()
  items.forEach((item, index) => {
    byName.set(spelling(expressionKey({ ...item, label: null }, text)), index)
  })
  keys.forEach(({ key }, index) => {
    byName.set(spelling(key), index)
  })
  return byName
}

/** Resolves the aggregates that a select clause requests for each group (ODSQL 4.3). */
export function resolveRows(
  select: { readonly items: readonly SelectItem[]; readonly text: string },
  groups: { readonly items: readonly GroupItem[]; readonly text: string; readonly keys: readonly GroupKey[] },
  context: ResolveContext,
): readonly RowSelection[] {
  refuseMany('select', select.items)
  const byName = keysByName(groups.keys, groups.items, groups.text)
  const rows = new Rows(new FieldNames('select', context), select.text, groups.keys, byName, new Map())
  return select.items.map(item => {
    if (item.expression === null)
      throw malformed(
        'select',
        '* cannot be selected of a group',
        item.span,
        'select aggregates or grouped fields',
      )
    const value = rows.value(item.expression)
    return { key: item.label ?? keyOf(expressionKey(item, select.text), value, groups.keys), value }
  })
}

function refuseMany(clause: 'select' | 'order_by', items: readonly (SelectItem | OrderItem)[]): void {
  const beyond = items[MAX_ROW_VALUES]
  if (beyond !== undefined)
    throw malformed(
      clause,
      `${items.length} values of a group were found where at most ${MAX_ROW_VALUES} are served`,
      beyond.span,
    )
}

/** The key of a selection without label: that of the group that it repeats, where only the spelling differs. */
function keyOf(written: string, value: RowValue, groups: readonly GroupKey[]): string {
  const group = value.type === 'key' ? groups[value.index]?.key : undefined
  return group !== undefined && spelling(group) === spelling(written) ? group : written
}

/** Returns the order of the rows; aggregates come first (ODSQL 6.3). */
export function resolveRowOrder(
  order: { readonly items: readonly OrderItem[]; readonly text: string },
  groups: { readonly items: readonly GroupItem[]; readonly text: string; readonly keys: readonly GroupKey[] },
  select: readonly RowSelection[],
  context: ResolveContext,
): readonly RowOrdering[] {
  refuseMany('order_by', order.items)
  const byName = keysByName(groups.keys, groups.items, groups.text)
  const labels = new Map(select.map(({ key, value }) => [key, value]))
  const rows = new Rows(new FieldNames('order_by', context), order.text, groups.keys, byName, labels)
  let keyed = false
  return order.items.map(({ expression, descending, span }) => {
    const reversed = expression.type === 'sign' && expression.negative && expression.operand.type === 'field'
    const value = rows.value(reversed ? expression.operand : expression)
    const aggregate = value.type !== 'key'
    if (aggregate && keyed)
      throw malformed('order_by', 'Aggregates must come before the grouped fields', span)
    keyed ||= !aggregate
    if (
      value.type === 'aggregate' &&
      (value.aggregate.name === 'envelope' || value.aggregate.name === 'bbox')
    )
      throw malformed('order_by', `${value.aggregate.name} has no order`, span)
    return { value, descending: descending !== reversed }
  })
}

/** Resolves the values of rows in one clause; it lives for one clause. */
class Rows {
  private readonly names: FieldNames
  private readonly text: string
  private readonly groups: readonly GroupKey[]
  private readonly keys: ReadonlyMap<string, number>
  private readonly labels: ReadonlyMap<string, RowValue>
  private aggregates = 0

  constructor(
    names: FieldNames,
    text: string,
    groups: readonly GroupKey[],
    keys: ReadonlyMap<string, number>,
    labels: ReadonlyMap<string, RowValue>,
  ) {
    this.names = names
    this.text = text
    this.groups = groups
    this.keys = keys
    this.labels = labels
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
      case 'arithmetic':
        return {
          type: 'arithmetic',
          operator: node.operator,
          left: this.number(node.left),
          right: this.number(node.right),
        }
      case 'sign': {
        const right = this.number(node.operand)
        if (!node.negative) return right
        return {
          type: 'arithmetic',
          operator: '-',
          left: { type: 'constant', value: 0, of: 'double' },
          right,
        }
      }
      case 'field':
        this.names.field(node)
        throw malformed(
          this.names.clause,
          `The field ${node.name} is not an aggregate and not in group_by`,
          node.span,
          'group by it or aggregate it',
        )
      case 'call':
        if (this.names.function(node).kind === 'aggregate')
          return { type: 'aggregate', aggregate: this.aggregate(node) }
        throw malformed(
          this.names.clause,
          `The function ${node.name} is not an aggregate and not in group_by`,
          node.span,
          'group by it or aggregate it',
        )
      default:
        throw malformed(this.names.clause, `${describeValue(node)} is no value of a group`, node.span)
    }
  }

  private number(node: Expression): RowValue {
    const value = this.value(node)
    if (!this.isNumber(value))
      throw malformed(this.names.clause, `Arithmetic takes numbers, not ${describeValue(node)}`, node.span)
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
        return name !== 'envelope' && name !== 'bbox'
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
      throw malformed(
        this.names.clause,
        `More than ${MAX_ROW_VALUES} aggregates were found where at most ${MAX_ROW_VALUES} are served`,
        call.span,
      )
    const name = AGGREGATE_NAMES.find(each => each === (call.name === 'median' ? 'percentile' : call.name))
    if (name === undefined) throw new Error(`no aggregate for the function ${call.name}`)
    const [first, second] = call.arguments
    const aggregate = {
      name,
      distinct: false,
      rank: call.name === 'percentile' ? this.rank(call, second) : 50,
    }
    if (first === undefined) throw this.names.conversionError(call, 'nothing', 'a field', call.span)
    if (first.type === 'star') {
      if (name === 'count') return { ...aggregate, of: null }
      throw this.names.conversionError(call, '*', 'a field', first.span)
    }
    const distinct = first.type === 'distinct'
    const node = distinct ? first.operand : first
    if (!isExpression(node) || (distinct && name !== 'count'))
      throw this.names.conversionError(call, describedArgument(first), 'a field', first.span)
    const of = resolveScalar(node, this.names)
    this.checkType(call, node, scalarType(of), name)
    return { ...aggregate, of, distinct }
  }

  private checkType(call: Call, node: Expression, type: ReturnType<typeof scalarType>, name: AggregateName) {
    const geo = name === 'envelope' || name === 'bbox'
    const ordered = isNumeric(type) || (isTemporal(type) && (name === 'min' || name === 'max'))
    if (name === 'count' || (geo ? isGeo(type) : ordered)) return
    const isDate = isTemporal(type)
    const expected = `${call.name} takes ${geo ? 'a field with positions' : 'numbers'}, and ${describeValue(node)} is of type ${type}`
    const reason = geo || isDate ? expected : 'StatAggregation only supports numeric or date expression'
    throw malformed(this.names.clause, reason, node.span)
  }

  private rank(call: Call, node: Argument | undefined): number {
    const value = node !== undefined && isExpression(node) ? foldNumber(node) : null
    if (value !== null && value >= 0 && value <= 100) return value
    throw this.names.conversionError(
      call,
      describedArgument(node),
      'a number from 0 to 100',
      node?.span ?? call.span,
    )
  }
}
