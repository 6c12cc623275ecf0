import { randomBytes as systemRandomBytes } from 'node:crypto'
import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { CONFIG_INVALID } from '../config/faults.ts'
import { Fault } from '../errors/errors.ts'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { PROCESS_NAME } from '../runtime/processes.ts'
import type { Accounts } from './accounts.ts'
import { auditedAccounts, createAudit } from './audit.ts'
import { createCleaning } from './cleaning.ts'
import { createClients } from './clients.ts'
import { backUpDatabase, readBackup, replaceAll } from './copy.ts'
import { change, type Database, type DatabaseScript, type MaybePromise, query } from './database.ts'
import { FailuresInMemory, SharedFailures } from './failures.ts'
import { ACCOUNTS_UNAVAILABLE } from './faults.ts'
import { createKeys } from './keys.ts'
import { createCallCounts } from './last-uses.ts'
import { MIGRATIONS } from './migrations.ts'
import { createPasskeys } from './passkeys.ts'
import { createPasswords } from './passwords.ts'
import type { PostgresDatabase, PostgresPlace } from './postgres/database.ts'
import { isPassing } from './postgres/faults.ts'
import { createSecondFactors } from './second-factors.ts'
import { createSingleUse, type RandomBytes } from './secrets.ts'
import { createSessions } from './sessions.ts'
import { SqliteDatabase } from './sqlite.ts'
import { createTokens } from './tokens.ts'
import { createIdentities, createUsers } from './users.ts'

/** Milliseconds between two cleanings, and two attempts to reach a database. */
const [CLEANING, RETRY] = [600_000, 1000]

export interface OpenOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly randomBytes?: RandomBytes
  /** Cost of hashing a password, as a power of two. */
  readonly passwordPower?: number
}

/** How to wait for an unreachable database on the network. */
export interface WaitOptions {
  /** Milliseconds to wait; 0 by default. */
  readonly timeout?: number
  /** Called once with the reason for the wait. */
  readonly onWaiting?: (reason: string) => void
}

/** Opens the accounts of a portal in the configured database. Faults: AccountsUnavailable, ConfigInvalid. */
export function openAccountsOf(
  { portal, accounts }: Pick<Config, 'portal' | 'accounts'>,
  options: OpenOptions & WaitOptions,
): MaybePromise<Accounts> {
  if (accounts === undefined) return openAccounts(accountsFile(portal), options)
  const { url, passwordFile } = accounts
  const password = passwordFile === undefined ? {} : { password: readPassword(passwordFile) }
  return openSharedAccounts({ url, ...password }, options)
}

function readPassword(file: string): string {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] ?? ''
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason = `accounts_password_file: ${file} cannot be read: ${code}`
    throw new Fault(CONFIG_INVALID, { reason }, { place: { file } })
  }
}

/**
 * Opens the accounts of a portal in a file, `var/accounts.sqlite`; creates the file if it is absent.
 *
 * Faults: AccountsUnavailable if the file is empty, cannot be written, is something else, or has a newer schema.
 */
export function openAccounts(file: string, options: OpenOptions): Accounts {
  refuseRemains(file)
  if (!existsSync(file)) makeAccountsFile(file)
  const database = new SqliteDatabase(file, MIGRATIONS)
  const { randomBytes = systemRandomBytes } = options
  const found = database.read(() => findSecret.get())?.value
  const secret =
    found === undefined ? database.write(() => findOrMakeSecret(randomBytes)) : Buffer.from(found)
  return accountsOn(database, secret, options)
}

/** An empty file was damaged, because {@link makeAccountsFile} leaves none; SQLite would delete its log, or apply it to a new file. */
function refuseRemains(file: string): void {
  // First: another process may make the file meanwhile.
  const log = sizeOf(`${file}-wal`) ?? 0
  const size = sizeOf(file)
  if (size !== 0 && (size !== undefined || log === 0)) return
  const reason = `${file} ${size === 0 ? 'is empty, so the accounts in it are lost' : 'is missing, though its log is there'}`
  const hint = `Restore a backup; or remove ${file} and ${file}-wal to begin without accounts.`
  throw new Fault(ACCOUNTS_UNAVAILABLE, { reason }, { hint })
}

function sizeOf(file: string): number | undefined {
  return existsSync(file) ? statSync(file).size : undefined
}

/** Makes the file in one step. Where that is impossible, whoever opens it next finds out why. */
function makeAccountsFile(file: string): void {
  try {
    const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-accounts-'))
    const fresh = `${file}.${PROCESS_NAME}.new`
    try {
      new SqliteDatabase(path.join(folder, 'accounts'), MIGRATIONS).close()
      mkdirSync(path.dirname(file), { recursive: true })
      copyFileSync(path.join(folder, 'accounts'), fresh)
      putInPlace(fresh, file)
    } finally {
      rmSync(folder, { recursive: true, force: true })
      rmSync(fresh, { force: true })
    }
  } catch {
    // Another process made it meanwhile, or the disk is full or read-only.
  }
}

