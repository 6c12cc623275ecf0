import type { User, Users } from './accounts.ts'
import type { Database } from './database.ts'
import {
  checkDataset,
  checkQuota,
  checkUserName,
  folded,
  invalid,
  shown,
  unknown,
  unknownUser,
} from './names.ts'
import { checkPassword, type Passwords } from './passwords.ts'

interface Row {
  readonly id: number
  readonly name: string
  readonly quota: number | null
  readonly created: number
  readonly grants: string
}

const COLUMNS = `id, name, quota, created,
  (SELECT json_group_array(dataset) FROM user_grant WHERE user_grant.user = user.id) AS grants`

/** Users, their passwords and grants. */
export function createUsers(database: Database, passwords: Passwords, now: () => number): Users {
  const all = database.query<Row>(`SELECT ${COLUMNS} FROM user ORDER BY folded`)
  const byName = database.query<Row>(`SELECT ${COLUMNS} FROM user WHERE folded = ?`)
  const byId = database.query<Row>(`SELECT ${COLUMNS} FROM user WHERE id = ?`)
  const passwordOf = database.query<{ readonly id: number; readonly password: string }>(
    'SELECT id, password FROM user WHERE folded = ?',
  )
  const insert = database.change(
    'INSERT INTO user (name, folded, password, quota, created) VALUES (?, ?, ?, ?, ?) ON CONFLICT (folded) DO NOTHING',
  )
  const replacePassword = database.change('UPDATE user SET password = ? WHERE folded = ?')
  const endSessions = database.change(
    'DELETE FROM session WHERE user = (SELECT id FROM user WHERE folded = ?)',
  )
  const replaceQuota = database.change('UPDATE user SET quota = ? WHERE folded = ?')
  const grant = database.change('INSERT INTO user_grant (user, dataset) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const revoke = database.change('DELETE FROM user_grant WHERE user = ? AND dataset = ?')
  const remove = database.change('DELETE FROM user WHERE folded = ?')

  const find = (name: string): User => {
    const row = byName.get(folded(name))
    if (row === undefined) throw unknownUser(name)
    return userOf(row)
  }
  const refuseTaken = (name: string) => {
    if (byName.get(folded(name)) !== undefined) throw invalid(`There is a user ${shown(name)} already`)
  }
  return {
    add: async (given, password, quota = null) => {
      const name = checkUserName(given)
      checkQuota(quota)
      checkPassword(password)
      refuseTaken(name)
      const hash = await passwords.hash(password)
      if (insert(name, folded(name), hash, quota, now()) === 0) refuseTaken(name)
      return find(name)
    },
    list: () => all.all().map(userOf),
    find,
    byId: id => {
      const row = byId.get(id)
      return row === undefined ? null : userOf(row)
    },
    setPassword: async (name, password) => {
      find(name)
      const hash = await passwords.hash(password)
      database.write(() => {
        if (replacePassword(hash, folded(name)) === 0) throw unknownUser(name)
        endSessions(folded(name))
      })
    },
    setQuota: (name, quota) => {
      checkQuota(quota)
      if (replaceQuota(quota, folded(name)) === 0) throw unknownUser(name)
    },
    verify: async (name, password) => {
      const row = passwordOf.get(folded(name))
      const right = await passwords.verify(password, row?.password ?? null)
      // Who was removed or got another password meanwhile is not let in.
      const still = passwordOf.get(folded(name))
      return right && still?.id === row?.id && still?.password === row?.password ? find(name) : null
    },
    grant: (name, dataset) => {
      checkDataset(dataset)
      database.write(() => grant(find(name).id, dataset))
    },
    revoke: (name, dataset) => {
      if (revoke(find(name).id, dataset) === 0)
        throw unknown(`The user ${shown(name)} has no grant of ${shown(dataset)}`)
    },
    remove: name => {
      if (remove(folded(name)) === 0) throw unknownUser(name)
    },
  }
}

function userOf({ id, name, quota, created, grants }: Row): User {
  const sorted = (JSON.parse(grants) as string[]).sort()
  return { id, name, created: new Date(created).toISOString(), grants: sorted, quota }
}
