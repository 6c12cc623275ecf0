import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Fault } from '../errors/errors.ts'
import { type AccountsCopy, readAll, replaceAll } from './copy.ts'
import { ACCOUNT_INVALID } from './faults.ts'
import { MIGRATIONS } from './migrations.ts'
import type { PostgresDatabase } from './postgres/database.ts'
import { SqliteDatabase } from './sqlite.ts'
import { makeBackupFile } from './sqlite-files.ts'

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
      if (copy.get('setting')?.length === 0)
        throw new Fault(ACCOUNT_INVALID, { reason: `${file} holds no accounts` })
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
    throw new Fault(ACCOUNT_INVALID, { reason })
  }
}
