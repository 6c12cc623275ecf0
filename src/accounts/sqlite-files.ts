import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  statfsSync,
} from 'node:fs'
import path from 'node:path'
import { setMember } from '../model/lookup.ts'
import { invalidName } from './names.ts'

/** Creates the file of a database and its folder if they are absent; only its owner can read it. */
export function makePrivateFile(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  const descriptor = openSync(file, 'a+', 0o600)
  try {
    keepPrivate(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Makes a file with other permissions, such as a copied backup, private if its owner opens it. */
function keepPrivate(descriptor: number): void {
  const { uid, mode } = fstatSync(descriptor)
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) fchmodSync(descriptor, 0o600)
}

/** Creates the empty file of a backup, readable only by its owner. Faults: AccountInvalid if it exists. */
export function makeBackupFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason =
      code === 'EEXIST'
        ? `${file} exists already, and is not overwritten`
        : `${file} cannot be written: ${code}`
    throw invalidName(reason)
  }
}

/** True for a file that exists on a disk that is mounted for reading alone. */
export function isOnReadOnlyDisk(file: string): boolean {
  try {
    accessSync(file, constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
  }
}

/** The free bytes of the disk of a file. */
export function freeBytes(file: string): number {
  try {
    const { bavail, bsize } = statfsSync(path.dirname(file))
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Free bytes below which SQLite cannot make its auxiliary files. */
export const LEAST_FREE = 2 ** 17

export const FULL = {
  reason: 'cannot be written: the disk is full',
  hint: 'Make room on its disk; the accounts in the file are unharmed.',
}

export const READ_ONLY = {
  reason: 'cannot be written: the disk is read-only',
  hint: 'Mount it for writing; the accounts in the file are unharmed.',
}

export interface Reason {
  readonly reason: string
  readonly hint?: string
}

const RIGHTS = 'Give the user that runs lodestone the right to write the file and its folder.'

const REASONS: readonly (readonly [code: string, reason: Reason])[] = [
  ['SQLITE_NOTADB', { reason: 'is no database' }],
  ['SQLITE_CORRUPT', { reason: 'is damaged: restore a backup' }],
  ['SQLITE_BUSY', { reason: 'is being written by another process: try again in a moment' }],
  ['SQLITE_LOCKED', { reason: 'is being written by another process: try again in a moment' }],
  ['SQLITE_READONLY', { reason: 'cannot be written: the file or its folder is read-only', hint: RIGHTS }],
  ['SQLITE_CANTOPEN', { reason: 'cannot be opened: its folder must be writable, too', hint: RIGHTS }],
  ['SQLITE_FULL', FULL],
  ['SQLITE_IOERR', { reason: 'cannot be read or written: the disk gave an error' }],
]

/**
 * Describes an error of SQLite that has a cause outside of the program, and what to do about it; null for any other. Where there
 * is no room for its auxiliary files, SQLite reports a full disk as an error of reading or writing.
 *
 * @param free bytes that are free on the disk of the file
 */
export function sqliteReason(code: string, free: () => number): Reason | null {
  const found = REASONS.find(([prefix]) => code.startsWith(prefix))
  if (found === undefined) return null
  return found[0] === 'SQLITE_IOERR' && free() < LEAST_FREE ? FULL : found[1]
}

/** The driver returns binary values of many rows as ArrayBuffers, of a single row as Buffers. */
export function withBuffers(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row))
    if (value instanceof ArrayBuffer) setMember(row, name, Buffer.from(value))
  return row
}
