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
