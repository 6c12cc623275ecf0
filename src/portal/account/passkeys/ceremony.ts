import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { PasskeyCredential } from '../../../accounts/passkeys.ts'
import type { AccountsOptions } from '../../../site/signed-in.ts'

/** EdDSA, ES256 and RS256 (RFC 9053, RFC 8812). */
const ALGORITHMS = [-8, -7, -257]

/** Milliseconds that a browser waits for the user. */
const TIMEOUT = 300_000

/** Maximum characters of a browser's response with a passkey, and of its credential id (section 6.1: 1023 bytes). */
const [MAX_RESPONSE, MAX_ID] = [12_000, 1364]

/** Names of transports, as far as they are stored. */
const TRANSPORTS = /^(?:ble|cable|hybrid|internal|nfc|smart-card|usb)$/

type Options = Pick<AccountsOptions, 'accounts' | 'base' | 'title' | 'now'>

/**
 * The relying party of passkeys: the host of the base address. Null if browsers do not support them there: without TLS except
 * on this machine, and for IP addresses (Web Authentication, section 5.1.2).
 */
export function relyingParty({ base }: Pick<Options, 'base'>): {
  readonly id: string
  readonly origin: string
} | null {
  const { protocol, hostname, origin } = new URL(base)
  const isNumber = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
  if (isNumber || (protocol !== 'https:' && !/(?:^|\.)localhost$/.test(hostname))) return null
  return { id: hostname, origin }
}

/** The options to create a passkey (section 5.4), as JSON; `bound` is what the challenge is bound to. */
export async function creationOptions(
  options: Options,
  user: { readonly id: number; readonly name: string },
  bound: string,
): Promise<string> {
  const { accounts, title, now } = options
  const known = await accounts.passkeys.credentials(user.id)
  return JSON.stringify({
    rp: { id: relyingParty(options)?.id, name: title },
    user: { id: accounts.passkeys.handle(user.id), name: user.name, displayName: user.name },
    challenge: makeChallenge(accounts.secret, `create ${bound}`, now()),
    pubKeyCredParams: ALGORITHMS.map(alg => ({ type: 'public-key', alg })),
    excludeCredentials: known.map(descriptorOf),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
    timeout: TIMEOUT,
  })
}

/** The options to sign with a passkey (section 5.5): of any user, or of one whose password was verified. */
export async function requestOptions(options: Options, bound: string, user?: number): Promise<string> {
  const { accounts, now } = options
  const known = user === undefined ? [] : await accounts.passkeys.credentials(user)
  return JSON.stringify({
    rpId: relyingParty(options)?.id,
    challenge: makeChallenge(accounts.secret, `get ${bound}`, now()),
    allowCredentials: known.map(descriptorOf),
    userVerification: user === undefined ? 'required' : 'preferred',
    timeout: TIMEOUT,
  })
}

function descriptorOf({ credential, transports }: PasskeyCredential) {
  return { type: 'public-key', id: credential, transports }
}

/** Checks a new passkey (section 7.1); null if it is not as expected. */
export async function checkCreated(
  options: Options,
  given: string,
  bound: string,
): Promise<Omit<PasskeyCredential, 'id' | 'user'> | null> {
  const party = relyingParty(options)
  const response = parsed<RegistrationResponseJSON>(given)
  if (party === null || response === null) return null
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const challenge = expectedChallenge(options, `create ${bound}`)
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge.expects,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (!verified || registrationInfo === undefined || !(await challenge.consume())) return null
    const { id, publicKey, counter } = registrationInfo.credential
    const transports = (response.response.transports ?? []).filter(each => TRANSPORTS.test(each)).slice(0, 8)
    return id.length > MAX_ID ? null : { credential: id, publicKey, counter, transports }
  } catch {
    return null
  }
}

/**
 * Checks a signature of a passkey (section 7.2); the id of its user, null if it is not as expected.
 *
 * @param user the required owner of the passkey; without one the authenticator must have verified the user itself
 */
export async function checkSigned(
  options: Options,
  given: string,
  bound: string,
  user?: number,
): Promise<number | null> {
  const { passkeys } = options.accounts
  const party = relyingParty(options)
  const response = parsed<AuthenticationResponseJSON>(given)
  if (party === null || response === null) return null
  const stored = await passkeys.find(response.id)
  if (stored === null || (user !== undefined && stored.user !== user)) return null
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const challenge = expectedChallenge(options, `get ${bound}`)
  try {
    const { userHandle } = response.response
    const isOwner = userHandle === passkeys.handle(stored.user)
    if (!isOwner && (user === undefined || (userHandle ?? '') !== '')) return null
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge.expects,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: user === undefined,
      credential: {
        id: stored.credential,
        publicKey: new Uint8Array(stored.publicKey),
        counter: stored.counter,
      },
    })
    const isSigned = verified && (await challenge.consume())
    return isSigned && (await passkeys.use(stored.id, authenticationInfo.newCounter)) ? stored.user : null
  } catch {
    return null
  }
}

/** The challenge of a page of ours, which is valid once. */
function expectedChallenge({ accounts, now }: Options, bound: string) {
  let found: { readonly text: string; readonly expires: number } | null = null
  return {
    expects: (text: string): boolean => {
      const expires = readChallenge(accounts.secret, bound, text, now())
      found = expires === null ? null : { text, expires }
      return expires !== null
    },
    consume: async (): Promise<boolean> => {
      if (found === null) return false
      // Base64url has several spellings of the same bytes.
      const name = Buffer.from(found.text, 'base64url').toString('hex')
      return accounts.singleUse.consume(`passkey challenge ${name}`, found.expires)
    },
  }
}

/** A browser's response as JSON; the library checks the rest of its structure. */
function parsed<T extends { readonly id: string; readonly response: object }>(given: string): T | null {
  if (given.length > MAX_RESPONSE) return null
  try {
    const value = JSON.parse(given) as Partial<T> | null
    const { id, response } = value ?? {}
    const isCredential = typeof id === 'string' && id.length <= MAX_ID
    return isCredential && typeof response === 'object' && response !== null ? (value as T) : null
  } catch {
    return null
  }
}

/** Milliseconds that a page with a challenge may be open. */
const LIFE = 15 * 60_000

/** Bytes of a challenge: salt (Web Authentication, section 13.4.3), expiry, and seal. */
const [SALT, MOMENT, SEAL] = [16, 6, 32]

/**
 * A challenge that can be verified without being stored; in base64url.
 *
 * @param bound what it is bound to: the session of a user who registers a passkey, or the cookie of the sign-in form
 */
export function makeChallenge(secret: Buffer, bound: string, now: number): string {
  const head = Buffer.alloc(SALT + MOMENT)
  randomBytes(SALT).copy(head)
  head.writeUIntBE(Math.floor(now) + LIFE, SALT, MOMENT)
  return Buffer.concat([head, seal(secret, bound, head)]).toString('base64url')
}

/** The expiry of a challenge, in milliseconds since 1970; null if it is bound to something else, or expired. */
export function readChallenge(secret: Buffer, bound: string, given: string, now: number): number | null {
  const bytes = Buffer.from(given, 'base64url')
  if (bytes.length !== SALT + MOMENT + SEAL) return null
  const head = bytes.subarray(0, SALT + MOMENT)
  if (!timingSafeEqual(bytes.subarray(SALT + MOMENT), seal(secret, bound, head))) return null
  const expires = head.readUIntBE(SALT, MOMENT)
  return expires > now ? expires : null
}

function seal(secret: Buffer, bound: string, head: Buffer): Buffer {
  return createHmac('sha256', secret).update('passkey challenge\n').update(head).update(bound).digest()
}
