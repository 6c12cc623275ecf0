import type { Expression } from '../../language/odsql/ast.ts'
import type { V1Comparison, V1Query } from '../../language/search-v1/ast.ts'
import { type Field, isNumeric, isTemporal } from '../../model/field.ts'
import { conjunctionOrNull, disjunction, negate } from '../conditions.ts'
import { ALWAYS, type Condition } from '../plan.ts'
import { FieldNames, type ResolveContext } from './context.ts'
import { searchedWords, wordsCondition } from './predicates.ts'
import { resolveWhere } from './where.ts'

/** The compared value is a separate text, without positions. */
const NOWHERE = { from: 0, to: 0 }

/**
 * Returns the condition of a query of the Search API v1 for a dataset. A comparison that names no known field is treated as
 * words. Throws as {@link resolveWhere} does.
 */
export function resolveV1(query: V1Query, context: ResolveContext): Condition | null {
  switch (query.type) {
    case 'and':
      return conjunctionOrNull(query.operands.map(operand => resolveV1(operand, context)))
    case 'or':
      return disjunction(query.operands.map(operand => resolveV1(operand, context) ?? ALWAYS))
    case 'not':
      return negate(resolveV1(query.operand, context) ?? ALWAYS)
    case 'words':
      return wordsCondition(searchedWords(query.text))
    case 'absent': {
      const operand = fieldNode(query.field)
      return resolveWhere({ type: 'is', operand, negated: false, value: null, span: NOWHERE }, context)
    }
    case 'comparison':
      return comparison(query, context)
    default:
      return query satisfies never
  }
}

function comparison(requested: V1Comparison, context: ResolveContext): Condition | null {
  const field = new FieldNames('where', context).known(requested.field)
  if (field === undefined) return wordsCondition(searchedWords(requested.text))
  return resolveWhere(expressionOf(requested, field), context)
}

function expressionOf({ operator, value, field: name }: V1Comparison, field: Field): Expression {
  const operand = fieldNode(name)
  if (typeof value !== 'string') {
    const [lower, upper] = [valueNode(value.lower, field), valueNode(value.upper, field)]
    const range = { lower, lowerInclusive: true, upper, upperInclusive: true }
    return { type: 'range', operand, range, span: NOWHERE }
  }
  const right = valueNode(value, field)
  if (operator === ':' && field.type === 'text')
    return { type: 'like', operand, pattern: right, span: NOWHERE }
  return {
    type: 'comparison',
    operator: operator === ':' ? '=' : operator,
    left: operand,
    right,
    span: NOWHERE,
  }
}

function fieldNode(name: string): Expression {
  return { type: 'field', name, quoted: true, span: NOWHERE }
}

/** A value as a literal of the type of the field; a text where it is none. */
function valueNode(text: string, { type }: Field): Expression {
  if (isTemporal(type)) return { type: 'date', text, span: NOWHERE }
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (isNumeric(type) && Number.isFinite(number))
    return { type: 'number', value: number, text, span: NOWHERE }
  if (type === 'boolean' && /^(?:true|false)$/i.test(text))
    return { type: 'boolean', value: text.toLowerCase() === 'true', span: NOWHERE }
  return { type: 'string', value: text, span: NOWHERE }
}
