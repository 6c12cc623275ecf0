import OAuth2Server from '@node-oauth/oauth2-server'
import type { FastifyReply } from 'fastify'
import type { Accounts, Client, CodeGrant, IssuedTokens } from '../../accounts/accounts.ts'
import { isRegisteredUri } from '../../accounts/clients.ts'
import type { Attempts } from '../../http/attempts.ts'
import type { Form } from '../../http/form.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { AccountsOptions } from '../../site/signed-in.ts'

/** Parameters by name; those without a value count as not sent (RFC 6749, section 3.1). */
export type Parameters = Form

/** The only scope (Access 6.1). */
export const SCOPE = 'all'

/** Maximum characters of an echoed state, percent-encoded: it passes through forms and addresses. */
export const MAX_STATE = 4096

/** Parameters, with the names of those that were sent more than once. */
export function readParameters(sent: QueryParameters): {
  readonly parameters: Parameters
  readonly repeated: ReadonlySet<string>
} {
  const parameters = new Map<string, string>()
  const repeated = new Set<string>()
  for (const [name, value] of Object.entries(sent)) {
    const values = [value].flat()
    if (values.length > 1) repeated.add(name)
    const [first = ''] = values
    if (first !== '') parameters.set(name, first)
  }
  return { parameters, repeated }
}

/** Throws InvalidScopeError for another scope than `all`, in either parameter that clients send it in. */
export function checkScope(parameters: Parameters): void {
  for (const name of ['scope', 'scopes']) {
    const requested = parameters.get(name)?.trim().split(/ +/)
    if (requested?.some(scope => scope !== SCOPE))
      throw new OAuth2Server.InvalidScopeError(`Invalid scope: ${SCOPE} is the only one`)
  }
}

/** A required parameter. Throws InvalidRequestError. */
export function required(parameters: Parameters, name: string): string {
  const value = parameters.get(name)
  if (value === undefined) throw new OAuth2Server.InvalidRequestError(`Missing parameter: ${name}`)
  return value
}

/** The tokens issued to one request. */
export interface Issuing {
  tokens: IssuedTokens | null
}

/** The supported grant types. */
export const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const

/** The OAuth server for one request, with the codes and tokens of the accounts. */
export function oauthServer(accounts: Accounts, now: () => number, issuing: Issuing): OAuth2Server {
  return new OAuth2Server({
    model: oauthModel(accounts, now, issuing),
    // Whether a client needs its secret depends on its type.
    requireClientAuthentication: Object.fromEntries(GRANT_TYPES.map(name => [name, false])),
  })
}

type OAuthModel = OAuth2Server.AuthorizationCodeModel & OAuth2Server.RefreshTokenModel

/**
 * The accounts as the model of the OAuth server, for one request. Tokens are issued in the same atomic step that consumes the
 * code or the refresh token: of concurrent requests with the same one only the first is served.
 *
 * @param now milliseconds since 1970
 * @param issuing receives the tokens
 */
function oauthModel(accounts: Accounts, now: () => number, issuing: Issuing): OAuthModel {
  const { clients, tokens } = accounts
  return {
    getClient: async (id, secret: string | null | undefined) => {
      const client = await clients.find(id)
      return client !== null && (await isAuthentic(accounts, client, secret)) ? oauthClient(client) : false
    },
    generateAuthorizationCode: async () => 'made when it is saved',
    saveAuthorizationCode: async (code, client, user) => {
      const grant: CodeGrant = { ...(user.grant as CodeGrant), client: client.id }
      return { ...code, authorizationCode: await tokens.issueCode(grant), client, user }
    },
    getAuthorizationCode: async code => {
      const found = await tokens.findCode(code)
      const client = found === null ? null : await clients.find(found.client)
      if (found === null || client === null) return false
      return {
        authorizationCode: code,
        // The OAuth library compares with the system clock.
        expiresAt: new Date(Date.now() + found.expires - now()),
        redirectUri: found.redirectUri,
        scope: [found.scope],
        client: oauthClient(client),
        user: { id: found.user },
        ...(found.challenge === null ? {} : { codeChallenge: found.challenge, codeChallengeMethod: 'S256' }),
      }
    },
    revokeAuthorizationCode: async ({ authorizationCode }) => {
      issuing.tokens = await tokens.redeemCode(authorizationCode)
      return issuing.tokens !== null
    },
    getRefreshToken: async token => {
      const found = await tokens.findRefresh(token)
      const client = found === null ? null : await clients.find(found.client)
      if (found === null || client === null) return false
      return {
        refreshToken: token,
        scope: [found.scope],
        client: oauthClient(client),
        user: { id: found.user },
      }
    },
    revokeToken: async ({ refreshToken }) => {
      issuing.tokens = await tokens.redeemRefresh(refreshToken)
      return issuing.tokens !== null
    },
    saveToken: async (token, client, user) => {
      const issued = issuing.tokens
      if (issued === null) throw new OAuth2Server.InvalidGrantError('Invalid grant: it is revoked')
      return { ...token, accessToken: issued.accessToken, refreshToken: issued.refreshToken, client, user }
    },
    validateRedirectUri: async (uri, client) => isRegisteredUri(uri, [client.redirectUris ?? []].flat()),
    validateScope: async (_user, _client, scope) => scope ?? [SCOPE],
    // Access tokens are authenticated elsewhere, for all APIs.
    getAccessToken: async () => false,
  }
}

/**
 * True if a client is authentic.
 *
 * @param secret null at the authorization endpoint, where clients do not authenticate; undefined if none was sent
 */
async function isAuthentic(
  { clients }: Accounts,
  client: Client,
  secret: string | null | undefined,
): Promise<boolean> {
  if (secret === null) return true
  if (secret === undefined) return client.type === 'public'
  return clients.verifySecret(client.id, secret)
}

function oauthClient({ id, redirectUris, type }: Client): OAuth2Server.Client {
  return { id, redirectUris: [...redirectUris], type, grants: [...GRANT_TYPES] }
}

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
