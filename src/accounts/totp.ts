import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { RandomBytes } from './secrets.ts'

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
