/** What can be bound to a parameter of a statement. */
export type SqlValue = string | number | null | Uint8Array

/** A statement with its values: for its first row, all rows, or the number of rows that it changed. */
export interface ScriptStep {
  readonly type: 'get' | 'all' | 'change'
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/**
 * Work on the accounts, statement by statement: it yields a statement and receives its result. So the same work runs
 * synchronously on a local file, and asynchronously over the network. It catches nothing.
 */
export type DatabaseScript<T> = Generator<ScriptStep, T, unknown>

/** A statement that returns rows, as objects by the names of their columns. */
export interface ScriptQuery<Row> {
  get(...values: readonly SqlValue[]): DatabaseScript<Row | undefined>
  all(...values: readonly SqlValue[]): DatabaseScript<readonly Row[]>
}

/**
 * A statement in the SQL that all databases of accounts understand; see postgres/dialect.ts for the differences.
 * Parameters are `?`, or `?1` where one occurs in several places.
 */
export function query<Row extends object>(sql: string): ScriptQuery<Row> {
  return {
    *get(...values) {
      return (yield { type: 'get', sql, values }) as Row | undefined
    },
    *all(...values) {
      return (yield { type: 'all', sql, values }) as readonly Row[]
    },
  }
}

/** A statement that changes rows, and returns their number. */
export function change(sql: string): (...values: readonly SqlValue[]) => DatabaseScript<number> {
  return function* (...values) {
    return (yield { type: 'change', sql, values }) as number
  }
}

/** Maximum rows of one statement: every database supports their number of parameters. */
const ROWS_AT_ONCE = 500

/**
 * Runs a statement that takes many rows, some hundred at a time.
 *
 * @param sql builds the statement from the text of its rows, `(?, ?), (?, ?)`
 * @param placeholders of one row, `(?, ?)`
 */
export function* forRows<Row extends object>(
  sql: (rows: string) => string,
  placeholders: string,
  rows: readonly (readonly SqlValue[])[],
): DatabaseScript<readonly Row[]> {
  const found: Row[] = []
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const some = rows.slice(at, at + ROWS_AT_ONCE)
    const text = sql(some.map(() => placeholders).join(', '))
    found.push(...(yield* query<Row>(text).all(...some.flat())))
  }
  return found
}
