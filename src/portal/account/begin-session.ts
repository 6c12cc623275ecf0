import type { FastifyReply, FastifyRequest } from 'fastify'
import type { User } from '../../accounts/accounts.ts'
import { deviceCookie } from '../../http/device.ts'
import { clearedCookie, readCookie, sessionCookie } from '../../http/session-cookie.ts'
import { type AccountsOptions, isSecure, rootOf, sendOn } from '../../site/signed-in.ts'

/** Begins a session in place of one that the browser had, and remembers the device. */
export async function beginSession(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  user: User,
  how: string,
  next: string | null,
): Promise<FastifyReply> {
  const { accounts, now } = options
  const secure = isSecure(options)
  const before = readCookie(request.headers, 'session', secure)
  if (before !== null) await accounts.sessions.end(before)
  const { token, expires } = await accounts.sessions.begin(user.id)
  const actor = { name: user.name, address: options.address(request) }
  await accounts.audit.note('signed in', how, actor)
  reply.header('set-cookie', [
    sessionCookie(token, { secure, maxAge: (expires - now()) / 1000 }),
    clearedCookie(secure, 'login'),
    deviceCookie(user.name, { secret: accounts.secret, secure }),
  ])
  return sendOn(reply, next ?? `${rootOf(options)}/account/`)
}
