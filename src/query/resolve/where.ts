import { chain, type Expression, type RangeBounds, type Span } from '../../language/odsql/ast.ts'
import { FLIPPED } from '../../model/comparison.ts'
import { type Field, isGeo, isNumeric, isTemporal } from '../../model/field.ts'
import { conjunction, conjunctionOrNull, disjunction, negate } from '../conditions.ts'
import { type DateConstant, dateBounds } from '../date-literals.ts'
import { describeValue, incompatible, unlike } from '../faults.ts'
import {
  type Bound,
  type Comparator,
  type Condition,
  type Constant,
  fieldsOf,
  NEVER,
  type Scalar,
  scalarType,
} from '../plan.ts'
import { FieldNames, type ResolveContext } from './context.ts'
import { resolvePredicate, searchedWords, wordsCondition } from './filter-functions.ts'
import { dateOf, exactInteger, foldNumber, integerBelow, resolveScalar } from './scalars.ts'

/**
 * Returns the condition of a where clause for a dataset (ODSQL 3). Throws ODSQLError for an unknown field and
 * IncompatibleTypesInComparisonFilter for a comparison between types.
 */
export function resolveWhere(expression: Expression, context: ResolveContext): Condition | null {
  return conjunctionOrNull([resolveCondition(expression, new FieldNames('where', context))])
}

function resolveCondition(node: Expression, names: FieldNames): Condition {
  switch (node.type) {
    case 'or':
      return disjunction(chain(node).map(operand => resolveCondition(operand, names)))
    case 'and':
      return conjunction(chain(node).map(operand => resolveCondition(operand, names)))
    case 'not':
      return negate(resolveCondition(node.operand, names))
    case 'comparison':
      return comparison(node, names)
    case 'range':
      return range(node, names)
    case 'list':
      return disjunction(node.items.map(item => compare(node.operand, '=', item, item.span, names)))
    case 'member':
      return compare(node.field, '=', node.operand, node.span, names)
    case 'is':
      return is(node, names)
    case 'like':
      return like(node, names)
    case 'string':
      return wordsCondition(searchedWords(node.value))
    case 'boolean':
      return { type: 'always', value: node.value }
    case 'field':
      return flag(node, names)
    case 'call':
      return resolvePredicate(node, names)
    default:
      throw names.fault(`${describeValue(node)} is not a condition`, node.span, 'compare it with something')
  }
}

function comparison(node: Extract<Expression, { type: 'comparison' }>, names: FieldNames): Condition {
  const { left, operator, right, span } = node
  if (isConstant(left) && isConstant(right))
    throw names.fault('A comparison needs a field on one of its sides', span)
  return isConstant(left)
    ? compare(right, FLIPPED[operator], left, span, names)
    : compare(left, operator, right, span, names)
}

/** Compares a value of the record, on the left, with a constant or another such value. */
function compare(
  left: Expression,
  operator: Comparator,
  right: Expression,
  span: Span,
  names: FieldNames,
): Condition {
  if (left.type === 'null' || right.type === 'null') return NEVER
  if (left.type === 'field' && isConstant(right) && !isUnfolded(right, names))
    return compareConstant(names.field(left), operator, right, span, names)
  const moment = left.type === 'call' ? dateOf(right, names) : null
  if (moment !== null) {
    const value = resolveScalar(left, names)
    if (isTemporal(scalarType(value))) return compareDate(value, operator, moment, names)
  }
  const [first, second] = alike(left, operator, right, span, names)
  return { type: 'relation', left: first, operator, right: second }
}

