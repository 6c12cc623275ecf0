import { clauseFault, type Fault } from '../errors.ts'
import type { ClauseName, Span } from '../language/odsql/ast.ts'
import { type Field, isTemporal } from '../model/field.ts'

/** A clause that can be read but makes no sense for the dataset. */
export function malformed(clause: ClauseName, reason: string, span: Span, hint?: string): Fault {
  return clauseFault(clause, reason, span, hint)
}

/** A comparison between types that have none. */
export function incompatible(
  clause: ClauseName,
  field: Field,
  operator: string,
  found: string,
  span: Span,
): Fault {
  const reason = `Field ${field.name} of type ${field.type} cannot be compared by ${operator} with ${found}`
  return clauseFault(clause, reason, span, expectation(field), 'IncompatibleTypesInComparisonFilter')
}

function expectation(field: Field): string | undefined {
  if (isTemporal(field.type)) return "write date'2020-06-30'"
  if (field.type === 'text') return 'write a text in quotes'
  if (field.type === 'boolean') return `write ${field.name} is true`
  if (field.type === 'int' || field.type === 'double') return 'write a number without quotes'
  return undefined
}