/** Throws if the file exists; some file systems have no hard links. */
function putInPlace(fresh: string, file: string): void {
  try {
    linkSync(fresh, file)
  } catch {
    copyFileSync(fresh, file, constants.COPYFILE_EXCL)
  }
}

/**
 * Opens accounts that several Lodestones share, in a PostgreSQL database; creates the tables if they are absent.
 *
 * Faults: AccountsUnavailable if the database cannot be reached, refuses, or has a newer schema.
 */
export async function openSharedAccounts(
  place: PostgresPlace,
  options: OpenOptions & WaitOptions,
): Promise<Accounts> {
  const { randomBytes = systemRandomBytes, timeout = 0, onWaiting } = options
  const database = await reach(place, timeout, onWaiting)
  try {
    const secret = await database.write(() => findOrMakeSecret(randomBytes))
    return accountsOn(database, secret, options)
  } catch (error) {
    await database.close()
    throw error
  }
}

async function reach(
  place: PostgresPlace,
  timeout: number,
  onWaiting: ((reason: string) => void) | undefined,
): Promise<PostgresDatabase> {
  const until = performance.now() + timeout
  // Its client is loaded by those alone who use it.
  const { PostgresDatabase } = await import('./postgres/database.ts')
  for (let attempt = 0; ; attempt++) {
    try {
      return await PostgresDatabase.open(place)
    } catch (error) {
      if (!isPassing(error) || performance.now() + RETRY > until) throw error
      if (attempt === 0) onWaiting?.((error as Error).message)
      await sleep(RETRY)
    }
  }
}

function accountsOn(
  database: SqliteDatabase | PostgresDatabase,
  secret: Buffer,
  { now: clock, randomBytes = systemRandomBytes, passwordPower }: OpenOptions,
): Accounts {
  const now = () => Math.floor(clock())
  const { keys, uses: keyUses } = createKeys(database, randomBytes, now)
  const { sessions, uses: sessionUses } = createSessions(database, randomBytes, now)
  const stopCleaning = cleanFromTimeToTime(database, now)
  const flush = async () => {
    await keyUses.flush()
    await sessionUses.flush()
  }
  let closed = false
  const users = createUsers(database, createPasswords(randomBytes, passwordPower), now)
  const audit = createAudit(database, now)
  const accounts: Accounts = {
    users,
    audit,
    identities: createIdentities(database, users, audit),
    secondFactors: createSecondFactors(database, secret, randomBytes, now),
    singleUse: createSingleUse(database),
    passkeys: createPasskeys(database, secret, now),
    keys,
    sessions,
    clients: createClients(database, randomBytes, now),
    tokens: createTokens(database, randomBytes, now),
    calls: createCallCounts(database),
    failures: database instanceof SqliteDatabase ? new FailuresInMemory() : new SharedFailures(database),
    secret,
    backup: async file => {
      await flush()
      await backUpDatabase(database, file)
    },
    restore: async file => {
      const copy = readBackup(file)
      await database.write(() => replaceAll(copy, database.settleIds))
    },
    close: async () => {
      if (closed) return
      closed = true
      stopCleaning()
      keyUses.stop()
      sessionUses.stop()
      try {
        await flush()
      } catch (error) {
        // The last uses of keys are not worth delaying or failing the shutdown.
        if (!(error instanceof Fault)) throw error
      } finally {
        await database.close()
      }
    },
  }
  const audited = auditedAccounts(accounts)
  return { ...audited, identities: createIdentities(database, audited.users, audit) }
}

function cleanFromTimeToTime(database: Database, now: () => number): () => void {
  const clean = createCleaning(database)
  const cleaning = setInterval(() => {
    void ignoreRejection(
      clean(now()),
      'the next time does it: another process writes, or the database is away',
    )
  }, CLEANING).unref()
  return () => clearInterval(cleaning)
}

const findSecret = query<{ readonly value: Uint8Array }>("SELECT value FROM setting WHERE name = 'secret'")
const insertSecret = change("INSERT INTO setting (name, value) VALUES ('secret', ?) ON CONFLICT DO NOTHING")

/** The secret of the portal, which the first process to open its accounts generates. */
function* findOrMakeSecret(randomBytes: RandomBytes): DatabaseScript<Buffer> {
  if ((yield* findSecret.get()) === undefined) yield* insertSecret(Buffer.from(randomBytes(32)))
  const secret = yield* findSecret.get()
  if (secret === undefined) throw new Error('the secret of the portal is not in the database of accounts')
  return Buffer.from(secret.value)
}

/** The accounts file of a portal that does not share its accounts. */
export function accountsFile(portal: string): string {
  return path.join(portal, 'var', 'accounts.sqlite')
}
