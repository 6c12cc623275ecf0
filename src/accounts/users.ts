import type { User, Users } from './accounts.ts'
import { change, type Database, type DatabaseScript, query } from './database.ts'
import {
  checkDatasetName,
  checkQuota,
  checkUserName,
  folded,
  invalidName,
  shownName,
  unknownName,
  unknownUser,
} from './names.ts'
import { checkPasswordStrength, type Passwords } from './passwords.ts'

interface Row {
  readonly id: number
  readonly name: string
  readonly quota: number | null
  readonly created: number
  readonly grants: string
}

const COLUMNS = `id, name, quota, created,
  (SELECT json_group_array(dataset) FROM user_grant WHERE user_grant.account = account.id) AS grants`

const all = query<Row>(`SELECT ${COLUMNS} FROM account ORDER BY folded`)
const byName = query<Row>(`SELECT ${COLUMNS} FROM account WHERE folded = ?`)
const byId = query<Row>(`SELECT ${COLUMNS} FROM account WHERE id = ?`)
const passwordOf = query<{ readonly id: number; readonly password: string | null }>(
  "SELECT id, NULLIF(password, '') AS password FROM account WHERE folded = ?",
)
const insert = change(
  'INSERT INTO account (name, folded, password, quota, created) VALUES (?, ?, ?, ?, ?) ON CONFLICT (folded) DO NOTHING',
)
const replacePassword = change('UPDATE account SET password = ? WHERE folded = ?')
const endSessions = change('DELETE FROM session WHERE account = (SELECT id FROM account WHERE folded = ?)')
const revokeTokens = change(
  'UPDATE family SET revoked = ?2 WHERE account = (SELECT id FROM account WHERE folded = ?1) AND revoked IS NULL',
)
const removeKeys = change('DELETE FROM api_key WHERE account = (SELECT id FROM account WHERE folded = ?)')
const removePasskeys = change('DELETE FROM passkey WHERE account = (SELECT id FROM account WHERE folded = ?)')
const replaceQuota = change('UPDATE account SET quota = ? WHERE folded = ?')
const grant = change(
  'INSERT INTO user_grant (account, dataset) VALUES (?, ?) ON CONFLICT (account, dataset) DO UPDATE SET issuer = NULL',
)
const revoke = change('DELETE FROM user_grant WHERE account = ? AND dataset = ?')
const remove = change('DELETE FROM account WHERE folded = ?')

function* findUser(name: string): DatabaseScript<User> {
  const row = yield* byName.get(folded(name))
  if (row === undefined) throw unknownUser(name)
  return userOf(row)
}

function* refuseTaken(name: string): DatabaseScript<void> {
  if ((yield* byName.get(folded(name))) !== undefined)
    throw invalidName(`There is a user ${shownName(name)} already`)
}

/** Users, their passwords and grants. */
export function createUsers(database: Database, passwords: Passwords, now: () => number): Users {
  return {
    add: async (given, password, quota = null) => {
      const name = checkUserName(given)
      checkQuota(quota)
      if (password !== null) checkPasswordStrength(password, name)
      await database.read(() => refuseTaken(name))
      const hash = password === null ? '' : await passwords.hash(password)
      return database.write(function* () {
        if ((yield* insert(name, folded(name), hash, quota, now())) === 0) yield* refuseTaken(name)
        return yield* findUser(name)
      })
    },
    list: async () => (await database.read(() => all.all())).map(userOf),
    find: async name => database.read(() => findUser(name)),
    byId: async id => {
      const row = await database.read(() => byId.get(id))
      return row === undefined ? null : userOf(row)
    },
    setPassword: async (name, password, { revokeKeys = false } = {}) => {
      await database.read(() => findUser(name))
      checkPasswordStrength(password, name)
      const hash = await passwords.hash(password)
      await database.write(function* () {
        if ((yield* replacePassword(hash, folded(name))) === 0) throw unknownUser(name)
        yield* endSessions(folded(name))
        yield* revokeTokens(folded(name), now())
        if (!revokeKeys) return
        yield* removeKeys(folded(name))
        yield* removePasskeys(folded(name))
      })
    },
    setQuota: async (name, quota) => {
      checkQuota(quota)
      const changed = await database.write(() => replaceQuota(quota, folded(name)))
      if (changed === 0) throw unknownUser(name)
    },
    verify: async (name, password) => {
      const row = await database.read(() => passwordOf.get(folded(name)))
      const right = await passwords.verify(password, row?.password ?? null)
      if (!right) return null
      // A user who was removed or got another password meanwhile is rejected.
      return database.read(function* () {
        const still = yield* passwordOf.get(folded(name))
        if (still?.id !== row?.id || still?.password !== row?.password) return null
        const user = yield* byName.get(folded(name))
        return user === undefined ? null : userOf(user)
      })
    },
    grant: async (name, dataset) => {
      checkDatasetName(dataset)
      await database.write(function* () {
        yield* grant((yield* findUser(name)).id, dataset)
      })
    },
    revoke: async (name, dataset) => {
      await database.write(function* () {
        if ((yield* revoke((yield* findUser(name)).id, dataset)) === 0)
          throw unknownName(`The user ${shownName(name)} has no grant of ${shownName(dataset)}`)
      })
    },
    remove: async name => {
      if ((await database.write(() => remove(folded(name)))) === 0) throw unknownUser(name)
    },
  }
}

function userOf({ id, name, quota, created, grants }: Row): User {
  const sorted = (JSON.parse(grants) as string[]).sort()
  return { id, name, created: new Date(created).toISOString(), grants: sorted, quota }
}
