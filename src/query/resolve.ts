import type {
  ClauseName,
  Expression,
  OrderItem,
  RangeBounds,
  SelectItem,
  Span,
} from '../language/odsql/ast.ts'
import type { Dataset } from '../model/dataset.ts'
import { type Field, fieldNamed, isGeo, isNumeric, isTemporal } from '../model/field.ts'
import { nearest } from '../model/nearest.ts'
import { tokens } from '../model/search.ts'
import { all, any, negate } from './conditions.ts'
import { type DateConstant, dateBounds, parseDate } from './dates.ts'
import { incompatible, malformed } from './faults.ts'
import type { Bound, Comparator, Condition, Constant, Ordering, Selection, Word } from './plan.ts'

/** What names and literals mean where a query is asked. */
export interface ResolveContext {
  readonly dataset: Pick<Dataset, 'fields'>
  /** Metadata template whose name may be left out before its fields: `title` for `default.title`. */
  readonly template?: string
  /** IANA name; date literals without offset are local times of it. */
  readonly timezone: string
}

/**
 * Gives the condition that a where clause means for a dataset (query API, "Where clause"). Throws ODSQLError for
 * an unknown field and IncompatibleTypesInComparisonFilter for a comparison between types.
 */
export function resolveWhere(expression: Expression, context: ResolveContext): Condition | null {
  return all([new Resolver('where', context).condition(expression)])
}

/** Gives the columns that a select clause asks for, in order; without a clause every field. */
export function resolveSelect(
  items: readonly SelectItem[] | null,
  context: ResolveContext,
): readonly Selection[] {
  const every = context.dataset.fields.map(field => ({ key: field.name, field }))
  if (items === null) return every
  const resolver = new Resolver('select', context)
  const chosen = new Map<string, Field>()
  let narrowed: readonly Selection[] | null = null
  for (const { expression, label, span } of items) {
    if (expression === null) {
      for (const { key, field } of every) chosen.set(key, field)
    } else if (
      expression.type === 'call' &&
      (expression.name === 'include' || expression.name === 'exclude')
    ) {
      if (label !== null) throw malformed('select', `${expression.name} takes no label`, span)
      narrowed = resolver.narrow(expression, narrowed ?? every)
    } else {
      const field = resolver.field(expression)
      chosen.set(label ?? field.name, field)
    }
  }
  for (const { key, field } of narrowed ?? []) chosen.set(key, field)
  return [...chosen].map(([key, field]) => ({ key, field }))
}

/** Gives the keys that an order_by clause sorts by. Geometry has no order. */
export function resolveOrderBy(items: readonly OrderItem[], context: ResolveContext): readonly Ordering[] {
  const resolver = new Resolver('order_by', context)
  return items.map(({ expression, descending }) => {
    const field = resolver.field(expression)
    if (isGeo(field.type))
      throw malformed('order_by', `Field ${field.name} of type ${field.type} has no order`, expression.span)
    return { field, descending }
  })
}

/** Resolves the expressions of one clause; it lives for one clause. */
class Resolver {
  readonly clause: ClauseName
  readonly context: ResolveContext

  constructor(clause: ClauseName, context: ResolveContext) {
    this.clause = clause
    this.context = context
  }

  condition(node: Expression): Condition {
    switch (node.type) {
      case 'or':
        return any(chain(node).map(operand => this.condition(operand)))
      case 'and':
        return all(chain(node).map(operand => this.condition(operand))) ?? { type: 'always', value: true }
      case 'not':
        return negate(this.condition(node.operand))
      case 'comparison':
        return this.comparison(node)
      case 'range':
        return this.range(this.field(node.operand), node.range, node.span)
      case 'list': {
        const field = this.field(node.operand)
        return any(node.items.map(item => this.compare(field, '=', item, item.span)))
      }
      case 'member':
        return this.compare(this.field(node.field), '=', node.operand, node.span)
      case 'is':
        return this.is(node)
      case 'string':
        return words(node.value)
      case 'boolean':
        return { type: 'always', value: node.value }
      case 'field':
        return this.flag(node)
      case 'call':
        throw malformed(this.clause, `Unknown function: ${node.name}`, node.span)
      default:
        throw malformed(
          this.clause,
          `${describe(node)} is not a condition`,
          node.span,
          'compare it with something',
        )
    }
  }

