import { randomBytes as systemRandomBytes } from 'node:crypto'
import path from 'node:path'
import type { Accounts } from './accounts.ts'
import { createCallCounts } from './call-counts.ts'
import { createCleaning } from './cleaning.ts'
import { createClients } from './clients.ts'
import { Database } from './database.ts'
import { createKeys } from './keys.ts'
import { MIGRATIONS } from './migrations.ts'
import { createPasswords } from './passwords.ts'
import type { RandomBytes } from './secrets.ts'
import { createSessions } from './sessions.ts'
import { createTokens } from './tokens.ts'
import { createUsers } from './users.ts'

/** Milliseconds between two cleanings. */
const CLEANING = 600_000

/**
 * Opens the accounts of a portal, `var/accounts.sqlite`; makes the file where it is absent.
 *
 * @param options `now` in milliseconds since 1970
 * Faults: AccountsUnavailable where the file cannot be written, is something else, or is of a newer program.
 */
export function openAccounts(
  file: string,
  options: { readonly now: () => number; readonly randomBytes?: RandomBytes },
): Accounts {
  const { randomBytes = systemRandomBytes } = options
  const now = () => Math.floor(options.now())
  const database = new Database(file, MIGRATIONS)
  const { keys, uses: keyUses } = createKeys(database, randomBytes, now)
  const { sessions, uses: sessionUses } = createSessions(database, randomBytes, now)
  const clean = createCleaning(database)
  const cleaning = setInterval(() => {
    try {
      clean(now())
    } catch {
      // Another process is writing: the next time does it.
    }
  }, CLEANING).unref()
  const flush = () => {
    keyUses.flush()
    sessionUses.flush()
  }
  let closed = false
  return {
    users: createUsers(database, createPasswords(randomBytes), now),
    keys,
    sessions,
    clients: createClients(database, randomBytes, now),
    tokens: createTokens(database, randomBytes, now),
    calls: createCallCounts(database),
    secret: secretOf(database, randomBytes),
    backup: copy => {
      flush()
      database.backup(copy)
    },
    close: () => {
      if (closed) return
      closed = true
      clearInterval(cleaning)
      keyUses.stop()
      sessionUses.stop()
      try {
        flush()
      } finally {
        database.close()
      }
    },
  }
}

/** The secret of the portal, which the first process makes that opens the file. */
function secretOf(database: Database, randomBytes: RandomBytes): Buffer {
  const find = database.query<{ readonly value: Uint8Array }>(
    "SELECT value FROM setting WHERE name = 'secret'",
  )
  const insert = database.change(
    "INSERT INTO setting (name, value) VALUES ('secret', ?) ON CONFLICT DO NOTHING",
  )
  const found = find.get()
  if (found === undefined) insert(Buffer.from(randomBytes(32)))
  const secret = found ?? find.get()
  if (secret === undefined) throw new Error('the secret of the portal is not in the database of accounts')
  return Buffer.from(secret.value)
}

/** Where the accounts of a portal are. */
export function accountsFile(portal: string): string {
  return path.join(portal, 'var', 'accounts.sqlite')
}
