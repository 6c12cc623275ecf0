import type { DatabaseScript, ScriptStep } from './database-script.ts'

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
