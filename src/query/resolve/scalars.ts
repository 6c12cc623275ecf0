import type { Argument, Call, Expression } from '../../language/odsql/ast.ts'
import { DATE_PARTS } from '../../language/odsql/vocabulary.ts'
import { exactWhole, wholeBelow } from '../../model/exact-json.ts'
import { type FieldType, isNumeric, isTemporal } from '../../model/field.ts'
import { type DateConstant, dateBounds, parseDate, parsePattern } from '../date-literals.ts'
import { describeValue } from '../faults.ts'
import { arithmeticScalar, functionScalar, numberScalar, type Scalar, scalarType } from '../plan.ts'
import type { FieldNames } from './context.ts'
import { pointLiteral } from './geometry-literals.ts'
import { nowConstant } from './now.ts'

/** Returns the value of an expression for a record. Any expression that is not a value is refused. */
export function resolveScalar(node: Expression, names: FieldNames): Scalar {
  switch (node.type) {
    case 'field': {
      const label = names.labels.get(node.name)
      if (label !== undefined) return label
      return { type: 'field', field: names.field(node) }
    }
    case 'string':
      return { type: 'constant', value: node.value, of: 'text' }
    case 'number':
      return numberScalar(node.value)
    case 'boolean':
      return { type: 'constant', value: node.value, of: 'boolean' }
    case 'date':
      return momentConstant(resolveDate(node, names), 'datetime', names)
    case 'sign':
    case 'arithmetic':
      return arithmetic(node, names)
    case 'call':
      return resolveCall(node, names)
    default:
      throw names.fault(
        `${describeValue(node)} was found where a value is expected`,
        node.span,
        node.type === 'geometry' ? 'a geometry is allowed as the argument of a function only' : undefined,
      )
  }
}

/** Parses a date literal. */
function resolveDate(node: Extract<Expression, { type: 'date' }>, names: FieldNames): DateConstant {
  const constant = parseDate(node.text)
  if (constant !== null) return constant
  const hint = "write date'2020', date'2020-06', date'2020/06/30' or date'2020-06-30T12:00:00+02:00'"
  throw names.fault(`${JSON.stringify(node.text.slice(0, 60))} is not a date`, node.span, hint)
}

/** The first instant of a date as a constant of a temporal type. */
export function momentConstant(constant: DateConstant, of: FieldType, names: FieldNames): Scalar {
  return { type: 'constant', value: dateBounds(constant, of, names.context.timezone).start, of }
}

/** The number of a constant expression; null where it is not constant or not a number (a division by zero). */
export function foldNumber(node: Argument | undefined): number | null {
  switch (node?.type) {
    case 'number':
      return node.value
    case 'sign': {
      const value = foldNumber(node.operand)
      return value === null ? null : node.negative ? 0 - value : value
    }
    case 'arithmetic': {
      const [left, right] = [foldNumber(node.left), foldNumber(node.right)]
      if (left === null || right === null) return null
      const value = { '+': left + right, '-': left - right, '*': left * right, '/': left / right }[
        node.operator
      ]
      return Number.isFinite(value) ? value + 0 : null
    }
    default:
      return null
  }
}

/** A whole number with all its digits, where it is one. */
export function exactInteger(node: Expression): number | bigint | undefined {
  const text = digitsOf(node)
  return text === undefined ? undefined : exactWhole(text)
}

/** The whole number below one with a fraction that a double would round away. */
export function integerBelow(node: Expression): bigint | undefined {
  const text = digitsOf(node)
  return text === undefined ? undefined : wholeBelow(text)
}

function digitsOf(node: Expression): string | undefined {
  if (node.type === 'number') return node.text
  if (node.type !== 'sign' || node.operand.type !== 'number') return undefined
  return `${node.negative ? '-' : ''}${node.operand.text}`
}

function arithmetic(node: Extract<Expression, { type: 'arithmetic' | 'sign' }>, names: FieldNames): Scalar {
  const folded = foldNumber(node)
  if (folded !== null) return numberScalar(folded)
  const operand = (part: Expression): Scalar => {
    const value = resolveScalar(part, names)
    const type = scalarType(value)
    if (!isNumeric(type))
      throw names.fault(`Arithmetic takes numbers, ${describeValue(part)} is of type ${type}`, part.span)
    return value
  }
  if (node.type === 'arithmetic')
    return arithmeticScalar(node.operator, operand(node.left), operand(node.right))
  const value = operand(node.operand)
  if (!node.negative) return value
  return arithmeticScalar('-', numberScalar(0), value)
}

