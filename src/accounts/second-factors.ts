import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { SecondFactors } from './accounts.ts'
import { change, type Database, type DatabaseScript, query } from './database.ts'
import { invalidName } from './names.ts'
import { hashOf, hashOfGiven, type RandomBytes, randomText } from './secrets.ts'
import { userIdOf } from './users.ts'

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
        const user = yield* userIdOf(name)
        yield* removeCodes(user)
        return (yield* remove(user)) > 0
      }),
  }
}

/** Seconds for which a code is valid (RFC 6238, section 5.2). */
const PERIOD = 30

/** Time steps before and after the current one that are accepted, to allow for clock drift (RFC 6238, section 6). */
const WINDOW = 1

const DIGITS = 6

/** The alphabet of base 32 (RFC 4648, section 6). */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

const [NONCE_LENGTH, TAG_LENGTH] = [12, 16]

/** Writes bytes in base 32 without padding, as authenticator apps expect them. */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? [])
    .map(group => BASE32.charAt(Number.parseInt(group.padEnd(5, '0'), 2)))
    .join('')
}

/** The time step of a time in milliseconds since 1970 (RFC 6238, section 4.2). */
export function timeStep(moment: number): number {
  return Math.floor(moment / 1000 / PERIOD)
}

/** The code of a time step, with HMAC-SHA-1 (RFC 4226, section 5.3). */
export function totpCode(secret: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', secret).update(counter).digest()
  const value = digest.readUInt32BE((digest.at(-1) ?? 0) & 0xf) & 0x7fffffff
  return String(value % 10 ** digits).padStart(digits, '0')
}

/** The time step that a code belongs to, near a time in milliseconds since 1970; null for a wrong code. */
export function matchingStep(secret: Uint8Array, given: string, moment: number): number | null {
  const code = given.replace(/[\s-]/g, '')
  if (!/^\d{6}$/.test(code)) return null
  const current = timeStep(moment)
  let found: number | null = null
  // All steps are compared, so that the timing reveals nothing.
  for (let step = current - WINDOW; step <= current + WINDOW; step++)
    if (timingSafeEqual(Buffer.from(code), Buffer.from(totpCode(secret, step)))) found = step
  return found
}

/** The URI that authenticator apps read (Key URI Format of Google Authenticator). */
export function otpauthUri(issuer: string, account: string, secret: string): string {
  const parts = { secret, issuer, algorithm: 'SHA1', digits: String(DIGITS), period: String(PERIOD) }
  const query = Object.entries(parts).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(account)}?${query.join('&')}`
}

/** Encrypts the secrets of one-time passwords, which must be readable again, with a key derived from that of the portal. */
export class SecretBox {
  private readonly key: Buffer
  private readonly randomBytes: RandomBytes

  constructor(portalSecret: Buffer, randomBytes: RandomBytes) {
    this.key = Buffer.from(hkdfSync('sha256', portalSecret, '', 'lodestone second factor', 32))
    this.randomBytes = randomBytes
  }

  /** @param owner the user of the secret, or user and session: it cannot be decrypted for another one */
  seal(secret: Uint8Array, owner: number | string): Buffer {
    const nonce = this.randomBytes(NONCE_LENGTH)
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(Buffer.from(String(owner)))
    return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
  }

  /** The secret; null if it was encrypted for another user or portal, or modified. */
  open(sealed: Uint8Array, owner: number | string): Buffer | null {
    if (sealed.length < NONCE_LENGTH + TAG_LENGTH) return null
    const decipher = createDecipheriv('aes-256-gcm', this.key, sealed.subarray(0, NONCE_LENGTH))
      .setAAD(Buffer.from(String(owner)))
      .setAuthTag(sealed.subarray(-TAG_LENGTH))
    try {
      const secret = decipher.update(sealed.subarray(NONCE_LENGTH, -TAG_LENGTH))
      return Buffer.concat([secret, decipher.final()])
    } catch {
      return null
    }
  }
}