/** Two values that can be compared: of one type, or both numbers. */
function alike(
  left: Expression,
  operator: Comparator,
  right: Expression,
  span: Span,
  names: FieldNames,
): readonly [Scalar, Scalar] {
  if (left.type === 'field' && right.type === 'field') {
    const [a, b] = [names.field(left), names.field(right)]
    const same = a.type === b.type || (isNumeric(a.type) && isNumeric(b.type))
    if (!same || isGeo(a.type)) throw incompatible(names.clause, a, operator, describeValue(right), span)
  }
  const first = resolveScalar(left, names)
  const type = scalarType(first)
  const second = partNumber(first, right) ?? resolveScalar(right, names)
  const found = scalarType(second)
  const same = type === found || (isNumeric(type) && isNumeric(found))
  const ordered = operator !== '=' && operator !== '!='
  if (!same || isGeo(type) || (type === 'boolean' && ordered))
    throw unlike(names.clause, [left, type], operator, [right, found], span)
  return [first, second]
}

/** The parts of dates are texts in the older generations, but `year(date) = "2020"` compares numbers. */
function partNumber(value: Scalar, node: Expression): Scalar | null {
  if (value.type !== 'datePart' || node.type !== 'string' || !/^\d{1,9}$/.test(node.value)) return null
  return { type: 'constant', value: Number(node.value), of: 'int' }
}

/** True for an expression that has the same value in every record. */
function isConstant(node: Expression): boolean {
  switch (node.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'date':
    case 'null':
      return true
    case 'call':
      return node.name === 'now'
    case 'sign':
      return isConstant(node.operand)
    case 'arithmetic':
      return isConstant(node.left) && isConstant(node.right)
    default:
      return false
  }
}

/** True for arithmetic without a finite result, such as a division by zero, which a field is compared with as with a computed value. */
function isUnfolded(node: Expression, names: FieldNames): boolean {
  const isComputed = node.type === 'arithmetic' || node.type === 'sign'
  return isComputed && foldNumber(node) === null && dateOf(node, names) === null
}

function compareConstant(
  field: Field,
  operator: Comparator,
  node: Expression,
  span: Span,
  names: FieldNames,
): Condition {
  const moment = isTemporal(field.type) ? dateOf(node, names) : null
  const value: Scalar = { type: 'field', field }
  if (moment !== null) return compareDate(value, operator, moment, names)
  const below = field.type === 'int' ? integerBelow(node) : undefined
  if (below !== undefined) return compareBetween(value, operator, below)
  const constant = constantOf(field, operator, node, span, names)
  if (field.type === 'boolean' && operator !== '=' && operator !== '!=')
    throw incompatible(names.clause, field, operator, describeValue(node), span)
  if (field.type === 'int' && typeof constant !== 'bigint' && !Number.isInteger(constant)) {
    if (operator === '=') return NEVER
    if (operator === '!=') return present(value)
  }
  return related(value, operator, constant)
}

function compareDate(
  value: Scalar,
  operator: Comparator,
  constant: DateConstant,
  names: FieldNames,
): Condition {
  const { start, end, isPeriod, insideDay } = dateBounds(constant, scalarType(value), names.context.timezone)
  if (insideDay) return compareBetween(value, operator, start)
  if (!isPeriod || (operator !== '=' && operator !== '!=')) return related(value, operator, start)
  if (operator === '!=')
    return disjunction([related(value, '<', start), end === null ? NEVER : related(value, '>=', end)])
  if (value.type !== 'field')
    return conjunction([related(value, '>=', start), end === null ? null : related(value, '<', end)])
  return {
    type: 'between',
    field: value.field,
    lower: { value: start, inclusive: true },
    upper: end === null ? null : { value: end, inclusive: false },
  }
}

/** A comparison with what lies between a value and the next one. */
function compareBetween(value: Scalar, operator: Comparator, constant: Constant): Condition {
  if (operator === '=') return NEVER
  if (operator === '!=') return present(value)
  return related(value, operator.startsWith('<') ? '<=' : '>', constant)
}

/** A comparison with a constant of the type of the value. */
function related(value: Scalar, operator: Comparator, constant: Constant): Condition {
  if (value.type === 'field') return { type: 'compare', field: value.field, operator, value: constant }
  const right: Scalar = { type: 'constant', value: constant, of: scalarType(value) }
  return { type: 'relation', left: value, operator, right }
}

function present(value: Scalar): Condition {
  return value.type === 'field'
    ? { type: 'present', field: value.field }
    : { type: 'relation', left: value, operator: '=', right: value }
}

