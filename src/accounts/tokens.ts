import type { Authenticated } from '../model/principal.ts'
import type { Descent, IssuedTokens, LiveToken, Tokens } from './accounts.ts'
import { createCache, PRINCIPAL_COLUMNS, type PrincipalRow, principalOf } from './cache.ts'
import { change, type Database, type DatabaseScript, query, thenMaybe } from './database.ts'
import { unknownName } from './names.ts'
import { hashOf, hashOfGiven, type RandomBytes, randomText } from './secrets.ts'

const CODE_LENGTH = 30
const TOKEN_LENGTH = 43
const GRANT_LENGTH = 22

/** Lifetime of a code in milliseconds: the maximum that RFC 6749 recommends (section 4.1.2). */
const CODE_LIFE = 600_000

/** Lifetime of an access token in seconds (Access 6.2). */
const TOKEN_LIFE = 3600

/** Maximum authorizations of one application by a user; beyond it the oldest are revoked. */
const MAX_GRANTS = 100

const DESCENT = 'family.client, family.account AS user, family.scope, family.id AS "grant"'

interface CodeRow extends Descent {
  readonly redirectUri: string
  readonly challenge: string | null
  readonly expires: number
  readonly consumed: number | null
}

interface CachedToken {
  readonly principal: Authenticated
  readonly expires: number
}

const insertAccess = change('INSERT INTO access_token (hash, family, expires) VALUES (?, ?, ?)')
const insertRefresh = change('INSERT INTO refresh_token (hash, family) VALUES (?, ?)')
const dropExpired = change('DELETE FROM access_token WHERE family = ? AND expires <= ?')
const refresh = {
  find: query<Descent & { readonly consumed: number | null }>(
    `SELECT ${DESCENT}, refresh_token.spent AS consumed FROM refresh_token JOIN family ON family.id = refresh_token.family
      WHERE hash = ?`,
  ),
  spend: change(
    `UPDATE refresh_token SET spent = ?2 WHERE hash = ?1 AND spent IS NULL
      AND (SELECT revoked FROM family WHERE id = refresh_token.family) IS NULL`,
  ),
}
const principal = query<PrincipalRow & { readonly expires: number }>(
  `SELECT access_token.expires, ${PRINCIPAL_COLUMNS}
    FROM access_token JOIN family ON family.id = access_token.family
    JOIN account ON account.id = family.account WHERE hash = ? AND revoked IS NULL`,
)

const codes = {
  insert: change(
    'INSERT INTO code (hash, family, redirect_uri, challenge, method, expires) VALUES (?, ?, ?, ?, ?, ?)',
  ),
  find: query<CodeRow>(
    `SELECT ${DESCENT}, redirect_uri AS "redirectUri", challenge, expires, spent AS consumed
      FROM code JOIN family ON family.id = code.family WHERE hash = ?`,
  ),
  spend: change(
    `UPDATE code SET spent = ?2 WHERE hash = ?1 AND spent IS NULL
      AND (SELECT revoked FROM family WHERE id = code.family) IS NULL`,
  ),
}

const grants = {
  possible: query('SELECT 1 AS found FROM account, client WHERE account.id = ? AND client.id = ?'),
  insert: change('INSERT INTO family (id, account, client, scope, created) VALUES (?, ?, ?, ?, ?)'),
  alive: query(
    'SELECT 1 AS found FROM family WHERE id = ? AND account = ? AND client = ? AND revoked IS NULL',
  ),
  ofToken: query<{ readonly id: string; readonly client: string }>(
    `SELECT id, client FROM family WHERE id IN (SELECT family FROM access_token WHERE hash = ?1
      UNION ALL SELECT family FROM refresh_token WHERE hash = ?1)`,
  ),
  revoke: change('UPDATE family SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL'),
  removeOldest: change(
    `DELETE FROM family WHERE id IN (SELECT id FROM family WHERE account = ? AND client = ?
      ORDER BY created DESC, rowid DESC LIMIT 1000000 OFFSET ${MAX_GRANTS})`,
  ),
  removeAll: change('DELETE FROM family WHERE account = ? AND client = ?'),
}

const consents = {
  insert: change(
    `INSERT INTO consent (account, client, scope, granted) VALUES (?, ?, ?, ?)
      ON CONFLICT (account, client) DO UPDATE SET scope = excluded.scope`,
  ),
  list: query<{
    readonly id: string
    readonly name: string
    readonly type: 'confidential' | 'public'
    readonly scope: string
    readonly granted: number
  }>(
    `SELECT client.id, client.name, client.type, scope, granted FROM consent
      JOIN client ON client.id = consent.client WHERE consent.account = ? ORDER BY granted DESC, client.name`,
  ),
  remove: change('DELETE FROM consent WHERE account = ? AND client = ?'),
}

const liveToken = query<LiveToken>(
  `SELECT 'access' AS type, scope, account.id AS user, account.name, access_token.expires
    FROM access_token JOIN family ON family.id = access_token.family JOIN account ON account.id = family.account
    WHERE hash = ?1 AND client = ?2 AND revoked IS NULL AND access_token.expires > ?3
  UNION ALL SELECT 'refresh', scope, account.id, account.name, NULL
    FROM refresh_token JOIN family ON family.id = refresh_token.family JOIN account ON account.id = family.account
    WHERE hash = ?1 AND client = ?2 AND revoked IS NULL AND spent IS NULL`,
)

