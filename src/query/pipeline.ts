import { Fault, isFault, recoded } from '../errors/errors.ts'
import type { Expression, GroupItem, OrderItem, SelectItem } from '../language/odsql/ast.ts'
import { ODSQL_ERROR } from '../language/odsql/faults.ts'
import { parseGroupBy, parseOrderBy, parseSelect, parseWhere } from '../language/odsql/parse.ts'
import { parseV1, type V1Comparison, type V1Query } from '../language/search-v1/parse.ts'
import { type Field, isNumeric, isTemporal } from '../model/field.ts'
import { conjunctionOrNull, disjunction, excessOf, negate } from './conditions.ts'
import type { Stopwatch } from './execute/executor.ts'
import { INCOMPATIBLE_TYPES_IN_COMPARISON_FILTER, ODSQL_SYNTAX_ERROR } from './faults.ts'
import { ALWAYS, type Condition, type Query } from './plan.ts'
import { FieldNames, type ResolveContext, refuseDoubles } from './resolve/context.ts'
import { searchedWords, wordsCondition } from './resolve/filter-functions.ts'
import { resolveGroupBy } from './resolve/groups.ts'
import { hasAggregate, resolveRowOrder, resolveRows } from './resolve/rows.ts'
import { resolveOrderBy, resolveSelect } from './resolve/select.ts'
import { resolveWhere } from './resolve/where.ts'

/** The clauses of an ODSQL query as an API receives them; an empty clause counts as absent. */
export interface OdsqlClauses {
  readonly select?: string | undefined
  readonly where: readonly string[]
  /** Queries in the language of the Search API v1, which must all hold, too. */
  readonly qv1?: readonly string[]
  /** An additional condition. */
  readonly filter?: Condition | null
  readonly groupBy?: string | undefined
  readonly orderBy?: string | undefined
  /** null for all. */
  readonly limit: number | null
  readonly offset: number
}

/**
 * Parses and resolves the clauses of an ODSQL query: a query for groups where it groups or selects an aggregate, or where
 * `required` says so; else one for records. Faults: ODSQLError, ODSQLSyntaxError, IncompatibleTypesInComparisonFilter.
 */
export function planOdsql(
  clauses: OdsqlClauses,
  context: ResolveContext,
  watch: Stopwatch,
  required: 'any' | 'groups' = 'any',
): Query {
  const { select = '', groupBy = '', orderBy = '' } = clauses
  const read = <Parsed>(parse: () => Parsed): Parsed => {
    try {
      return parse()
    } catch (error) {
      if (!context.dialect.syntaxErrors || !isFault(error, ODSQL_ERROR)) throw error
      throw recoded(error, ODSQL_SYNTAX_ERROR)
    }
  }
  const parsed = watch.time('parse', () =>
    read(() => ({
      select: isBlank(select) ? [] : parseSelect(select),
      where: clauses.where.filter(text => !isBlank(text)).map(parseWhere),
      qv1: (clauses.qv1 ?? []).map(parseV1),
      groupBy: isBlank(groupBy) ? [] : parseGroupBy(groupBy),
      orderBy: isBlank(orderBy) ? [] : parseOrderBy(orderBy),
    })),
  )
  return watch.time('resolve', () => {
    refuseDoubles(parsed.select, parsed.groupBy)
    const filter = conjunctionOrNull([
      ...parsed.where.map(expression => resolveWhere(expression, context)),
      ...parsed.qv1.map(query => (query === null ? null : resolveV1(query, context))),
      clauses.filter ?? null,
    ])
    refuseExcess(filter)
    const { limit, offset } = clauses
    const question = { filter, timezone: context.timezone, limit, offset }
    const grouped = required === 'groups' || parsed.groupBy.length > 0 || parsed.select.some(isAggregate)
    return grouped
      ? { type: 'groups', ...question, ...resolveGroups(parsed, { select, groupBy, orderBy }, context) }
      : { type: 'records', ...question, ...resolveRecords(parsed, select, context) }
  })
}

interface ParsedClauses {
  readonly select: readonly SelectItem[]
  readonly groupBy: readonly GroupItem[]
  readonly orderBy: readonly OrderItem[]
}

function resolveRecords(parsed: ParsedClauses, text: string, context: ResolveContext) {
  const select = resolveSelect(parsed.select, text, context)
  return { select, orderBy: resolveOrderBy(parsed.orderBy, select, context) }
}

function resolveGroups(
  parsed: ParsedClauses,
  texts: { readonly select: string; readonly groupBy: string; readonly orderBy: string },
  context: ResolveContext,
) {
  const groups = resolveGroupBy(parsed.groupBy, texts.groupBy, context)
  const select = resolveRows({ items: parsed.select, text: texts.select }, groups, context)
  const orderBy = resolveRowOrder({ items: parsed.orderBy, text: texts.orderBy }, groups, select, context)
  return { keys: groups.keys, select, orderBy, nullGroups: context.dialect.nullGroups }
}

function isAggregate({ expression }: SelectItem): boolean {
  return expression !== null && hasAggregate(expression)
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** Refuses filters that would occupy a worker of the store for long. */
function refuseExcess(filter: Condition | null): void {
  const excess = excessOf(filter)
  if (excess !== null) throw new Fault(ODSQL_ERROR, { reason: `the filter has ${excess}.`, clause: 'where' })
}

/** The compared value is a separate text, without positions. */
const NOWHERE = { from: 0, to: 0 }

/**
 * Returns the condition of a query of the Search API v1 for a dataset. A comparison that names no known field is treated as
 * words. Throws as {@link resolveWhere} does.
 */
function resolveV1(query: V1Query, context: ResolveContext): Condition | null {
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
  }
}

function comparison(requested: V1Comparison, context: ResolveContext): Condition | null {
  const field = new FieldNames('where', context).known(requested.field)
  if (field === undefined) return wordsCondition(searchedWords(requested.text))
  try {
    return resolveWhere(expressionOf(requested, field), context)
  } catch (error) {
    const declared = [ODSQL_ERROR, INCOMPATIBLE_TYPES_IN_COMPARISON_FILTER].find(each => isFault(error, each))
    if (declared === undefined || !(error instanceof Fault)) throw error
    throw new Fault(declared, { reason: String(error.parts.reason), clause: 'qv1' })
  }
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
