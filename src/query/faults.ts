import { declareFault, type Fault } from '../errors/errors.ts'
import type { Argument, ClauseName, Expression, Span } from '../language/odsql/ast.ts'
import { clauseFault } from '../language/odsql/faults.ts'
import { type Field, type FieldType, isTemporal } from '../model/field.ts'

/** A query that cannot be parsed, where the API distinguishes that from one that cannot be resolved. */
export const ODSQL_SYNTAX_ERROR = declareFault(
  'ODSQLSyntaxError',
  400,
  'ODSQL syntax exception: {reason} Clause(s) containing the error(s): {clause}.',
)
export const INCOMPATIBLE_TYPES_IN_COMPARISON_FILTER = declareFault(
  'IncompatibleTypesInComparisonFilter',
  400,
  'ODSQL query is malformed: {reason} Clause(s) containing the error(s): {clause}.',
)

/** A comparison of a field with a value of another type. */
export function incompatible(
  clause: ClauseName,
  field: Field,
  operator: string,
  found: string,
  span: Span,
): Fault {
  const reason = `Field ${field.name} of type ${field.type} cannot be compared by ${operator} with ${found}`
  return clauseFault(
    clause,
    reason,
    span,
    expectation(field.type, field.name),
    INCOMPATIBLE_TYPES_IN_COMPARISON_FILTER,
  )
}

/** A comparison of two values of which at least one is computed. */
export function unlike(
  clause: ClauseName,
  [left, type]: readonly [Expression, FieldType],
  operator: string,
  [right, found]: readonly [Expression, FieldType],
  span: Span,
): Fault {
  const reason = `${capital(describeValue(left))} of type ${type} cannot be compared by ${operator} with ${describeValue(right)} of type ${found}`
  return clauseFault(clause, reason, span, undefined, INCOMPATIBLE_TYPES_IN_COMPARISON_FILTER)
}

function expectation(type: FieldType, name: string): string | undefined {
  if (isTemporal(type)) return "write date'2020-06-30'"
  if (type === 'text') return 'write a text in quotes'
  if (type === 'boolean') return `write ${name} is true`
  if (type === 'int' || type === 'double') return 'write a number without quotes'
  return undefined
}

/** A text that begins with a capital letter. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** An expression in plain words, for error messages. */
export function describeValue(node: Expression): string {
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

/** An argument of a call in plain words. */
export function describedArgument(node: Argument | undefined): string {
  if (node === undefined) return 'nothing'
  switch (node.type) {
    case 'star':
      return '*'
    case 'wildcard':
      return `${node.prefix.slice(0, 40)}*`
    case 'quantity':
      return `${node.value} ${node.unit.slice(0, 40)}`
    case 'distinct':
      return 'distinct values'
    case 'named':
      return `the parameter ${node.name.slice(0, 40)}`
    case 'steps':
      return 'steps in brackets'
    case 'number':
      return node.value === 0 && /[1-9]/.test(node.text)
        ? 'a number too small to be distinguished from 0'
        : describeValue(node)
    default:
      return describeValue(node)
  }
}
