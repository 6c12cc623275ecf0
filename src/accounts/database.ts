import type { DatabaseScript, ScriptStep } from './database-script.ts'
import type { MaybePromise } from './maybe-promise.ts'

/**
 * Where accounts are: a file (sqlite.ts) or a database on the network that several Lodestones share (postgres/). Work on a
 * file is done when the call returns. Faults: AccountsUnavailable where the database is unavailable.
 */
export interface Database {
  /** Runs work that writes nothing. */
  read<T>(work: () => DatabaseScript<T>): MaybePromise<T>
  /** Runs work that reads all of it as of one moment, and writes nothing. */
  snapshot<T>(work: () => DatabaseScript<T>): MaybePromise<T>
  /** Runs work that is written as a whole, or not at all where it throws; no other work is written meanwhile. */
  write<T>(work: () => DatabaseScript<T>): MaybePromise<T>
  /** The same for counts, on which no cached value depends. */
  writeCounts<T>(work: () => DatabaseScript<T>): MaybePromise<T>
  /**
   * A number that is another one after something that others depend on was written: at once where this process wrote it,
   * within a second where another did. What was read before is good as long as it is the same.
   */
  generation(): MaybePromise<number>
  /** True where nothing is known that was written since. */
  isCurrent(generation: number): boolean
  /** To be run after rows came with their ids from elsewhere, so that none of them is given again. */
  readonly settleIds: readonly ScriptStep[]
  close(): MaybePromise<void>
}
