import type { Authenticated } from '../model/principal.ts'
import type { ApiKey, Keys } from './accounts.ts'
import type { Database } from './database.ts'
import { createLastUses, type LastUses } from './last-uses.ts'
import { checkLabel, folded, invalid, unknown, unknownUser } from './names.ts'
import { PRINCIPAL_COLUMNS, type PrincipalRow, principalOf } from './principals.ts'
import { hashOf, hashOfGiven, type RandomBytes, randomText } from './secrets.ts'

/** Characters of a key (285 bits), and how many of them its owner sees again. */
const KEY_LENGTH = 48
const HINT_LENGTH = 6

export const MOST_KEYS = 100

/** Keys whose principals are held in memory, of those that are in use. */
const MOST_HELD = 20_000

/** Who a key stands for, as long as nothing was written. */
interface Held {
  readonly id: number
  readonly principal: Authenticated
  used: number | null
}

interface Row {
  readonly id: number
  readonly user: string
  readonly label: string
  readonly hint: string
  readonly created: number
  readonly used: number | null
}

const KEYS = `SELECT api_key.id, user.name AS user, label, hint, api_key.created, used
  FROM api_key JOIN user ON user.id = api_key.user`

/** API keys, with what writes their last uses. */
export function createKeys(
  database: Database,
  randomBytes: RandomBytes,
  now: () => number,
): { readonly keys: Keys; readonly uses: LastUses } {
  const userId = database.query<{ readonly id: number; readonly keys: number }>(
    'SELECT id, (SELECT count(*) FROM api_key WHERE user = user.id) AS keys FROM user WHERE folded = ?',
  )
  const insert = database.query<{ readonly id: number }>(
    'INSERT INTO api_key (user, hash, hint, label, created) VALUES (?, ?, ?, ?, ?) RETURNING id',
  )
  const all = database.query<Row>(`${KEYS} ORDER BY user.folded, api_key.id`)
  const ofUser = database.query<Row>(`${KEYS} WHERE user.folded = ? ORDER BY api_key.id`)
  const ids = `SELECT api_key.id FROM api_key JOIN user ON user.id = api_key.user
    WHERE (?1 IS NULL OR user.folded = ?1)`
  const byHash = database.query<{ readonly id: number }>(`${ids} AND api_key.hash = ?2`)
  const byId = database.query<{ readonly id: number }>(`${ids} AND api_key.id = ?2`)
  const byHint = database.query<{ readonly id: number }>(`${ids} AND api_key.hint = ?2 LIMIT 2`)
  const remove = database.change('DELETE FROM api_key WHERE id = ?')
  const principal = database.query<PrincipalRow & { readonly id: number; readonly used: number | null }>(
    `SELECT api_key.id, used, ${PRINCIPAL_COLUMNS} FROM api_key JOIN user ON user.id = api_key.user WHERE hash = ?`,
  )
  const writeUse = database.change(
    'UPDATE api_key SET used = ?2 WHERE id = ?1 AND (used IS NULL OR used < ?2)',
  )
  const uses = createLastUses(some =>
    database.writeFigures(() => {
      for (const [id, moment] of some) writeUse(id, moment)
    }),
  )

  /** The one key that is meant; the whole key before the id before the hint. */
  const idOf = (given: string, owner: string | null): number => {
    const hash = given.length === KEY_LENGTH ? hashOfGiven(given) : null
    const found = (hash === null ? [] : byHash.all(owner, hash))
      .concat(/^\d{1,15}$/.test(given) ? byId.all(owner, Number(given)) : [])
      .concat(given.length === HINT_LENGTH ? byHint.all(owner, given) : [])
    const [first, second] = found
    if (first === undefined) throw unknown('There is no such key')
    if (second !== undefined) throw invalid('Several keys begin so: give the id of one')
    return first.id
  }
  const held = new Map<string, Held>()
  let generation = Number.NaN
  const find = (hash: Buffer): Held | null => {
    const current = database.generation()
    if (current !== generation || held.size >= MOST_HELD) held.clear()
    generation = current
    const name = hash.toString('latin1')
    const known = held.get(name)
    if (known !== undefined) return known
    const row = principal.get(hash)
    if (row === undefined) return null
    const found = { id: row.id, used: row.used, principal: principalOf(row, 'key') }
    held.set(name, found)
    return found
  }
  const keys: Keys = {
    create: (user, given) => {
      const label = checkLabel('A label', given, 0)
      return database.write(() => {
        const owner = userId.get(folded(user))
        if (owner === undefined) throw unknownUser(user)
        if (owner.keys >= MOST_KEYS)
          throw invalid(`A user has at most ${MOST_KEYS} keys: revoke one that is not used`)
        const key = newKey(randomBytes)
        const hint = key.slice(0, HINT_LENGTH)
        const row = insert.get(owner.id, hashOf(key), hint, label, now())
        return { key, id: row?.id ?? 0 }
      })
    },
    list: user => {
      if (user === undefined) return all.all().map(row => keyOf(row, uses))
      if (userId.get(folded(user)) === undefined) throw unknownUser(user)
      return ofUser.all(folded(user)).map(row => keyOf(row, uses))
    },
    revoke: (given, user) => {
      const owner = user === undefined ? null : folded(user)
      database.write(() => remove(idOf(given, owner)))
    },
    principal: key => {
      const hash = hashOfGiven(key)
      const found = hash === null ? null : find(hash)
      if (found === null) return null
      uses.note(found.id, found.used, now())
      found.used = uses.latest(found.id, found.used)
      return found.principal
    },
  }
  return { keys, uses }
}

/** It begins with a letter, so that no hint is taken for an id. */
function newKey(randomBytes: RandomBytes): string {
  for (;;) {
    const key = randomText(randomBytes, KEY_LENGTH)
    if (!/^\d/.test(key)) return key
  }
}

function keyOf({ id, user, label, hint, created, used }: Row, uses: LastUses): ApiKey {
  const latest = uses.latest(id, used)
  const lastUse = latest === null ? null : new Date(latest).toISOString()
  return { id, user, label, hint, created: new Date(created).toISOString(), lastUse }
}
