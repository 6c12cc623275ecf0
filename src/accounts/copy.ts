import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { change, type DatabaseScript, forRows, query, type ScriptStep, type SqlValue } from './database.ts'
import { MIGRATIONS } from './migrations.ts'
import { invalidName } from './names.ts'
import type { PostgresDatabase } from './postgres/database.ts'
import { SqliteDatabase } from './sqlite.ts'
import { makeBackupFile } from './sqlite-files.ts'

/**
 * All tables with their columns, referenced ones first, and the column that orders the rows. The audit log is not among them:
 * a restore does not undo what happened here.
 */
const TABLES = [
  ['setting', ['name', 'value'], 'name'],
  ['account', ['id', 'name', 'folded', 'password', 'quota', 'created'], 'id'],
  ['user_grant', ['account', 'dataset', 'issuer'], 'account, dataset'],
  ['api_key', ['id', 'account', 'hash', 'hint', 'label', 'created', 'used'], 'id'],
  ['session', ['id', 'account', 'hash', 'created', 'used'], 'id'],
  ['client', ['id', 'owner', 'name', 'type', 'secret', 'redirect_uris', 'created'], 'rowid'],
  ['consent', ['account', 'client', 'scope', 'granted'], 'account, client'],
  ['family', ['id', 'account', 'client', 'scope', 'created', 'revoked'], 'rowid'],
  ['code', ['hash', 'family', 'redirect_uri', 'challenge', 'method', 'expires', 'spent'], 'hash'],
  ['access_token', ['hash', 'family', 'expires'], 'hash'],
  ['refresh_token', ['hash', 'family', 'spent'], 'hash'],
  ['identity', ['issuer', 'subject', 'account'], 'issuer, subject'],
  ['second_factor', ['account', 'secret', 'confirmed', 'step'], 'account'],
  ['recovery_code', ['account', 'hash'], 'account, hash'],
  [
    'passkey',
    ['id', 'account', 'credential', 'public_key', 'counter', 'transports', 'label', 'created', 'used'],
    'id',
  ],
  ['call_count', ['day', 'subject', 'calls'], 'day, subject'],
] as const

type TableRow = Readonly<Record<string, SqlValue>>

type AccountsCopy = ReadonlyMap<string, readonly TableRow[]>

function* readAll(): DatabaseScript<AccountsCopy> {
  const copy = new Map<string, readonly TableRow[]>()
  for (const [table, columns, order] of TABLES)
    copy.set(
      table,
      yield* query<TableRow>(`SELECT ${columns.join(', ')} FROM ${table} ORDER BY ${order}`).all(),
    )
  return copy
}

/** Replaces all data by a copy. */
export function* replaceAll(copy: AccountsCopy, settleIds: readonly ScriptStep[]): DatabaseScript<void> {
  for (const [table] of TABLES.toReversed()) yield* change(`DELETE FROM ${table}`)()
  for (const [table, columns] of TABLES) {
    const insert = (rows: string) => `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows} RETURNING 1`
    const placeholders = `(${columns.map(() => '?').join(', ')})`
    const rows = (copy.get(table) ?? []).map(row => columns.map(column => row[column] ?? null))
    yield* forRows(insert, placeholders, rows)
  }
  for (const step of settleIds) yield step
}

/**
 * Writes a consistent copy of all accounts to a file that only its owner can read; whichever database they are in, the file
 * is an accounts file as portals use by default.
 */
export async function backUpDatabase(
  database: SqliteDatabase | PostgresDatabase,
  file: string,
): Promise<void> {
  if (database instanceof SqliteDatabase) return database.backup(file)
  makeBackupFile(file)
  const folder = mkdtempSync(path.join(path.dirname(file), '.backup-'))
  try {
    const copy = await database.snapshot(readAll)
    const staged = new SqliteDatabase(path.join(folder, 'accounts.sqlite'), MIGRATIONS)
    try {
      staged.write(() => replaceAll(copy, staged.settleIds))
      rmSync(file)
      staged.backup(file)
    } finally {
      staged.close()
    }
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Reads all accounts of a file, also of an older schema; the file is not changed. Faults: AccountInvalid if there is
 * none, AccountsUnavailable if it is something else.
 */
export function readBackup(file: string): AccountsCopy {
  const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-restore-'))
  try {
    const copied = path.join(folder, path.basename(file))
    copyBackup(file, copied)
    const database = new SqliteDatabase(copied, MIGRATIONS)
    try {
      const copy = database.snapshot(readAll)
      if (copy.get('setting')?.length === 0) throw invalidName(`${file} holds no accounts`)
      return copy
    } finally {
      database.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function copyBackup(file: string, copied: string): void {
  try {
    copyFileSync(file, copied)
    // The latest writes of a portal are in the write-ahead log.
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copied}-wal`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? `There is no file ${file}` : `${file} cannot be read: ${code}`
    throw invalidName(reason)
  }
}
