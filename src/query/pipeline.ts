import { Fault, isFault, recoded } from '../errors/errors.ts'
import type { GroupItem, OrderItem, SelectItem } from '../language/odsql/ast.ts'
import { ODSQL_ERROR } from '../language/odsql/faults.ts'
import { parseGroupBy, parseOrderBy, parseSelect, parseWhere } from '../language/odsql/parse.ts'
import { parseV1 } from '../language/search-v1/parse.ts'
import { conjunctionOrNull } from './conditions.ts'
import { ODSQL_SYNTAX_ERROR } from './faults.ts'
import { excessOf } from './filter-limits.ts'
import type { Condition, Query } from './plan.ts'
import type { ResolveContext } from './resolve/context.ts'
import { resolveGroupBy } from './resolve/groups.ts'
import { refuseDoubles } from './resolve/labels.ts'
import { hasAggregate, resolveRowOrder, resolveRows } from './resolve/rows.ts'
import { resolveV1 } from './resolve/search-v1.ts'
import { resolveOrderBy, resolveSelect } from './resolve/select.ts'
import { resolveWhere } from './resolve/where.ts'
import type { Stopwatch } from './stopwatch.ts'

/** The clauses of an ODSQL query as an API receives them; an empty clause counts as absent. */
export interface OdsqlClauses {
  readonly select?: string | undefined
  /** Several filters must all hold. */
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
  const keys = resolveGroupBy(parsed.groupBy, texts.groupBy, context)
  const groups = { items: parsed.groupBy, text: texts.groupBy, keys }
  const select = resolveRows({ items: parsed.select, text: texts.select }, groups, context)
  const orderBy = resolveRowOrder({ items: parsed.orderBy, text: texts.orderBy }, groups, select, context)
  return { keys, select, orderBy, nullGroups: context.dialect.nullGroups }
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
