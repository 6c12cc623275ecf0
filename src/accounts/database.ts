import { closeSync, fchmodSync, fstatSync, fsyncSync, mkdirSync, openSync, rmSync } from 'node:fs'
import path from 'node:path'
import Libsql from 'libsql'
import { Fault } from '../errors.ts'

/** What can be bound to a parameter of a statement. */
export type SqlValue = string | number | null | Uint8Array

/** A prepared statement that gives rows, as objects by the names of their columns. */
export interface Query<Row> {
  get(...values: readonly SqlValue[]): Row | undefined
  all(...values: readonly SqlValue[]): readonly Row[]
}

/** Milliseconds that a writer waits for another process. */
const PATIENCE = 5000

/** Kilobytes of the file that are kept in memory: 50,000 keys and their users. */
const CACHE = 16_000

/** `Lode`, in the header of the file: other databases are not written to. */
const APPLICATION = 0x4c6f6465

/**
 * The one place that knows SQLite. A failing statement of the driver stays open and holds what it has seen or written,
 * so all writing is done between BEGIN IMMEDIATE, the only place where another process can be in the way, and COMMIT.
 * Values go to the driver as one array: anything else in their place ends the process.
 */
export class Database {
  readonly file: string
  readonly #connection: Libsql.Database
  #writing = false
  #generation = 0
  #version: number | undefined
  readonly #dataVersion: () => number | undefined

  /**
   * Opens the file, makes it where it is absent (for its owner alone), and brings its schema up to date.
   *
   * @param steps statements of the schema; step n leads to version n + 1. Several processes may do so at once.
   * Faults: AccountsUnavailable where it cannot be written, is no database of accounts, or is of a newer program.
   */
  constructor(file: string, steps: readonly string[]) {
    this.file = file
    this.#connection = connect(file)
    try {
      this.#refuseStrangers(steps.length)
      this.#beginLog()
      this.#connection.exec('PRAGMA synchronous = NORMAL')
      this.#connection.exec('PRAGMA foreign_keys = ON')
      this.#connection.exec(`PRAGMA cache_size = -${CACHE}`)
      for (const step of steps.keys()) this.#migrate(steps, step)
    } catch (error) {
      this.#connection.close()
      throw this.#faultOf(error)
    }
    const version = this.query<{ readonly data_version: number }>('PRAGMA data_version')
    this.#dataVersion = () => version.get()?.data_version
  }

  /**
   * A number that is another one after anything was written, by this process or another, but for figures: what was read
   * before is good as long as it is the same. Asking costs much less than a look-up.
   */
  generation(): number {
    const version = this.#dataVersion()
    if (version !== this.#version) this.#generation++
    this.#version = version
    return this.#generation
  }

  query<Row extends object>(sql: string): Query<Row> {
    const statement = this.#connection.prepare(sql)
    return {
      get: (...values) => this.#told(() => statement.get([...values]) as Row | undefined),
      all: (...values) => this.#told(() => statement.all([...values]) as Row[]),
    }
  }

  /** A prepared statement that changes rows, and tells how many. */
  change(sql: string): (...values: readonly SqlValue[]) => number {
    const statement = this.#connection.prepare(sql)
    return (...values) => this.write(() => statement.run([...values]).changes)
  }

  /** Runs work that is written as a whole, or not at all where it throws. Inside of another it is a part of that. */
  write<T>(work: () => T): T {
    if (this.#writing) return work()
    this.#generation++
    return this.#transact(work)
  }

  /** Runs work that writes figures, on which nothing depends that was read. */
  writeFigures(work: () => void): void {
    this.#transact(work)
  }

  #transact<T>(work: () => T): T {
    return this.#told(() => {
      this.#connection.exec('BEGIN IMMEDIATE')
      this.#writing = true
      try {
        const result = work()
        this.#connection.exec('COMMIT')
        return result
      } catch (error) {
        if (this.#connection.inTransaction) this.#connection.exec('ROLLBACK')
        throw error
      } finally {
        this.#writing = false
      }
    })
  }

