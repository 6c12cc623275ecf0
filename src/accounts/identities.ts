import { isFault } from '../errors/errors.ts'
import type { Audit, LinkedIdentities, User, Users } from './accounts.ts'
import { change, type Database, query } from './database.ts'
import { ACCOUNT_INVALID } from './faults.ts'
import { folded } from './names.ts'

const find = query<{ readonly user: number }>(
  'SELECT account AS user FROM identity WHERE issuer = ? AND subject = ?',
)
const isLinked = query('SELECT 1 AS found FROM identity WHERE account = ? AND issuer IN (?, ?)')
const isTaken = query('SELECT 1 AS found FROM account WHERE folded = ?')
const link = change('INSERT INTO identity (issuer, subject, account) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')

const groupGrants = query<{ readonly dataset: string }>(
  'SELECT dataset FROM user_grant WHERE account = ? AND issuer IN (?, ?)',
)
const grant = change(
  'INSERT INTO user_grant (account, dataset, issuer) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
)
const revoke = change('DELETE FROM user_grant WHERE account = ? AND dataset = ? AND issuer IN (?, ?)')

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
          if (!granted.has(dataset) && (yield* revoke(id, dataset, ...spellings)) > 0)
            changed.push(['grant revoked', dataset])
        for (const dataset of granted)
          if ((yield* grant(id, dataset, issuer)) > 0) changed.push(['granted', dataset])
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
