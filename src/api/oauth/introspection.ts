import OAuth2Server from '@node-oauth/oauth2-server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Attempts } from '../../http/attempts.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { AccountsOptions } from '../../site/signed-in.ts'
import { authenticateClient } from './client-authentication.ts'
import { required } from './parameters.ts'
import { readOnce } from './token.ts'

/**
 * Describes to a client one of its tokens (RFC 7662). A public client, which anyone can impersonate, is refused, and
 * tokens of others are reported only as not active (section 2.2). Throws errors of OAuth.
 */
export async function answerIntrospection(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  attempts: Attempts,
  fields: QueryParameters,
): Promise<FastifyReply> {
  const parameters = readOnce(fields)
  const { client, credentials } = await authenticateClient(request, reply, parameters, options, attempts)
  if (credentials.secret === null)
    throw new OAuth2Server.InvalidClientError('Invalid client: its secret is missing')
  const found = await options.accounts.tokens.inspect(required(parameters, 'token'), client.id)
  if (found === null) return reply.send({ active: false })
  const { type, scope, name, user, expires } = found
  return reply.send({
    active: true,
    scope,
    client_id: client.id,
    username: name,
    sub: String(user),
    iss: options.base,
    ...(type === 'access' ? { token_type: 'Bearer' } : {}),
    ...(expires === null ? {} : { exp: Math.floor(expires / 1000) }),
  })
}
