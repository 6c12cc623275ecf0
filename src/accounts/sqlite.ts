import { closeSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import Libsql from 'libsql'
import { Fault } from '../errors/errors.ts'
import type { Database, DatabaseScript, ScriptStep } from './database.ts'
import { ACCOUNTS_UNAVAILABLE } from './faults.ts'
import {
  FULL,
  freeBytes,
  isOnReadOnlyDisk,
  LEAST_FREE,
  makeBackupFile,
  makePrivateFile,
  READ_ONLY,
  type Reason,
  sqliteReason,
  withBuffers,
} from './sqlite-files.ts'

/** Maximum milliseconds that a writer waits for another process. */
const TIMEOUT = 5000

/** Milliseconds between two looks whether a full disk has room again. */
const ROOM_INTERVAL = 1000

/** Kilobytes of the file that are cached in memory: 50,000 keys and their users. */
const CACHE = 16_000

/** Prepared statements that are cached. */
const MAX_PREPARED = 200

/** `Lode`, in the header of the file: files with another id are not written to. */
const APPLICATION = 0x4c6f6465

/**
 * The one place that uses SQLite. A failing statement of the driver stays open and keeps its locks, so all writes are between
 * BEGIN IMMEDIATE, the only statement that another process can block, and COMMIT. Values must be passed to the driver as one
 * array: any other argument crashes the process.
 */
export class SqliteDatabase implements Database {
  readonly file: string
  /** The next id is always higher than all earlier ones. */
  readonly settleIds: readonly ScriptStep[] = []
  private readonly steps: readonly string[]
  private connection: Libsql.Database
  private readonly prepared = new Map<string, Libsql.Statement>()
  private currentGeneration = 0
  private version: number | undefined
  private dataVersion: Libsql.Statement
  /** When room was last looked for, if the disk is so full, or read-only, that the file can only be read; null otherwise. */
  private roomChecked: number | null = null

  /**
   * Opens the file, creates it if it is absent (readable only by its owner), and migrates its schema.
   *
   * @param steps statements of the schema; step n leads to version n + 1. Several processes may do so concurrently.
   * Faults: AccountsUnavailable if it cannot be written for another reason than its disk, is no database of accounts, or has a newer schema.
   */
  constructor(file: string, steps: readonly string[]) {
    this.file = file
    this.steps = steps
    this.connection = connect(file)
    this.dataVersion = this.begin()
  }

  /** Prepares the connection; on a full or read-only disk, which takes no log, it is replaced by one that only reads. */
  private begin(): Libsql.Statement {
    try {
      this.refuseForeign()
      this.beginLog()
      this.connection.exec('PRAGMA synchronous = NORMAL')
      this.connection.exec('PRAGMA foreign_keys = ON')
      this.connection.exec(`PRAGMA cache_size = -${CACHE}`)
      for (const step of this.steps.keys()) this.migrate(step)
      this.roomChecked = null
    } catch (error) {
      this.connection.close()
      const isFull = error instanceof Libsql.SqliteError && this.reasonOf(error) === FULL
      const isReadable = isFull || isOnReadOnlyDisk(this.file)
      if (!isReadable || !this.openForReading()) throw this.faultOf(error)
    }
    return this.connection.prepare('PRAGMA data_version')
  }

  /** False if a part of the accounts is in a log, or the schema is an older one. */
  private openForReading(): boolean {
    if ((statSync(`${this.file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return false
    this.connection = new Libsql(`${pathToFileURL(this.file)}?immutable=1`)
    this.roomChecked = performance.now()
    const isReadable = this.number('user_version') === this.steps.length
    if (!isReadable) this.connection.close()
    return isReadable
  }

  /** Opens the file for writing if the disk was full or read-only and takes something again. */
  private takeRoom(): void {
    if (this.roomChecked === null || performance.now() - this.roomChecked < ROOM_INTERVAL) return
    this.roomChecked = performance.now()
    if (freeBytes(this.file) < LEAST_FREE || isOnReadOnlyDisk(this.file)) return
    const reading = this.connection
    try {
      this.connection = connect(this.file)
      this.dataVersion = this.begin()
    } catch {
      // The disk has been filled again meanwhile.
      this.connection = reading
      return
    }
    reading.close()
    this.prepared.clear()
    this.version = undefined
  }

  /** Reading it costs much less than a look-up. */
  generation(): number {
    const { data_version: version } = this.withFaults(() => this.dataVersion.get([])) as {
      readonly data_version: number
    }
    if (version !== this.version) this.currentGeneration++
    this.version = version
    return this.currentGeneration
  }

  isCurrent(generation: number): boolean {
    return generation === this.currentGeneration
  }

  read<T>(work: () => DatabaseScript<T>): T {
    return this.withFaults(() => this.run(work()))
  }

  snapshot<T>(work: () => DatabaseScript<T>): T {
    return this.transact(() => this.run(work()))
  }

  write<T>(work: () => DatabaseScript<T>): T {
    this.currentGeneration++
    return this.transact(() => this.run(work()))
  }

  writeCounts<T>(work: () => DatabaseScript<T>): T {
    return this.transact(() => this.run(work()))
  }

  private run<T>(work: DatabaseScript<T>): T {
    let state = work.next()
    while (state.done !== true) state = work.next(this.step(state.value))
    return state.value
  }

  private step({ type, sql, values }: ScriptStep): unknown {
    const statement = this.prepare(sql)
    switch (type) {
      case 'get':
        return statement.get([...values])
      case 'all':
        return (statement.all([...values]) as Record<string, unknown>[]).map(withBuffers)
      case 'change':
        return statement.run([...values]).changes
      default:
        return type satisfies never
    }
  }

  private prepare(sql: string): Libsql.Statement {
    const known = this.prepared.get(sql)
    if (known !== undefined) return known
    if (this.prepared.size >= MAX_PREPARED) this.prepared.clear()
    const statement = this.connection.prepare(sql)
    this.prepared.set(sql, statement)
    return statement
  }

  private transact<T>(work: () => T): T {
    return this.withFaults(() => {
      if (this.roomChecked !== null) throw this.faultFor(isOnReadOnlyDisk(this.file) ? READ_ONLY : FULL)
      this.connection.exec('BEGIN IMMEDIATE')
      try {
        const result = work()
        this.connection.exec('COMMIT')
        return result
      } catch (error) {
        if (this.connection.inTransaction) this.connection.exec('ROLLBACK')
        throw error
      }
    })
  }

  /** Writes a consistent copy, readable only by its owner. Faults: AccountInvalid if the file exists. */
  backup(file: string): void {
    makeBackupFile(file)
    try {
      // An empty file counts as none.
      this.connection.prepare('VACUUM INTO ?').run([file])
      const descriptor = openSync(file, 'r+')
      fsyncSync(descriptor)
      closeSync(descriptor)
    } catch (error) {
      rmSync(file, { force: true })
      throw this.faultOf(error)
    }
  }

  /** Checkpoints the write-ahead log, if the file is not in use elsewhere, and closes. */
  close(): void {
    if (!this.connection.open) return
    try {
      this.connection.pragma('busy_timeout = 50')
      this.connection.pragma('wal_checkpoint(TRUNCATE)')
    } catch {
      // It stays in the log, which whoever opens the file next reads as well.
    }
    this.connection.close()
  }

  private refuseForeign(): void {
    const version = this.number('user_version')
    if (version > this.steps.length) {
      const reason = `${this.file} was written by a newer Lodestone: its schema is ${version}, this program knows ${this.steps.length}`
      throw new Fault(ACCOUNTS_UNAVAILABLE, { reason }, { hint: 'Run that version, or restore a backup.' })
    }
    const [tables] = this.connection.prepare('SELECT count(*) AS count FROM sqlite_schema').all([]) as {
      readonly count: number
    }[]
    // Read after the tables: another process may create both in one transaction between two reads.
    const application = this.number('application_id')
    if (application !== APPLICATION && (application !== 0 || tables?.count !== 0))
      throw new Fault(ACCOUNTS_UNAVAILABLE, { reason: `${this.file} is a database of something else` })
  }

  /** Switches to a write-ahead log; SQLite does not wait for other processes in this statement. */
  private beginLog(): void {
    const until = Date.now() + TIMEOUT
    for (;;) {
      try {
        this.connection.exec('PRAGMA journal_mode = WAL')
        return
      } catch (error) {
        if (!isBusy(error) || Date.now() > until) throw error
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
      }
    }
  }

  private migrate(step: number): void {
    if (this.number('user_version') > step) return
    this.transact(() => {
      if (this.number('user_version') > step) return
      this.connection.exec(this.steps[step] ?? '')
      this.connection.exec(`PRAGMA application_id = ${APPLICATION}; PRAGMA user_version = ${step + 1}`)
    })
  }

  private number(pragma: 'user_version' | 'application_id'): number {
    const [row] = this.connection.pragma(pragma) as Record<string, number>[]
    return row?.[pragma] ?? 0
  }

  private withFaults<T>(work: () => T): T {
    try {
      this.takeRoom()
      return work()
    } catch (error) {
      throw this.faultOf(error)
    }
  }

  /** Converts external errors to faults; any other error is a defect and returned unchanged. */
  private faultOf(error: unknown): unknown {
    if (!(error instanceof Libsql.SqliteError)) return error
    const found = this.reasonOf(error)
    return found === null ? error : this.faultFor(found, error)
  }

  private reasonOf({ code }: { readonly code: string }): Reason | null {
    return sqliteReason(code, () => freeBytes(this.file))
  }

  /** Anonymous clients get the message, which names no file. */
  private faultFor({ reason, hint = '' }: Reason, cause?: unknown): Fault {
    const described = { reason: `the database of accounts ${reason}` }
    return new Fault(ACCOUNTS_UNAVAILABLE, described, { hint: `It is ${this.file}. ${hint}`.trim(), cause })
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Libsql.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code)
}

/** A connection to a file that only its owner can read. */
function connect(file: string): Libsql.Database {
  try {
    if (!isOnReadOnlyDisk(file)) makePrivateFile(file)
    return new Libsql(file, { timeout: TIMEOUT })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = `${file} cannot be opened for writing: ${code ?? message}`
    throw new Fault(ACCOUNTS_UNAVAILABLE, { reason }, { cause: error })
  }
}
