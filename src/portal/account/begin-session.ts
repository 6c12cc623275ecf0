import { createHash, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { User } from '../../accounts/accounts.ts'
import { formToken, isFormToken } from '../../http/form.ts'
import {
  type CookieScope,
  clearedCookie,
  readCookie,
  sessionCookie,
  setCookie,
} from '../../http/session-cookie.ts'
import { type AccountsOptions, cookieScopeOf, rootOf, sendOn } from '../../site/signed-in.ts'

/** Begins a session that replaces the browser's previous one, and remembers the device. */
export async function beginSession(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  user: User,
  how: string,
  next: string | null,
): Promise<FastifyReply> {
  const scope = cookieScopeOf(options)
  reply.header('set-cookie', [
    await replaceSession(request, options, user, how),
    clearedCookie(scope, 'login'),
    deviceCookie(user.name, { secret: options.accounts.secret, scope }),
  ])
  return sendOn(reply, next ?? `${rootOf(options)}/account/`)
}

/** Begins a session that replaces the browser's previous one; returns its Set-Cookie header. */
export async function replaceSession(
  request: FastifyRequest,
  options: AccountsOptions,
  user: Pick<User, 'id' | 'name'>,
  how: string,
): Promise<string> {
  const { accounts, now } = options
  const scope = cookieScopeOf(options)
  const before = readCookie(request.headers, 'session', scope)
  if (before !== null) await accounts.sessions.end(before)
  const { token, expires } = await accounts.sessions.begin(user.id)
  await accounts.audit.note('signed in', how, { name: user.name, address: options.address(request) })
  return sessionCookie(token, { scope, maxAge: (expires - now()) / 1000 })
}

/** Seconds for which a device is remembered. */
const LIFE = 180 * 86_400

const NAME_LENGTH = 16

/**
 * The identifier of the device of a request, if this account was signed in on it before (OWASP, "Device cookies"): failures of
 * other clients do not count for it. Null for any other device, or an invalid cookie.
 */
export function deviceOf(
  headers: IncomingHttpHeaders,
  account: string,
  { secret, scope }: { readonly secret: Buffer; readonly scope: CookieScope },
): string | null {
  const cookie = readCookie(headers, 'device', scope)
  if (cookie === null) return null
  const [name, seal] = [cookie.slice(0, NAME_LENGTH), cookie.slice(NAME_LENGTH)]
  return isFormToken(secret, boundTo(name, account), seal) ? name : null
}

/** The Set-Cookie header that remembers a device on which an account was signed in. */
export function deviceCookie(
  account: string,
  { secret, scope }: { readonly secret: Buffer; readonly scope: CookieScope },
): string {
  const name = randomBytes(12).toString('base64url')
  return setCookie('device', name + formToken(secret, boundTo(name, account)), { scope, maxAge: LIFE })
}

function boundTo(name: string, account: string): string {
  const folded = account.normalize('NFKC').trim().toLowerCase()
  return `device ${name} ${createHash('sha256').update(folded).digest('base64')}`
}