function range(node: Extract<Expression, { type: 'range' }>, names: FieldNames): Condition {
  const { operand, range: bounds, span } = node
  if (operand.type !== 'field' || [bounds.lower, bounds.upper].some(node => isUnfolded(node, names)))
    return computedRange(operand, bounds, span, names)
  const field = names.field(operand)
  if (!isNumeric(field.type) && !isTemporal(field.type))
    throw incompatible(names.clause, field, 'in', 'a range', span)
  return {
    type: 'between',
    field,
    lower: bound(field, bounds.lower, bounds.lowerInclusive, 'lower', names),
    upper: bound(field, bounds.upper, bounds.upperInclusive, 'upper', names),
  }
}

function computedRange(operand: Expression, bounds: RangeBounds, span: Span, names: FieldNames): Condition {
  const above = compare(operand, bounds.lowerInclusive ? '>=' : '>', bounds.lower, span, names)
  const below = compare(operand, bounds.upperInclusive ? '<=' : '<', bounds.upper, span, names)
  if (above.type !== 'relation' || below.type !== 'relation') return conjunction([above, below])
  const isOfLists = fieldsOf(above.left).some(({ multivalued }) => multivalued)
  if (!isOfLists) return conjunction([above, below])
  return { ...above, also: { operator: below.operator, right: below.right } }
}

function bound(
  field: Field,
  node: Expression,
  inclusive: boolean,
  side: 'lower' | 'upper',
  names: FieldNames,
): Bound {
  const moment = isTemporal(field.type) ? dateOf(node, names) : null
  const below = field.type === 'int' ? integerBelow(node) : undefined
  if (below !== undefined) return { value: below, inclusive: side === 'upper' }
  if (moment === null) return { value: constantOf(field, 'in', node, node.span, names), inclusive }
  const { start, insideDay } = dateBounds(moment, field.type, names.context.timezone)
  return { value: start, inclusive: insideDay ? side === 'upper' : inclusive }
}

function constantOf(
  field: Field,
  operator: string,
  node: Expression,
  span: Span,
  names: FieldNames,
): Constant {
  if (field.type === 'text' && node.type === 'string') return node.value
  if (field.type === 'boolean' && node.type === 'boolean') return node.value
  if (isNumeric(field.type)) {
    const exact = field.type === 'int' ? exactInteger(node) : undefined
    if (exact !== undefined) return exact
    const value = foldNumber(node)
    if (value !== null && Number.isFinite(value)) return value === 0 ? 0 : value
  }
  throw incompatible(names.clause, field, operator, describeValue(node), span)
}

function is(node: Extract<Expression, { type: 'is' }>, names: FieldNames): Condition {
  if (node.value === null) {
    const known = present(resolveScalar(node.operand, names))
    return node.negated ? known : negate(known)
  }
  const field = names.field(node.operand)
  if (field.type !== 'boolean') throw incompatible(names.clause, field, 'is', String(node.value), node.span)
  const holds: Condition = { type: 'compare', field, operator: '=', value: node.value }
  return node.negated ? negate(holds) : holds
}

/** All words of the text within one value of the field (ODSQL 3.6). */
function like(node: Extract<Expression, { type: 'like' }>, names: FieldNames): Condition {
  const field = names.field(node.operand)
  if (field.type !== 'text' || node.pattern.type !== 'string')
    throw incompatible(names.clause, field, 'like', describeValue(node.pattern), node.span)
  const words = searchedWords(node.pattern.value)
  return words.length === 0 ? { type: 'present', field } : { type: 'like', field, words }
}

function flag(node: Extract<Expression, { type: 'field' }>, names: FieldNames): Condition {
  const field = names.field(node)
  if (field.type === 'boolean') return { type: 'compare', field, operator: '=', value: true }
  const hint = 'only a boolean field can be a condition by itself'
  throw names.fault(`Field ${field.name} of type ${field.type} is not a condition`, node.span, hint)
}
