import { parseOrderBy, parseSelect, parseWhere } from '../language/odsql/parse.ts'
import { all } from '../query/conditions.ts'
import type { RecordQuery } from '../query/plan.ts'
import { type ResolveContext, resolveOrderBy, resolveSelect, resolveWhere } from '../query/resolve.ts'
import type { Stopwatch } from './stopwatch.ts'

/** The clauses of an ODSQL query as an API receives them; an empty clause is an absent one. */
export interface OdsqlClauses {
  readonly select?: string | undefined
  /** Several filters must all hold. */
  readonly where: readonly string[]
  readonly orderBy?: string | undefined
  readonly limit: number
  readonly offset: number
}

/** Parses and resolves the clauses of an ODSQL query. Faults: ODSQLError, IncompatibleTypesInComparisonFilter. */
export function planOdsql(clauses: OdsqlClauses, context: ResolveContext, watch: Stopwatch): RecordQuery {
  const { select, where, orderBy } = watch.time('parse', () => ({
    select: isBlank(clauses.select) ? null : parseSelect(clauses.select),
    where: clauses.where.filter(text => !isBlank(text)).map(parseWhere),
    orderBy: isBlank(clauses.orderBy) ? [] : parseOrderBy(clauses.orderBy),
  }))
  return watch.time('resolve', () => ({
    filter: all(where.map(expression => resolveWhere(expression, context))),
    select: resolveSelect(select, context),
    orderBy: resolveOrderBy(orderBy, context),
    limit: clauses.limit,
    offset: clauses.offset,
  }))
}

function isBlank(text: string | undefined): text is undefined {
  return text === undefined || text.trim() === ''
}
