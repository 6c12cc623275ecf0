import { isFault } from '../errors/errors.ts'
import type { Audit, LinkedIdentities, User, Users } from './accounts.ts'
import { change, type Database, type DatabaseScript, query } from './database.ts'
import { ACCOUNT_INVALID } from './faults.ts'
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

const idNamed = query<{ readonly id: number }>('SELECT id FROM account WHERE folded = ?')

/** The id of a user by the name. Faults: AccountUnknown. */
export function* userIdOf(name: string): DatabaseScript<number> {
  const row = yield* idNamed.get(folded(name))
  if (row === undefined) throw unknownUser(name)
  return row.id
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
      await database.read(() => userIdOf(name))
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
        yield* grant(yield* userIdOf(name), dataset)
      })
    },
    revoke: async (name, dataset) => {
      await database.write(function* () {
        if ((yield* revoke(yield* userIdOf(name), dataset)) === 0)
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

const find = query<{ readonly user: number }>(
  'SELECT account AS user FROM identity WHERE issuer = ? AND subject = ?',
)
const isLinked = query('SELECT 1 AS found FROM identity WHERE account = ? AND issuer IN (?, ?)')
const isTaken = query('SELECT 1 AS found FROM account WHERE folded = ?')
const link = change('INSERT INTO identity (issuer, subject, account) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')

const groupGrants = query<{ readonly dataset: string }>(
  'SELECT dataset FROM user_grant WHERE account = ? AND issuer IN (?, ?)',
)
const grantByGroup = change(
  'INSERT INTO user_grant (account, dataset, issuer) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
)
const revokeOfGroup = change('DELETE FROM user_grant WHERE account = ? AND dataset = ? AND issuer IN (?, ?)')

/** Users who were authenticated by another service. */
export function createIdentities(database: Database, users: Users, audit: Audit): LinkedIdentities {
  const known = async (issuer: string, subject: string): Promise<User | null> => {
    for (const spelling of spellingsOf(issuer)) {
      const row = await database.read(() => find.get(spelling, subject))
      if (row !== undefined) return users.byId(row.user)
    }
    return null
  }
  return {
    user: async ({ issuer, subject, name }) => {
      for (;;) {
        const before = await known(issuer, subject)
        if (before !== null) return before
        const free = await freeName(database, name)
        try {
          const added = await users.add(free, null)
          if ((await database.write(() => link(issuer, subject, added.id))) > 0) return added
          // Two concurrent sign-ins of the same user: the other was first.
          await users.remove(added.name)
        } catch (error) {
          // Concurrent sign-ins choose the same free name.
          if (!isFault(error, ACCOUNT_INVALID) || !(await isNameTaken(database, free))) throw error
        }
      }
    },
    isLinked: async (user, issuer) =>
      (await database.read(() => isLinked.get(user, ...spellingsOf(issuer)))) !== undefined,
    setGroupGrants: async ({ id, name }, issuer, granted) => {
      const spellings = spellingsOf(issuer)
      const events = await database.write(function* () {
        const changed: (readonly [action: string, dataset: string])[] = []
        for (const { dataset } of yield* groupGrants.all(id, ...spellings))
          if (!granted.has(dataset) && (yield* revokeOfGroup(id, dataset, ...spellings)) > 0)
            changed.push(['grant revoked', dataset])
        for (const dataset of granted)
          if ((yield* grantByGroup(id, dataset, issuer)) > 0) changed.push(['granted', dataset])
        return changed
      })
      for (const [action, dataset] of events) await audit.note(action, `${name}: ${dataset}`)
    },
  }
}

/** An issuer as it is given, and with or without a slash at its end: portal.yaml may have had it in the other spelling before. */
function spellingsOf(issuer: string): readonly [given: string, other: string] {
  return [issuer, issuer.endsWith('/') ? issuer.slice(0, -1) : `${issuer}/`]
}

/** An unused name: an existing user of that name may be another person. */
async function freeName(database: Database, wished: string): Promise<string> {
  const letters = [...wished.normalize('NFC').replace(/[^\p{L}\p{M}\p{N}._@+-]+/gu, '.')]
  const name = letters.slice(0, 90).join('') || 'user'
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}.${number}`
    if (!(await isNameTaken(database, candidate))) return candidate
  }
}

async function isNameTaken(database: Database, name: string): Promise<boolean> {
  return (await database.read(() => isTaken.get(folded(name)))) !== undefined
}
