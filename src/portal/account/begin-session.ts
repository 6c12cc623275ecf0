import { createHash, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { User } from '../../accounts/accounts.ts'
import { formToken, isFormToken } from '../../http/form.ts'
import { clearedCookie, cookieScope, readCookie, setCookie } from '../../http/session-cookie.ts'
import { pageContextOf } from '../../site/page-context.ts'
import { type AccountsOptions, sendOn } from '../../site/signed-in.ts'

/** Begins a session that replaces the browser's previous one, and remembers the device. */
export async function beginSession(
  reply: FastifyReply,
  options: AccountsOptions,
  user: User,
  how: string,
  next: string | null,
): Promise<FastifyReply> {
  reply.header('set-cookie', [
    await replaceSession(reply, options, user, how),
    clearedCookie(cookieScope(options.base), 'login'),
    deviceCookie(user.name, options),
  ])
  return sendOn(reply, next ?? pageContextOf(reply.request, options).href('/account/'))
}

/** Begins a session that replaces the browser's previous one; returns its Set-Cookie header. */
export async function replaceSession(
  { request }: FastifyReply,
  { accounts, now, base, address }: AccountsOptions,
  user: Pick<User, 'id' | 'name'>,
  how: string,
): Promise<string> {
  const scope = cookieScope(base)
  const before = readCookie(request.headers, 'session', scope)
  if (before !== null) await accounts.sessions.end(before)
  const { token, expires } = await accounts.sessions.begin(user.id)
  await accounts.audit.note('signed in', how, { name: user.name, address: address(request) })
  return setCookie('session', token, { scope, maxAge: (expires - now()) / 1000 })
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
  { accounts: { secret }, base }: Pick<AccountsOptions, 'accounts' | 'base'>,
): string | null {
  const cookie = readCookie(headers, 'device', cookieScope(base))
  if (cookie === null) return null
  const [name, seal] = [cookie.slice(0, NAME_LENGTH), cookie.slice(NAME_LENGTH)]
  return isFormToken(secret, boundTo(name, account), seal) ? name : null
}

/** The Set-Cookie header that remembers a device on which an account was signed in. */
function deviceCookie(account: string, { accounts, base }: AccountsOptions): string {
  const name = randomBytes(12).toString('base64url')
  const sealed = name + formToken(accounts.secret, boundTo(name, account))
  return setCookie('device', sealed, { scope: cookieScope(base), maxAge: LIFE })
}

function boundTo(name: string, account: string): string {
  const folded = account.normalize('NFKC').trim().toLowerCase()
  return `device ${name} ${createHash('sha256').update(folded).digest('base64')}`
}
