import type { Sessions } from './accounts.ts'
import type { Database } from './database.ts'
import { createLastUses, type LastUses } from './last-uses.ts'
import { unknown } from './names.ts'
import { PRINCIPAL_COLUMNS, type PrincipalRow, principalOf } from './principals.ts'
import { hashOf, hashOfGiven, type RandomBytes, randomText } from './secrets.ts'

const TOKEN_LENGTH = 43

/** Milliseconds that a session lasts without use, and at all. */
export const SESSION_IDLE = 12 * 3600_000
export const SESSION_LIFE = 7 * 24 * 3600_000

/** Of more sessions the oldest are ended. */
export const MOST_SESSIONS = 100

/** Sessions of users who logged in, with what writes their last uses. */
export function createSessions(
  database: Database,
  randomBytes: RandomBytes,
  now: () => number,
): { readonly sessions: Sessions; readonly uses: LastUses } {
  const user = database.query<{ readonly id: number }>('SELECT id FROM user WHERE id = ?')
  const insert = database.change('INSERT INTO session (user, hash, created, used) VALUES (?1, ?2, ?3, ?3)')
  const endOldest = database.change(
    `DELETE FROM session WHERE id IN
      (SELECT id FROM session WHERE user = ? ORDER BY created DESC, id DESC LIMIT -1 OFFSET ${MOST_SESSIONS})`,
  )
  const principal = database.query<
    PrincipalRow & { readonly id: number; readonly created: number; readonly used: number }
  >(
    `SELECT session.id, session.created, used, ${PRINCIPAL_COLUMNS}
      FROM session JOIN user ON user.id = session.user WHERE hash = ?`,
  )
  const end = database.change('DELETE FROM session WHERE hash = ?')
  const endOthers = database.change('DELETE FROM session WHERE user = ? AND hash <> ?')
  const writeUse = database.change('UPDATE session SET used = ?2 WHERE id = ?1 AND used < ?2')
  const uses = createLastUses(some =>
    database.writeFigures(() => {
      for (const [id, moment] of some) writeUse(id, moment)
    }),
  )
  const sessions: Sessions = {
    begin: id => {
      const token = randomText(randomBytes, TOKEN_LENGTH)
      const begun = now()
      database.write(() => {
        if (user.get(id) === undefined) throw unknown('There is no such user')
        insert(id, hashOf(token), begun)
        endOldest(id)
      })
      return { token, expires: begun + SESSION_LIFE }
    },
    principal: token => {
      const hash = hashOfGiven(token)
      const row = hash === null ? undefined : principal.get(hash)
      if (row === undefined) return null
      const moment = now()
      const used = uses.latest(row.id, row.used) ?? row.used
      if (moment >= row.created + SESSION_LIFE || moment >= used + SESSION_IDLE) return null
      uses.note(row.id, row.used, moment)
      return principalOf(row, 'session')
    },
    end: token => {
      const hash = hashOfGiven(token)
      if (hash !== null) end(hash)
    },
    endOthers: (id, token) => {
      endOthers(id, hashOf(token))
    },
  }
  return { sessions, uses }
}
