import { change, type Database, query } from './database.ts'
import { SESSION_IDLE, SESSION_LIFE } from './sessions.ts'

/** Rows of each kind that are read or deleted at a time. */
const BATCH_SIZE = 500

const DAY = 24 * 3600_000

/** Milliseconds that a consumed refresh token is retained, so that its reuse is detected. */
const REUSE_NOTICED = 90 * DAY

/** Tables with expiring rows: the table, its key, the column with the expiry, and how long rows are stored after it. */
const EXPIRING = [
  ['session', 'id', 'used', SESSION_IDLE],
  ['session', 'id', 'created', SESSION_LIFE],
  ['access_token', 'hash', 'expires', 0],
  ['code', 'hash', 'expires', DAY],
  ['single_use', 'hash', 'expires', 0],
  ['refresh_token', 'hash', 'spent', REUSE_NOTICED],
] as const

const DELETIONS = EXPIRING.map(([table, key, moment, lifetime]) => {
  const expired = `SELECT ${key} FROM ${table} WHERE ${moment} <= ? LIMIT ${BATCH_SIZE}`
  return { lifetime, remove: change(`DELETE FROM ${table} WHERE ${key} IN (${expired})`) }
})

const end = query<{ readonly last: number | null }>(
  `SELECT max(rowid) AS last FROM
    (SELECT rowid FROM family WHERE rowid > ? ORDER BY rowid LIMIT ${BATCH_SIZE}) AS next`,
)
const removeGrants = change(
  `DELETE FROM family WHERE rowid > ? AND rowid <= ? AND created <= ?
    AND (revoked IS NOT NULL OR NOT EXISTS (SELECT 1 FROM refresh_token WHERE family = family.id))
    AND NOT EXISTS (SELECT 1 FROM code WHERE family = family.id)
    AND NOT EXISTS (SELECT 1 FROM access_token WHERE family = family.id)`,
)

/**
 * Deletes what has expired, a bounded number of rows each time, and authorizations without codes and tokens. Returns
 * the function to call periodically, with the time in milliseconds since 1970.
 */
export function createCleaning(database: Database): (now: number) => Promise<void> {
  const cleanGrants = createGrantCleaning(database)
  return async now => {
    for (const { remove, lifetime } of DELETIONS) await database.write(() => remove(now - lifetime))
    await cleanGrants(now - 2 * DAY)
  }
}

/** Iterates over all authorizations, some at a time, and restarts at the end. */
function createGrantCleaning(database: Database): (before: number) => Promise<void> {
  let position = 0
  return async before => {
    const last = (await database.read(() => end.get(position)))?.last ?? null
    if (last !== null) await database.write(() => removeGrants(position, last, before))
    position = last ?? 0
  }
}
