import type { Authenticated } from '../model/principal.ts'
import type { ApiKey, Keys } from './accounts.ts'
import { createCache, PRINCIPAL_COLUMNS, type PrincipalRow, principalOf } from './cache.ts'
import { change, type Database, type DatabaseScript, query, thenMaybe } from './database.ts'
import { createLastUses, type LastUses } from './last-uses.ts'
import { checkLabel, folded, invalidName, unknownName, unknownUser } from './names.ts'
import { hashOf, hashOfGiven, type RandomBytes, randomText } from './secrets.ts'
import { userIdOf } from './users.ts'

/** Characters of a key (285 bits), and of the hint that its owner sees later. */
const KEY_LENGTH = 48
const HINT_LENGTH = 6

export const MAX_KEYS = 100

interface CachedKey {
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

const KEYS = `SELECT api_key.id, account.name AS user, label, hint, api_key.created, used
  FROM api_key JOIN account ON account.id = api_key.account`

const userId = query<{ readonly id: number; readonly keys: number }>(
  'SELECT id, (SELECT count(*) FROM api_key WHERE api_key.account = account.id) AS keys FROM account WHERE folded = ?',
)
const insert = query<{ readonly id: number }>(
  'INSERT INTO api_key (account, hash, hint, label, created) VALUES (?, ?, ?, ?, ?) RETURNING id',
)
const all = query<Row>(`${KEYS} ORDER BY account.folded, api_key.id`)
const ofUser = query<Row>(`${KEYS} WHERE account.folded = ? ORDER BY api_key.id`)
const IDS = `SELECT api_key.id FROM api_key JOIN account ON account.id = api_key.account
  WHERE (CAST(?1 AS TEXT) IS NULL OR account.folded = ?1)`
const byHash = query<{ readonly id: number }>(`${IDS} AND api_key.hash = ?2`)
const byId = query<{ readonly id: number }>(`${IDS} AND api_key.id = ?2`)
const byHint = query<{ readonly id: number }>(`${IDS} AND api_key.hint = ?2 LIMIT 2`)
const remove = change('DELETE FROM api_key WHERE id = ?')
const principal = query<PrincipalRow & { readonly id: number; readonly used: number | null }>(
  `SELECT api_key.id, used, ${PRINCIPAL_COLUMNS} FROM api_key JOIN account ON account.id = api_key.account WHERE hash = ?`,
)
const writeUses = (rows: string) => `UPDATE api_key SET used = given.column2 FROM (VALUES ${rows}) AS given
  WHERE api_key.id = given.column1 AND (used IS NULL OR used < given.column2) RETURNING api_key.id`

/** API keys, with the writer of their last uses. */
export function createKeys(
  database: Database,
  randomBytes: RandomBytes,
  now: () => number,
): { readonly keys: Keys; readonly uses: LastUses } {
  const uses = createLastUses(database, writeUses)
  const cached = createCache<CachedKey>(database, function* (hash) {
    const row = yield* principal.get(hash)
    return row === undefined ? null : { id: row.id, used: row.used, principal: principalOf(row, 'key') }
  })
  const keys: Keys = {
    create: async (user, given) => {
      const label = checkLabel('A label', given, 0)
      return database.write(function* () {
        const owner = yield* userId.get(folded(user))
        if (owner === undefined) throw unknownUser(user)
        if (owner.keys >= MAX_KEYS)
          throw invalidName(`A user has at most ${MAX_KEYS} keys: revoke one that is not used`)
        const key = newKey(randomBytes)
        const hint = key.slice(0, HINT_LENGTH)
        const row = yield* insert.get(owner.id, hashOf(key), hint, label, now())
        return { key, id: row?.id ?? 0 }
      })
    },
    list: async user => {
      const rows = await database.read(function* () {
        if (user === undefined) return yield* all.all()
        yield* userIdOf(user)
        return yield* ofUser.all(folded(user))
      })
      return rows.map(row => keyOf(row, uses))
    },
    revoke: async (given, user) => {
      const owner = user === undefined ? null : folded(user)
      await database.write(function* () {
        yield* remove(yield* idOf(given, owner))
      })
    },
    principal: key =>
      thenMaybe(cached.find(key), found => {
        if (found === null) return null
        uses.note(found.id, found.used, now())
        found.used = uses.latest(found.id, found.used)
        return found.principal
      }),
  }
  return { keys, uses }
}

/** The id of the only key that is given by itself, its id or its hint. Faults: AccountUnknown, AccountInvalid for several. */
function* idOf(given: string, owner: string | null): DatabaseScript<number> {
  const hash = given.length === KEY_LENGTH ? hashOfGiven(given) : null
  const found = [
    ...(hash === null ? [] : yield* byHash.all(owner, hash)),
    ...(/^\d{1,15}$/.test(given) ? yield* byId.all(owner, Number(given)) : []),
    ...(given.length === HINT_LENGTH ? yield* byHint.all(owner, given) : []),
  ]
  const [first, second] = found
  if (first === undefined) throw unknownName('There is no such key')
  if (second !== undefined) throw invalidName('Several keys begin so: give the id of one')
  return first.id
}

/** A new key begins with a letter, so that no hint is mistaken for an id. */
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