/** Codes, tokens and consents (RFC 6749, 7009, 7636; RFC 9700 on their reuse). */
export function createTokens(database: Database, randomBytes: RandomBytes, now: () => number): Tokens {
  const cached = createCache<CachedToken>(database, function* (hash) {
    const row = yield* principal.get(hash)
    return row === undefined ? null : { principal: principalOf(row, 'token'), expires: row.expires }
  })
  /** Revokes the grant of a token that is presented again after it was consumed: it may have been stolen. */
  const consumedOrRevoked = function* (consumed: number, found: Descent | null): DatabaseScript<boolean> {
    if (consumed > 0) return true
    if (found !== null) yield* grants.revoke(found.grant, now())
    return false
  }
  const consumeCode = function* (code: string): DatabaseScript<boolean> {
    const found = yield* findCode(code)
    if (found === null || (!found.consumed && found.expires <= now())) return false
    return yield* consumedOrRevoked(yield* codes.spend(hashOf(code), now()), found)
  }
  const spendRefresh = function* (token: string): DatabaseScript<boolean> {
    const hash = hashOfGiven(token)
    if (hash === null) return false
    return yield* consumedOrRevoked(yield* refresh.spend(hash, now()), yield* findRefresh(token))
  }
  const issue = function* ({ client, user, scope, grant }: Descent): DatabaseScript<IssuedTokens | null> {
    if ((yield* grants.alive.get(grant, user, client)) === undefined) return null
    const accessToken = randomText(randomBytes, TOKEN_LENGTH)
    const refreshToken = randomText(randomBytes, TOKEN_LENGTH)
    yield* dropExpired(grant, now())
    yield* insertAccess(hashOf(accessToken), grant, now() + TOKEN_LIFE * 1000)
    yield* insertRefresh(hashOf(refreshToken), grant)
    return { accessToken, refreshToken, expiresIn: TOKEN_LIFE, scope }
  }
  return {
    issueCode: async ({ client, user, scope, redirectUri, challenge }) => {
      const code = randomText(randomBytes, CODE_LENGTH)
      const grant = randomText(randomBytes, GRANT_LENGTH)
      const moment = now()
      await database.write(function* () {
        if ((yield* grants.possible.get(user, client)) === undefined)
          throw unknownName('There is no such user or application')
        yield* consents.insert(user, client, scope, moment)
        yield* grants.insert(grant, user, client, scope, moment)
        yield* grants.removeOldest(user, client)
        const method = challenge === null ? null : 'S256'
        yield* codes.insert(hashOf(code), grant, redirectUri, challenge, method, moment + CODE_LIFE)
      })
      return code
    },
    findCode: async code => database.read(() => findCode(code)),
    consumeCode: async code => database.write(() => consumeCode(code)),
    redeemCode: async code =>
      database.write(function* () {
        const descent = yield* findCode(code)
        return (yield* consumeCode(code)) && descent !== null ? yield* issue(descent) : null
      }),
    findRefresh: async token => database.read(() => findRefresh(token)),
    spendRefresh: async token => database.write(() => spendRefresh(token)),
    redeemRefresh: async token =>
      database.write(function* () {
        const descent = yield* findRefresh(token)
        return (yield* spendRefresh(token)) && descent !== null ? yield* issue(descent) : null
      }),
    issue: async descent => database.write(() => issue(descent)),
    revoke: async (token, client) => {
      const hash = hashOfGiven(token)
      if (hash === null) return
      await database.write(function* () {
        const found = yield* grants.ofToken.get(hash)
        if (found?.client === client) yield* grants.revoke(found.id, now())
      })
    },
    inspect: async (token, client) => {
      const hash = hashOfGiven(token)
      if (hash === null) return null
      return (await database.read(() => liveToken.get(hash, client, now()))) ?? null
    },
    principal: token =>
      thenMaybe(cached.find(token), found =>
        found !== null && now() < found.expires ? found.principal : null,
      ),
    consents: async user => {
      const rows = await database.read(() => consents.list.all(user))
      return rows.map(({ id, name, type, scope, granted }) => ({
        client: { id, name, type },
        scope,
        granted: new Date(granted).toISOString(),
      }))
    },
    withdraw: async (user, client) => {
      await database.write(function* () {
        if ((yield* consents.remove(user, client)) === 0) throw unknownName('There is no such authorization')
        yield* grants.removeAll(user, client)
      })
    },
  }
}

type FoundCode = NonNullable<Awaited<ReturnType<Tokens['findCode']>>>

function* findCode(code: string): DatabaseScript<FoundCode | null> {
  const hash = hashOfGiven(code)
  const row = hash === null ? undefined : yield* codes.find.get(hash)
  if (row === undefined) return null
  const { client, user, scope, grant, redirectUri, challenge, expires } = row
  return { client, user, scope, grant, redirectUri, challenge, expires, consumed: row.consumed !== null }
}

function* findRefresh(token: string): DatabaseScript<(Descent & { readonly consumed: boolean }) | null> {
  const hash = hashOfGiven(token)
  const row = hash === null ? undefined : yield* refresh.find.get(hash)
  if (row === undefined) return null
  const { client, user, scope, grant, consumed } = row
  return { client, user, scope, grant, consumed: consumed !== null }
}
