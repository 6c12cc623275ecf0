import type { SecondFactors } from './accounts.ts'
import { change, type Database, type DatabaseScript, query } from './database.ts'
import { folded, invalidName, unknownUser } from './names.ts'
import { hashOf, hashOfGiven, type RandomBytes, randomText } from './secrets.ts'
import { base32, matchingStep, SecretBox } from './totp.ts'

/** Bytes of a secret: those of the digest of HMAC-SHA-1 (RFC 4226, section 4, R6). */
const SECRET_LENGTH = 20

/** Milliseconds for which a secret that was begun can be confirmed. */
const SETUP_LIFE = 10 * 60_000

/** Recovery codes of a user, and the characters of one: 95 bits, so a plain hash of it is enough. */
const [RECOVERY_CODES, RECOVERY_LENGTH] = [10, 16]

interface Row {
  readonly secret: Uint8Array
  /** When the first code was entered; null in rows of earlier versions, which stored a secret before. */
  readonly confirmed: number | null
}

const find = query<Row>('SELECT secret, confirmed FROM second_factor WHERE account = ?')
const userNamed = query<{ readonly id: number }>('SELECT id FROM account WHERE folded = ?')
const removePending = change('DELETE FROM second_factor WHERE account = ? AND confirmed IS NULL')
const insert = change(
  'INSERT INTO second_factor (account, secret, confirmed, step) VALUES (?, ?, ?, ?) ON CONFLICT (account) DO NOTHING',
)
const consumeStep = change(
  'UPDATE second_factor SET step = ?1 WHERE account = ?2 AND confirmed IS NOT NULL AND step < ?1',
)
const remove = change('DELETE FROM second_factor WHERE account = ?')
const insertCode = change('INSERT INTO recovery_code (account, hash) VALUES (?, ?)')
const consumeCode = change('DELETE FROM recovery_code WHERE account = ? AND hash = ?')
const removeCodes = change('DELETE FROM recovery_code WHERE account = ?')
const countCodes = query<{ readonly count: number }>(
  'SELECT count(*) AS count FROM recovery_code WHERE account = ?',
)

/** Second factors of local users: one-time passwords by time (RFC 6238) and recovery codes. */
export function createSecondFactors(
  database: Database,
  portalSecret: Buffer,
  randomBytes: RandomBytes,
  now: () => number,
): SecondFactors {
  const box = new SecretBox(portalSecret, randomBytes)
  function* replaceCodes(user: number): DatabaseScript<readonly string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, () => randomText(randomBytes, RECOVERY_LENGTH))
    yield* removeCodes(user)
    for (const code of codes) yield* insertCode(user, hashOf(code))
    return codes.map(code => code.replace(/.{4}(?=.)/g, '$&-'))
  }
  const begunSecret = (user: number, session: string, sealed: string): Buffer | null => {
    const opened = box.open(Buffer.from(sealed, 'base64url'), `${user} ${session}`)
    return opened === null || opened.readDoubleBE() <= now() ? null : opened.subarray(8)
  }
  return {
    state: async user => {
      const found = await database.read(function* () {
        return { row: yield* find.get(user), codes: yield* countCodes.get(user) }
      })
      if ((found.row?.confirmed ?? null) === null) return { type: 'off' }
      return { type: 'on', recoveryCodes: found.codes?.count ?? 0 }
    },
    begin: async (user, session) => {
      const row = await database.read(() => find.get(user))
      if ((row?.confirmed ?? null) !== null) throw invalidName('The user has a second factor already')
      const secret = randomBytes(SECRET_LENGTH)
      const expires = Buffer.alloc(8)
      expires.writeDoubleBE(now() + SETUP_LIFE)
      const sealed = box.seal(Buffer.concat([expires, secret]), `${user} ${session}`)
      return { secret: base32(secret), sealed: sealed.toString('base64url') }
    },
    begun: (user, session, sealed) => {
      const secret = begunSecret(user, session, sealed)
      return secret === null ? null : { secret: base32(secret), sealed }
    },
    confirm: async (user, session, sealed, code) => {
      const secret = begunSecret(user, session, sealed)
      const step = secret === null ? null : matchingStep(secret, code, now())
      if (secret === null || step === null) return null
      const stored = box.seal(secret, user)
      return database.write(function* () {
        yield* removePending(user)
        return (yield* insert(user, stored, now(), step)) === 0 ? null : yield* replaceCodes(user)
      })
    },
    verify: async (user, code) =>
      database.write(function* () {
        const row = yield* find.get(user)
        if (row === undefined || row.confirmed === null) return null
        const secret = box.open(row.secret, user)
        const step = secret === null ? null : matchingStep(secret, code, now())
        // A code is accepted once, and none older than the last (RFC 6238, section 5.2).
        if (step !== null) return (yield* consumeStep(step, user)) > 0 ? 'code' : null
        const hash = hashOfGiven(code.replace(/[\s-]/g, ''))
        return hash !== null && (yield* consumeCode(user, hash)) > 0 ? 'recovery code' : null
      }),
    renewCodes: async user =>
      database.write(function* () {
        if (((yield* find.get(user))?.confirmed ?? null) === null)
          throw invalidName('The user has no second factor')
        return yield* replaceCodes(user)
      }),
    remove: async name =>
      database.write(function* () {
        const user = yield* userNamed.get(folded(name))
        if (user === undefined) throw unknownUser(name)
        yield* removeCodes(user.id)
        return (yield* remove(user.id)) > 0
      }),
  }
}