function resolveCall(call: Call, names: FieldNames): Scalar {
  const entry = names.function(call)
  const [first, second] = call.arguments
  if (entry.name === 'now') return momentConstant(nowConstant(call, names), 'datetime', names)
  if (entry.kind === 'aggregate')
    throw names.fault(
      `The aggregate ${entry.name} was found where a value of one record is expected`,
      call.span,
    )
  if (first === undefined) throw names.conversionError(call, 'nothing', 'a value', call.span)
  if (entry.name === 'length' || entry.name === 'lower') {
    const operand = typed(call, first, isText, 'a text', names)
    const isLower = operand.type === 'function' && operand.name === 'lower'
    if (entry.name === 'lower' && isLower) return operand
    return functionScalar(entry.name, operand)
  }
  const part = DATE_PARTS.find(name => name === entry.name)
  if (part !== undefined)
    return { type: 'datePart', part, operand: typed(call, first, isTemporal, 'a date', names) }
  switch (entry.name) {
    case 'date_format':
      return dateFormat(call, first, second as Argument, names)
    case 'ifnull':
      return ifNull(call, first, second as Argument, names)
    case 'json_format': {
      if (second !== undefined && !isExpression(second))
        throw names.conversionError(call, 'this', 'a text', second.span)
      const fallback = second === undefined ? null : resolveScalar(second, names)
      if (fallback !== null && fallback.type !== 'constant')
        throw names.conversionError(call, 'a computed value', 'a constant as fallback', call.span)
      const operand = typed(call, first, isText, 'a text', names)
      return { type: 'json', operand, fallback: fallback?.value ?? null }
    }
    case 'distance': {
      if (call.arguments.length > 2)
        throw names.fault('A distance with a radius is a condition, not a value', call.span)
      const field = isExpression(first) ? names.field(first) : null
      if (field?.type !== 'geo_point_2d') throw names.unfit(call, first, 'a field of type geo_point_2d')
      return { type: 'distance', field, point: pointLiteral(call, second as Argument, names) }
    }
    default:
      throw names.fault(`${entry.name} gives no value of a record`, call.span)
  }
}

function dateFormat(call: Call, first: Argument, second: Argument, names: FieldNames): Scalar {
  const operand = typed(call, first, isTemporal, 'a date', names)
  if (second.type !== 'string')
    throw names.conversionError(call, 'no text', 'a pattern in quotes', second.span)
  const parts = parsePattern(second.value)
  if (!('unknown' in parts)) return { type: 'dateFormat', parts, language: names.context.language, operand }
  throw names.fault(
    `date_format has no symbol ${parts.unknown}`,
    { from: second.span.from + 1 + parts.at, to: second.span.from + 2 + parts.at },
    'letters that are text are enclosed in single quotes',
  )
}

function ifNull(call: Call, first: Argument, second: Argument, names: FieldNames): Scalar {
  if (!isExpression(first) || !isExpression(second))
    throw names.conversionError(call, 'other arguments', 'two values', call.span)
  const operand = resolveScalar(first, names)
  const type = scalarType(operand)
  if (second.type === 'null') return operand
  const moment = isTemporal(type) ? momentScalar(second, names) : null
  const other = moment === null ? resolveScalar(second, names) : momentConstant(moment, type, names)
  const found = scalarType(other)
  if (found !== type && !(isNumeric(type) && isNumeric(found)))
    throw names.conversionError(
      call,
      `${describeValue(second)} of type ${found}`,
      `a value of type ${type}`,
      second.span,
    )
  return { type: 'ifNull', operand, other }
}

/**
 * The date of a literal, of a call of `now` or, as an extension, of a text that is a complete ISO 8601 date; null for anything
 * else.
 */
export function momentScalar(node: Expression, names: FieldNames): DateConstant | null {
  if (node.type === 'date') return resolveDate(node, names)
  if (node.type === 'string') return WHOLE_DATE.test(node.value) ? parseDate(node.value) : null
  if (node.type === 'call' && node.name === 'now') {
    names.function(node)
    return nowConstant(node, names)
  }
  return null
}

/** A day, or a moment with its time of day: no text that might have another meaning. */
const WHOLE_DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/

/** The date of a node that is compared with a temporal value; null where it is not a date. */
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

function typed(
  call: Call,
  node: Argument,
  fits: (type: FieldType) => boolean,
  expected: string,
  names: FieldNames,
): Scalar {
  if (!isExpression(node)) throw names.unfit(call, node, expected)
  const value = resolveScalar(node, names)
  const type = scalarType(value)
  if (!fits(type))
    throw names.conversionError(call, `${describeValue(node)} of type ${type}`, expected, node.span)
  return value
}

const isText = (type: FieldType): boolean => type === 'text'

/** True for an argument that is an expression. */
export function isExpression(node: Argument): node is Expression {
  return !['star', 'distinct', 'wildcard', 'quantity', 'named', 'steps'].includes(node.type)
}