  /** The field that an expression names; anything else is refused. */
  field(node: Expression): Field {
    if (node.type === 'call') throw malformed(this.clause, `Unknown function: ${node.name}`, node.span)
    if (node.type !== 'field')
      throw malformed(
        this.clause,
        `${describe(node)} was found where the name of a field is expected`,
        node.span,
      )
    const { dataset, template } = this.context
    const field =
      fieldNamed(dataset.fields, node.name) ??
      (template === undefined ? undefined : fieldNamed(dataset.fields, `${template}.${node.name}`))
    if (field !== undefined) return field
    const close = nearest(
      node.name,
      dataset.fields.map(({ name }) => name),
    )
    const hint = close === undefined ? undefined : `did you mean ${close}?`
    throw malformed(this.clause, `Unknown field: ${node.name}`, node.span, hint)
  }

  /** `include(…)` and `exclude(…)`: keeps or drops names; a trailing `*` stands for any ending. */
  narrow(call: Extract<Expression, { type: 'call' }>, from: readonly Selection[]): readonly Selection[] {
    const tests = call.arguments.map(argument => {
      if (argument.type === 'star') return () => true
      if (argument.type === 'wildcard') return (name: string) => name.startsWith(argument.prefix)
      if (argument.type === 'field') return (name: string) => name === argument.name
      throw malformed(this.clause, `${call.name} takes names of fields`, argument.span)
    })
    const keep = call.name === 'include'
    return from.filter(({ key }) => tests.some(test => test(key)) === keep)
  }

  private comparison(node: Extract<Expression, { type: 'comparison' }>): Condition {
    const { left, operator, right } = node
    if (left.type === 'field' && right.type === 'field') {
      const [first, second] = [this.field(left), this.field(right)]
      const alike = first.type === second.type || (isNumeric(first.type) && isNumeric(second.type))
      if (!alike || isGeo(first.type)) throw this.clash(first, operator, describe(right), node.span)
      return { type: 'compareFields', left: first, operator, right: second }
    }
    if (left.type === 'field') return this.compare(this.field(left), operator, right, node.span)
    if (right.type === 'field') return this.compare(this.field(right), FLIPPED[operator], left, node.span)
    if (left.type === 'call') throw malformed(this.clause, `Unknown function: ${left.name}`, left.span)
    throw malformed(this.clause, 'A comparison needs a field on one of its sides', node.span)
  }

  private compare(field: Field, operator: Comparator, node: Expression, span: Span): Condition {
    if (node.type === 'null') return { type: 'always', value: false }
    if (isTemporal(field.type) && node.type === 'date')
      return this.compareDate(field, operator, this.date(node))
    const value = this.constant(field, operator, node, span)
    if (field.type === 'boolean' && operator !== '=' && operator !== '!=')
      throw this.clash(field, operator, describe(node), span)
    if (field.type === 'int' && !Number.isInteger(value)) {
      if (operator === '=') return { type: 'always', value: false }
      if (operator === '!=') return { type: 'present', field }
    }
    return { type: 'compare', field, operator, value }
  }

  private compareDate(field: Field, operator: Comparator, constant: DateConstant): Condition {
    const { start, end, insideDay } = dateBounds(constant, field.type, this.context.timezone)
    if (insideDay) {
      if (operator === '=') return { type: 'always', value: false }
      if (operator === '!=') return { type: 'present', field }
      return { type: 'compare', field, operator: operator.startsWith('<') ? '<=' : '>', value: start }
    }
    if (end === null || (operator !== '=' && operator !== '!='))
      return { type: 'compare', field, operator, value: start }
    if (operator === '=') {
      const [lower, upper] = [
        { value: start, inclusive: true },
        { value: end, inclusive: false },
      ]
      return { type: 'between', field, lower, upper }
    }
    return any([
      { type: 'compare', field, operator: '<', value: start },
      { type: 'compare', field, operator: '>=', value: end },
    ])
  }

  private range(field: Field, bounds: RangeBounds, span: Span): Condition {
    if (!isNumeric(field.type) && !isTemporal(field.type)) throw this.clash(field, 'in', 'a range', span)
    return {
      type: 'between',
      field,
      lower: this.bound(field, bounds.lower, bounds.lowerInclusive, 'lower'),
      upper: this.bound(field, bounds.upper, bounds.upperInclusive, 'upper'),
    }
  }