  /** Writes a copy as of one moment, for its owner alone. Faults: AccountInvalid where the file exists. */
  backup(file: string): void {
    try {
      closeSync(openSync(file, 'wx', 0o600))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const reason =
        code === 'EEXIST'
          ? `${file} exists already, and is not overwritten`
          : `${file} cannot be written: ${code}`
      throw new Fault('AccountInvalid', { reason })
    }
    try {
      // An empty file counts as none.
      this.#connection.prepare('VACUUM INTO ?').run([file])
      const descriptor = openSync(file, 'r+')
      fsyncSync(descriptor)
      closeSync(descriptor)
    } catch (error) {
      rmSync(file, { force: true })
      throw this.#faultOf(error)
    }
  }

  /** Puts what is in the log into the file, where nobody else is using it, and closes. */
  close(): void {
    if (!this.#connection.open) return
    try {
      this.#connection.pragma('busy_timeout = 50')
      this.#connection.pragma('wal_checkpoint(TRUNCATE)')
    } catch {
      // It stays in the log, which whoever opens the file next reads as well.
    }
    this.#connection.close()
  }

  #refuseStrangers(newest: number): void {
    const version = this.#number('user_version')
    if (version > newest) {
      const reason = `${this.file} was written by a newer Lodestone: its schema is ${version}, this program knows ${newest}`
      throw new Fault('AccountsUnavailable', { reason }, { hint: 'Run that version, or restore a backup.' })
    }
    const application = this.#number('application_id')
    const [tables] = this.#connection.prepare('SELECT count(*) AS count FROM sqlite_schema').all([]) as {
      readonly count: number
    }[]
    if (application !== APPLICATION && (application !== 0 || tables?.count !== 0))
      throw new Fault('AccountsUnavailable', { reason: `${this.file} is a database of something else` })
  }

  /** The change to a write-ahead log does not wait for others by itself. */
  #beginLog(): void {
    const until = Date.now() + PATIENCE
    for (;;) {
      try {
        this.#connection.exec('PRAGMA journal_mode = WAL')
        return
      } catch (error) {
        if (!isBusy(error) || Date.now() > until) throw error
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
      }
    }
  }

  #migrate(steps: readonly string[], step: number): void {
    if (this.#number('user_version') > step) return
    this.write(() => {
      if (this.#number('user_version') > step) return
      this.#connection.exec(steps[step] ?? '')
      this.#connection.exec(`PRAGMA application_id = ${APPLICATION}; PRAGMA user_version = ${step + 1}`)
    })
  }

  #number(pragma: 'user_version' | 'application_id'): number {
    const [row] = this.#connection.pragma(pragma) as Record<string, number>[]
    return row?.[pragma] ?? 0
  }

  #told<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw this.#faultOf(error)
    }
  }

  /** What the outside is to blame for, as a fault; anything else is a defect and stays what it is. */
  #faultOf(error: unknown): unknown {
    if (!(error instanceof Libsql.SqliteError)) return error
    const why = REASONS.find(([code]) => error.code.startsWith(code))?.[1]
    if (why === undefined) return error
    return new Fault('AccountsUnavailable', { reason: `${this.file} ${why}` }, { cause: error })
  }
}

const REASONS = [
  ['SQLITE_NOTADB', 'is no database'],
  ['SQLITE_CORRUPT', 'is damaged: restore a backup'],
  ['SQLITE_BUSY', 'is being written by another process: try again in a moment'],
  ['SQLITE_LOCKED', 'is being written by another process: try again in a moment'],
  ['SQLITE_READONLY', 'cannot be written: the file or its folder is read-only'],
  ['SQLITE_CANTOPEN', 'cannot be opened: its folder must be writable, too'],
  ['SQLITE_FULL', 'cannot be written: the disk is full'],
  ['SQLITE_IOERR', 'cannot be read or written: the disk gave an error'],
] as const

function isBusy(error: unknown): boolean {
  return error instanceof Libsql.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code)
}

/** A connection to a file that only its owner can read. */
function connect(file: string): Libsql.Database {
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    const descriptor = openSync(file, 'a+', 0o600)
    try {
      keepPrivate(descriptor)
    } finally {
      closeSync(descriptor)
    }
    return new Libsql(file, { timeout: PATIENCE })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = `${file} cannot be opened for writing: ${code ?? message}`
    throw new Fault('AccountsUnavailable', { reason }, { cause: error })
  }
}

/** A file that was put there with other rights, a backup say, is made private where its owner opens it. */
function keepPrivate(descriptor: number): void {
  const { uid, mode } = fstatSync(descriptor)
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) fchmodSync(descriptor, 0o600)
}
