/**
 * The database of accounts: a file (sqlite.ts) or a database on the network that several Lodestones share (postgres/). Work
 * on a file is done when the call returns. Faults: AccountsUnavailable if the database is unavailable.
 */
export interface Database {
  /** Runs read-only work. */
  read<T>(work: () => DatabaseScript<T>): MaybePromise<T>
  /** Runs read-only work on a consistent snapshot. */
  snapshot<T>(work: () => DatabaseScript<T>): MaybePromise<T>
  /** Runs work as a transaction, which is rolled back if it throws; writers are serialised. */
  write<T>(work: () => DatabaseScript<T>): MaybePromise<T>
  /** The same for counts, on which no cached value depends. */
  writeCounts<T>(work: () => DatabaseScript<T>): MaybePromise<T>
  /**
   * A number that changes when something that cached values depend on was written: immediately if this process wrote it,
   * within a second if another did. Values that were read before are valid as long as it is the same.
   */
  generation(): MaybePromise<number>
  /** True if no later write is known. */
  isCurrent(generation: number): boolean
  /** To be run after rows were imported with their ids, so that these are not assigned again. */
  readonly settleIds: readonly ScriptStep[]
  close(): MaybePromise<void>
}

/** A value if it is in memory, or a promise if a database on the network is queried. */
export type MaybePromise<T> = T | Promise<T>

/** Continues synchronously with an available value: a promise would cost more than many answers. */
export function thenMaybe<T, U>(
  maybe: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return maybe instanceof Promise ? maybe.then(next) : next(maybe)
}

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
 * A statement in the SQL that all databases of accounts understand; see postgres/migrations.ts for the differences.
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
