import OAuth2Server from '@node-oauth/oauth2-server'
import type { Accounts, Client, CodeGrant, IssuedTokens } from '../../accounts/accounts.ts'
import { isRegisteredUri } from '../../accounts/redirect-uri.ts'
import { SCOPE } from './parameters.ts'

/** What one request for tokens was given. */
export interface Issuing {
  tokens: IssuedTokens | null
}

/** What a client may ask for tokens with. */
export const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const

/** The OAuth server for one request, over codes and tokens as the accounts keep them. */
export function oauthServer(accounts: Accounts, now: () => number, issuing: Issuing): OAuth2Server {
  return new OAuth2Server({
    model: oauthModel(accounts, now, issuing),
    // Whether a client needs its secret is decided by what it is.
    requireClientAuthentication: Object.fromEntries(GRANT_TYPES.map(name => [name, false])),
  })
}

/** Codes and tokens as the accounts keep them, for one request. */
type OAuthModel = OAuth2Server.AuthorizationCodeModel & OAuth2Server.RefreshTokenModel

/**
 * What the OAuth server asks of the accounts, for one request. Tokens are issued in the same step in which the code or the
 * refresh token is spent: of many who present one at the same moment the first is served, and none comes in between.
 *
 * @param now milliseconds since 1970
 * @param issuing takes the tokens
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
        // The server measures by the clock of the machine.
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
    // Tokens are recognised elsewhere, once for all APIs.
    getAccessToken: async () => false,
  }
}

/**
 * True where a client is who it says.
 *
 * @param secret null where nobody says so, at the authorization endpoint; undefined where none was sent
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
