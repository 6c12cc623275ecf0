import { type Condition, fieldsOf } from '../plan.ts'
import { technicalName } from '../technical.ts'

/** True where a condition finds records by itself. */
export function drives(condition: Condition): boolean {
  switch (condition.type) {
    case 'and':
      return condition.operands.some(drives)
    case 'or':
      return condition.operands.every(drives)
    case 'not':
    case 'always':
      return false
    case 'words':
      return true
    case 'relation':
      return [condition.left, condition.right].some(needsField)
    case 'compare':
    case 'oneOf':
      return technicalName(condition.field) === undefined || isIdentity(condition)
    default:
      return technicalName(condition.field) === undefined
  }
}

/** True for a value that is null without the value of some field, whose triples so find all records that have it. */
export function needsField(scalar: Parameters<typeof fieldsOf>[0]): boolean {
  return requiredFields(scalar).some(field => technicalName(field) === undefined)
}

/** The fields without which a value is null. */
export function requiredFields(scalar: Parameters<typeof fieldsOf>[0]): ReturnType<typeof fieldsOf> {
  switch (scalar.type) {
    case 'ifNull':
      return []
    case 'valueCount':
    case 'truth':
    case 'choice':
      return []
    case 'function':
      return scalar.arguments.flatMap(requiredFields)
    case 'arithmetic':
      return [...requiredFields(scalar.left), ...requiredFields(scalar.right)]
    case 'length':
    case 'lower':
    case 'datePart':
    case 'dateFormat':
    case 'json':
      return requiredFields(scalar.operand)
    default:
      return fieldsOf(scalar)
  }
}

/** True where a condition looks at every value of a field, rather than one up. */
export function scans(condition: Condition): boolean {
  if (condition.type === 'and' || condition.type === 'or') return condition.operands.some(scans)
  if (condition.type === 'not') return scans(condition.operand)
  return condition.type !== 'oneOf' && !(condition.type === 'compare' && condition.operator === '=')
}

/** True for an equality with the id of a record, which is in its IRI. */
export function isIdentity(condition: Condition): boolean {
  if (condition.type !== 'oneOf' && !(condition.type === 'compare' && condition.operator === '='))
    return false
  return technicalName(condition.field) === 'recordid'
}
