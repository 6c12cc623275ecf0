import type { CodeGrant, Descent, Tokens } from './accounts.ts'
import type { Database } from './database.ts'
import { unknown } from './names.ts'
import { PRINCIPAL_COLUMNS, type PrincipalRow, principalOf } from './principals.ts'
import { hashOf, hashOfGiven, type RandomBytes, randomText } from './secrets.ts'

const CODE_LENGTH = 30
const TOKEN_LENGTH = 43
const FAMILY_LENGTH = 22

/** Milliseconds that a code lasts (query API, "Limits"). */
export const CODE_LIFE = 3600_000

/** Seconds that an access token lasts (query API, "Limits"). */
export const TOKEN_LIFE = 3600

/** Authorizations that a user has given one application; of more the oldest are revoked. */
export const MOST_FAMILIES = 100

const DESCENT = 'family.client, family.user, family.scope, family.id AS family'

interface CodeRow extends Descent {
  readonly redirectUri: string
  readonly challenge: string | null
  readonly method: 'plain' | 'S256' | null
  readonly expires: number
  readonly spent: number | null
}

/** Codes, tokens and consents (RFC 6749, 7009, 7636; RFC 9700 on their reuse). */
export function createTokens(database: Database, randomBytes: RandomBytes, now: () => number): Tokens {
  const codes = codeStatements(database)
  const families = familyStatements(database)
  const consents = consentStatements(database)
  const insertAccess = database.change('INSERT INTO access_token (hash, family, expires) VALUES (?, ?, ?)')
  const insertRefresh = database.change('INSERT INTO refresh_token (hash, family) VALUES (?, ?)')
  const dropExpired = database.change('DELETE FROM access_token WHERE family = ? AND expires <= ?')
  const findRefresh = database.query<Descent & { readonly spent: number | null }>(
    `SELECT ${DESCENT}, refresh_token.spent FROM refresh_token JOIN family ON family.id = refresh_token.family
      WHERE hash = ?`,
  )
  const spendRefresh = database.change(
    `UPDATE refresh_token SET spent = ?2 WHERE hash = ?1 AND spent IS NULL
      AND (SELECT revoked FROM family WHERE id = refresh_token.family) IS NULL`,
  )
  const principal = database.query<PrincipalRow>(
    `SELECT ${PRINCIPAL_COLUMNS} FROM access_token JOIN family ON family.id = access_token.family
      JOIN user ON user.id = family.user WHERE hash = ? AND expires > ? AND revoked IS NULL`,
  )
  const issueCode = (grant: CodeGrant): string => {
    const code = randomText(randomBytes, CODE_LENGTH)
    const family = randomText(randomBytes, FAMILY_LENGTH)
    const { client, user, scope, redirectUri, challenge } = grant
    const moment = now()
    database.write(() => {
      if (families.possible.get(user, client) === undefined)
        throw unknown('There is no such user or application')
      consents.insert(user, client, scope, moment)
      families.insert(family, user, client, scope, moment)
      families.removeOldest(user, client)
      const { value = null, method = null } = challenge ?? {}
      codes.insert(hashOf(code), family, redirectUri, value, method, moment + CODE_LIFE)
    })
    return code
  }
  const findCode: Tokens['findCode'] = code => {
    const hash = hashOfGiven(code)
    const row = hash === null ? undefined : codes.find.get(hash)
    if (row === undefined) return null
    const { client, user, scope, family, redirectUri, expires } = row
    const { challenge: value, method } = row
    const challenge = value === null || method === null ? null : { value, method }
    return { client, user, scope, family, redirectUri, challenge, expires, spent: row.spent !== null }
  }
  /** Where it was spent before, whoever presents it again has stolen it, or it was stolen from him. */
  const spentOrRevoked = (spent: number, found: Descent | null | undefined): boolean => {
    if (spent > 0) return true
    if (found != null) families.revoke(found.family, now())
    return false
  }
  return {
    issueCode,
    findCode,
    spendCode: code =>
      database.write(() => {
        const found = findCode(code)
        if (found === null || (!found.spent && found.expires <= now())) return false
        return spentOrRevoked(codes.spend(hashOf(code), now()), found)
      }),
    findRefresh: token => {
      const hash = hashOfGiven(token)
      const row = hash === null ? undefined : findRefresh.get(hash)
      if (row === undefined) return null
      const { client, user, scope, family, spent } = row
      return { client, user, scope, family, spent: spent !== null }
    },
    spendRefresh: token =>
      database.write(() => {
        const hash = hashOfGiven(token)
        return hash !== null && spentOrRevoked(spendRefresh(hash, now()), findRefresh.get(hash))
      }),
    issue: ({ client, user, scope, family }) =>
      database.write(() => {
        if (families.alive.get(family, user, client) === undefined) return null
        const accessToken = randomText(randomBytes, TOKEN_LENGTH)
        const refreshToken = randomText(randomBytes, TOKEN_LENGTH)
        dropExpired(family, now())
        insertAccess(hashOf(accessToken), family, now() + TOKEN_LIFE * 1000)
        insertRefresh(hashOf(refreshToken), family)
        return { accessToken, refreshToken, expiresIn: TOKEN_LIFE, scope }
      }),
    revoke: (token, client) => {
      const hash = hashOfGiven(token)
      const found = hash === null ? undefined : families.ofToken.get(hash)
      if (found?.client === client) families.revoke(found.id, now())
    },
    principal: token => {
      const hash = hashOfGiven(token)
      const row = hash === null ? undefined : principal.get(hash, now())
      return row === undefined ? null : principalOf(row, 'token')
    },
    consents: user =>
      consents.list.all(user).map(({ id, name, type, scope, granted }) => ({
        client: { id, name, type },
        scope,
        granted: new Date(granted).toISOString(),
      })),
    withdraw: (user, client) =>
      database.write(() => {
        if (consents.remove(user, client) === 0) throw unknown('There is no such authorization')
        families.removeAll(user, client)
      }),
  }
}

