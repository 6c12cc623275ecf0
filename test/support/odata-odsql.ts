import type { Expression } from '../../src/language/odata/ast.ts'
import type { FieldType } from './odata-values.ts'

const OPERATORS: Readonly<Record<string, string>> = { gt: '>', ge: '>=', lt: '<', le: '<=' }
type Types = Readonly<Record<string, FieldType>>

/**
 * The same condition in ODSQL, or null where it cannot say it. Conditions of ODSQL are two-valued and those of OData
 * three-valued, so a negation is carried down to the comparisons, and one of null asks for the value beside.
 */
export function asOdsql(expression: Expression, types: Types, required = true): string | null {
  switch (expression.type) {
    case 'not':
      return asOdsql(expression.operand, types, !required)
    case 'binary': {
      const { operator, left, right } = expression
      if (operator !== 'and' && operator !== 'or') return comparison(expression, types, required)
      const parts = [left, right].map(part => asOdsql(part, types, required))
      return parts.includes(null)
        ? null
        : `(${parts.join((operator === 'and') === required ? ' and ' : ' or ')})`
    }
    case 'in': {
      const field = fieldOf(expression.left, types)
      const items = expression.right.type === 'list' ? expression.right.items.map(constant) : []
      if (field === null || items.length === 0 || items.includes(null)) return null
      return negated(`${field} in (${items.join(', ')})`, required)
    }
    case 'call': {
      const [subject, prefix] = expression.arguments
      const field = subject === undefined ? null : fieldOf(subject, types)
      const text = prefix === undefined ? null : constant(prefix)
      if (expression.name !== 'startswith' || field === null || text === null) return null
      return required
        ? `startswith(${field}, ${text})`
        : `(${field} is not null and not startswith(${field}, ${text}))`
    }
    case 'lambda': {
      const { of, variable, predicate, quantifier } = expression
      if (of.type !== 'name' || quantifier !== 'any') return null
      if (predicate === null) return `${of.name} is ${required ? 'not ' : ''}null`
      if (predicate.type !== 'binary' || predicate.operator !== 'eq') return null
      const text = constant(predicate.right)
      if (predicate.left.type !== 'name' || predicate.left.name !== variable || text === null) return null
      return negated(`${of.name} = ${text}`, required)
    }
    default:
      return null
  }
}

const negated = (condition: string, required: boolean) => (required ? condition : `not (${condition})`)

type Binary = Extract<Expression, { type: 'binary' }>

/** A field, or the year of one, beside a constant; comparisons are never null, so that their negation is plain. */
function comparison({ operator, left, right }: Binary, types: Types, required: boolean): string | null {
  const subject =
    left.type === 'call' && left.name === 'year' && left.arguments[0]?.type === 'name'
      ? `year(${left.arguments[0].name})`
      : fieldOf(left, types)
  if (subject === null) return null
  if (right.type === 'null') {
    if (operator !== 'eq' && operator !== 'ne') return null
    return `${subject} is ${(operator === 'eq') === required ? '' : 'not '}null`
  }
  const value = constant(right)
  if (value === null) return null
  if (operator === 'eq' || operator === 'ne')
    return negated(`${subject} = ${value}`, (operator === 'eq') === required)
  const symbol = OPERATORS[operator]
  const ordered = right.type === 'literal' && right.of !== 'Edm.Boolean'
  return symbol === undefined || !ordered ? null : negated(`${subject} ${symbol} ${value}`, required)
}

/** A field with one value. */
function fieldOf(expression: Expression, types: Types): string | null {
  const type = expression.type === 'name' ? types[expression.name] : undefined
  return type === undefined || type === 'texts' || type === 'point' || expression.type !== 'name'
    ? null
    : expression.name
}

function constant(expression: Expression): string | null {
  if (expression.type !== 'literal') return null
  const { of, value } = expression
  if (typeof value === 'string')
    return of === 'Edm.String'
      ? `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
      : of === 'Edm.Date' || of === 'Edm.DateTimeOffset'
        ? `date'${value}'`
        : null
  if (typeof value === 'boolean') return String(value)
  return of !== 'Edm.Duration' && Number.isFinite(value) ? String(value) : null
}
