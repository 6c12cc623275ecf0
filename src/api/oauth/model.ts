import OAuth2Server from '@node-oauth/oauth2-server'
import type { Accounts, Client, CodeGrant, IssuedTokens } from '../../accounts/accounts.ts'
import { isRegisteredUri } from '../../accounts/clients.ts'
import { SCOPE } from './parameters.ts'

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