function codeStatements(database: Database) {
  return {
    insert: database.change(
      'INSERT INTO code (hash, family, redirect_uri, challenge, method, expires) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    find: database.query<CodeRow>(
      `SELECT ${DESCENT}, redirect_uri AS redirectUri, challenge, method, expires, spent
        FROM code JOIN family ON family.id = code.family WHERE hash = ?`,
    ),
    spend: database.change(
      `UPDATE code SET spent = ?2 WHERE hash = ?1 AND spent IS NULL
        AND (SELECT revoked FROM family WHERE id = code.family) IS NULL`,
    ),
  }
}

function familyStatements(database: Database) {
  return {
    possible: database.query('SELECT 1 AS found FROM user, client WHERE user.id = ? AND client.id = ?'),
    insert: database.change('INSERT INTO family (id, user, client, scope, created) VALUES (?, ?, ?, ?, ?)'),
    alive: database.query(
      'SELECT 1 AS found FROM family WHERE id = ? AND user = ? AND client = ? AND revoked IS NULL',
    ),
    ofToken: database.query<{ readonly id: string; readonly client: string }>(
      `SELECT id, client FROM family WHERE id IN (SELECT family FROM access_token WHERE hash = ?1
        UNION ALL SELECT family FROM refresh_token WHERE hash = ?1)`,
    ),
    revoke: database.change('UPDATE family SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL'),
    removeOldest: database.change(
      `DELETE FROM family WHERE id IN (SELECT id FROM family WHERE user = ? AND client = ?
        ORDER BY created DESC, rowid DESC LIMIT -1 OFFSET ${MOST_FAMILIES})`,
    ),
    removeAll: database.change('DELETE FROM family WHERE user = ? AND client = ?'),
  }
}

function consentStatements(database: Database) {
  return {
    insert: database.change(
      `INSERT INTO consent (user, client, scope, granted) VALUES (?, ?, ?, ?)
        ON CONFLICT (user, client) DO UPDATE SET scope = excluded.scope`,
    ),
    list: database.query<{
      readonly id: string
      readonly name: string
      readonly type: 'confidential' | 'public'
      readonly scope: string
      readonly granted: number
    }>(
      `SELECT client.id, client.name, client.type, scope, granted FROM consent
        JOIN client ON client.id = consent.client WHERE consent.user = ? ORDER BY granted DESC, client.name`,
    ),
    remove: database.change('DELETE FROM consent WHERE user = ? AND client = ?'),
  }
}
