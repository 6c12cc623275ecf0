import type { Authenticated } from '../model/principal.ts'
import type { Sessions } from './accounts.ts'
import { createCache, PRINCIPAL_COLUMNS, type PrincipalRow, principalOf } from './cache.ts'
import { change, type Database, query, thenMaybe } from './database.ts'
import { createLastUses, type LastUses } from './last-uses.ts'
import { unknownName } from './names.ts'
import { hashOf, hashOfGiven, type RandomBytes, randomText } from './secrets.ts'
import { userIdOf } from './users.ts'

const TOKEN_LENGTH = 43

/** Maximum milliseconds of a session without use, and in total. */
export const SESSION_IDLE = 12 * 3600_000
export const SESSION_LIFE = 7 * 24 * 3600_000

/** Maximum sessions of a user; beyond it the oldest are ended. */
const MAX_SESSIONS = 100

interface CachedSession {
  readonly id: number
  readonly principal: Authenticated
  readonly created: number
  readonly used: number
}

const user = query<{ readonly id: number }>('SELECT id FROM account WHERE id = ?')
const insert = change('INSERT INTO session (account, hash, created, used) VALUES (?1, ?2, ?3, ?3)')
const endOldest = change(
  `DELETE FROM session WHERE id IN
    (SELECT id FROM session WHERE account = ? ORDER BY created DESC, id DESC LIMIT 1000000 OFFSET ${MAX_SESSIONS})`,
)
const principal = query<
  PrincipalRow & { readonly id: number; readonly created: number; readonly used: number }
>(
  `SELECT session.id, session.created, used, ${PRINCIPAL_COLUMNS}
    FROM session JOIN account ON account.id = session.account WHERE hash = ?`,
)
const end = change('DELETE FROM session WHERE hash = ?')
const endOthers = change('DELETE FROM session WHERE account = ? AND hash <> ?')
const endAll = change('DELETE FROM session WHERE account = ?')
const endOne = change('DELETE FROM session WHERE account = ? AND id = ?')
const list = query<{
  readonly id: number
  readonly created: number
  readonly used: number
  readonly own: number
}>(
  'SELECT id, created, used, CASE WHEN hash = ? THEN 1 ELSE 0 END AS own FROM session WHERE account = ? AND created > ? AND used > ? ORDER BY used DESC, id DESC',
)
const writeUses = (rows: string) => `UPDATE session SET used = given.column2 FROM (VALUES ${rows}) AS given
  WHERE session.id = given.column1 AND used < given.column2 RETURNING session.id`

/** Sessions of signed-in users, with the writer of their last uses. */
export function createSessions(
  database: Database,
  randomBytes: RandomBytes,
  now: () => number,
): { readonly sessions: Sessions; readonly uses: LastUses } {
  const uses = createLastUses(database, writeUses)
  const cached = createCache<CachedSession>(database, function* (hash) {
    const row = yield* principal.get(hash)
    if (row === undefined) return null
    return { id: row.id, created: row.created, used: row.used, principal: principalOf(row, 'session') }
  })
  const lives = ({ id, created, used }: CachedSession): boolean => {
    const latest = uses.latest(id, used) ?? used
    return now() < created + SESSION_LIFE && now() < latest + SESSION_IDLE
  }
  const sessions: Sessions = {
    begin: async id => {
      const token = randomText(randomBytes, TOKEN_LENGTH)
      const begun = now()
      await database.write(function* () {
        if ((yield* user.get(id)) === undefined) throw unknownName('There is no such user')
        yield* insert(id, hashOf(token), begun)
        yield* endOldest(id)
      })
      return { token, expires: begun + SESSION_LIFE }
    },
    // A session that is expired in the cache may have been used in another process.
    principal: token =>
      thenMaybe(cached.find(token, lives), found => {
        if (found === null || !lives(found)) return null
        uses.note(found.id, found.used, now())
        return found.principal
      }),
    end: async token => {
      const hash = hashOfGiven(token)
      if (hash !== null) await database.write(() => end(hash))
    },
    endOthers: async (id, token) => {
      await database.write(() => endOthers(id, hashOf(token)))
    },
    endAll: async (name, id) => {
      await database.write(function* () {
        const user = yield* userIdOf(name)
        const ended = yield* id === undefined ? endAll(user) : endOne(user, id)
        if (id !== undefined && ended === 0) throw unknownName('There is no such session')
      })
    },
    list: async (name, token = '') => {
      const rows = await database.read(function* () {
        const user = yield* userIdOf(name)
        return yield* list.all(hashOf(token), user, now() - SESSION_LIFE, now() - SESSION_IDLE)
      })
      return rows.map(({ id, created, used, own }) => ({
        id,
        begun: new Date(created).toISOString(),
        used: new Date(uses.latest(id, used) ?? used).toISOString(),
        ...(own === 1 ? { isOwn: true } : {}),
      }))
    },
  }
  return { sessions, uses }
}
