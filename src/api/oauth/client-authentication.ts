import OAuth2Server from '@node-oauth/oauth2-server'
import type { FastifyReply } from 'fastify'
import type { Client } from '../../accounts/accounts.ts'
import type { Attempts } from '../../http/attempts.ts'
import type { AccountsOptions } from '../../site/signed-in.ts'
import type { Parameters } from './parameters.ts'

interface ClientCredentials {
  readonly id: string
  readonly secret: string | null
}

/** A client whose credentials are right. */
export interface AuthenticatedClient {
  readonly client: Client
  readonly credentials: ClientCredentials
}

/**
 * Authenticates a client (RFC 6749, section 2.3). A public client may omit its secret; a wrong one is always refused.
 * Throws InvalidClientError and InvalidRequestError; 429 after too many wrong secrets.
 */
export async function authenticateClient(
  reply: FastifyReply,
  parameters: Parameters,
  { accounts, address, now }: AccountsOptions,
  attempts: Attempts,
): Promise<AuthenticatedClient> {
  const credentials = readCredentials(reply.request.headers.authorization, parameters)
  const { id, secret } = credentials
  const client = await accounts.clients.find(id)
  if (secret === null) {
    if (client?.type !== 'public')
      throw new OAuth2Server.InvalidClientError('Invalid client: it is not known, or its secret is missing')
    return { client, credentials }
  }
  const attempt = await attempts.begin(id, address(reply.request))
  if (attempt.type === 'blocked') {
    reply.header('retry-after', String(Math.max(1, Math.ceil((attempt.until - now()) / 1000))))
    const described = { code: 429, name: 'invalid_client' }
    throw new OAuth2Server.OAuthError('Too many wrong secrets: try again later', described)
  }
  const isRight = await accounts.clients.verifySecret(id, secret).catch(async error => {
    await attempt.withdraw()
    throw error
  })
  if (!isRight || client === null)
    throw new OAuth2Server.InvalidClientError('Invalid client: it is not known, or its secret is wrong')
  await attempt.succeed()
  return { client, credentials }
}

/** The credentials of a request, by Basic or in the body, not both (RFC 6749, section 2.3.1). */
function readCredentials(authorization: string | undefined, parameters: Parameters): ClientCredentials {
  const id = parameters.get('client_id')
  const secret = parameters.get('client_secret')
  if (authorization === undefined) {
    if (id === undefined)
      throw new OAuth2Server.InvalidClientError('Invalid client: there are no client credentials')
    return { id, secret: secret ?? null }
  }
  const basic = readBasic(authorization)
  if (basic === null)
    throw new OAuth2Server.InvalidClientError('Invalid client: the Authorization header is not read')
  if (secret !== undefined || (id !== undefined && id !== basic.id))
    throw new OAuth2Server.InvalidRequestError('Client credentials are given in two ways')
  return basic
}

/** Both halves are form-encoded (RFC 6749, section 2.3.1); null for any other header. */
function readBasic(authorization: string): ClientCredentials | null {
  const encoded = /^basic +([\w.~+/-]+=*) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return null
  const text = Buffer.from(encoded, 'base64').toString()
  const at = text.indexOf(':')
  if (at < 1) return null
  try {
    const [id, secret] = [text.slice(0, at), text.slice(at + 1)].map(half =>
      decodeURIComponent(half.replaceAll('+', ' ')),
    )
    if (id === undefined || secret === undefined) return null
    return { id, secret: secret === '' ? null : secret }
  } catch {
    return null
  }
}