  private bound(field: Field, node: Expression, inclusive: boolean, side: 'lower' | 'upper'): Bound {
    if (!isTemporal(field.type) || node.type !== 'date')
      return { value: this.constant(field, 'in', node, node.span), inclusive }
    const { start, insideDay } = dateBounds(this.date(node), field.type, this.context.timezone)
    return { value: start, inclusive: insideDay ? side === 'upper' : inclusive }
  }

  private constant(field: Field, operator: string, node: Expression, span: Span): Constant {
    if (field.type === 'text' && node.type === 'string') return node.value
    if (field.type === 'boolean' && node.type === 'boolean') return node.value
    if (isNumeric(field.type)) {
      const value = foldNumber(node)
      if (value !== null && Number.isFinite(value)) return value === 0 ? 0 : value
    }
    throw this.clash(field, operator, describe(node), span)
  }

  private is(node: Extract<Expression, { type: 'is' }>): Condition {
    const field = this.field(node.operand)
    if (node.value === null) {
      const present: Condition = { type: 'present', field }
      return node.negated ? present : negate(present)
    }
    if (field.type !== 'boolean') throw this.clash(field, 'is', String(node.value), node.span)
    const holds: Condition = { type: 'compare', field, operator: '=', value: node.value }
    return node.negated ? negate(holds) : holds
  }

  private flag(node: Extract<Expression, { type: 'field' }>): Condition {
    const field = this.field(node)
    if (field.type === 'boolean') return { type: 'compare', field, operator: '=', value: true }
    const hint = 'only a boolean field stands alone'
    throw malformed(
      this.clause,
      `Field ${field.name} of type ${field.type} is not a condition`,
      node.span,
      hint,
    )
  }

  private date(node: Extract<Expression, { type: 'date' }>): DateConstant {
    const constant = parseDate(node.text)
    if (constant !== null) return constant
    const hint = "write date'2020', date'2020-06', date'2020/06/30' or date'2020-06-30T12:00:00+02:00'"
    throw malformed(this.clause, `${JSON.stringify(node.text)} is not a date`, node.span, hint)
  }

  private clash(field: Field, operator: string, found: string, span: Span) {
    return incompatible(this.clause, field, operator, found, span)
  }
}

const FLIPPED: Readonly<Record<Comparator, Comparator>> = {
  '=': '=',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
}

/** The operands of a chain of one operator, which leans to the left, in their order. */
function chain(node: Extract<Expression, { type: 'or' | 'and' }>): readonly Expression[] {
  const operands: Expression[] = []
  let first: Expression = node
  while (first.type === node.type) {
    operands.push(first.right)
    first = first.left
  }
  return [first, ...operands.reverse()]
}

/** Value of a constant numeric expression; null where it is not one. Division by zero gives no number. */
function foldNumber(node: Expression): number | null {
  switch (node.type) {
    case 'number':
      return node.value
    case 'sign': {
      const value = foldNumber(node.operand)
      return value === null ? null : node.negative ? -value : value
    }
    case 'arithmetic': {
      const [left, right] = [foldNumber(node.left), foldNumber(node.right)]
      if (left === null || right === null) return null
      return { '+': left + right, '-': left - right, '*': left * right, '/': left / right }[node.operator]
    }
    default:
      return null
  }
}

/** The words of a full-text search: every one must occur; a trailing `*` makes the word before it a prefix. */
function words(text: string): Condition {
  const found = text.split(/\s+/).flatMap(chunk => {
    const folded = tokens(chunk)
    return folded.map(
      (word, index): Word => ({ text: word, prefix: chunk.endsWith('*') && index === folded.length - 1 }),
    )
  })
  return found.length === 0 ? { type: 'always', value: true } : { type: 'words', words: found }
}

function describe(node: Expression): string {
  switch (node.type) {
    case 'field':
      return `the field ${node.name}`
    case 'string':
      return `the text ${JSON.stringify(node.value.length > 40 ? `${node.value.slice(0, 40)}…` : node.value)}`
    case 'number':
      return `the number ${node.text}`
    case 'date':
      return 'a date'
    case 'geometry':
      return 'a geometry'
    case 'boolean':
      return String(node.value)
    case 'null':
      return 'null'
    case 'call':
      return `the function ${node.name}`
    case 'arithmetic':
    case 'sign':
      return 'an arithmetic expression'
    default:
      return 'a condition'
  }
}
