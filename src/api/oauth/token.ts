import { createHash, timingSafeEqual } from 'node:crypto'
import OAuth2Server from '@node-oauth/oauth2-server'
import type { Accounts, Client, CodeGrant } from '../../accounts/accounts.ts'
import { FORM_TYPE } from '../../http/form.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { AccountsOptions } from '../../site/signed-in.ts'
import type { AuthenticatedClient } from './client-authentication.ts'
import { GRANT_TYPES, type Issuing, oauthServer } from './model.ts'
import { checkScope, type Parameters, readParameters, required } from './parameters.ts'

/**
 * Issues tokens for a code or a refresh token (RFC 6749, sections 4.1.3 and 6; Access 6.2). Throws errors of
 * OAuth.
 */
export async function issueTokens(
  parameters: Parameters,
  { client, credentials }: AuthenticatedClient,
  { accounts, now }: AccountsOptions,
): Promise<object> {
  const grantType = required(parameters, 'grant_type')
  if (!GRANT_TYPES.some(name => name === grantType))
    throw new OAuth2Server.UnsupportedGrantTypeError('Unsupported grant type')
  checkScope(parameters)
  if (grantType === 'authorization_code') await checkCode(parameters, client, accounts)
  const issuing: Issuing = { tokens: null }
  const { id, secret } = credentials
  await oauthServer(accounts, now, issuing).token(
    new OAuth2Server.Request({
      method: 'POST',
      headers: { 'content-type': FORM_TYPE, 'content-length': '1' },
      query: {},
      body: {
        ...Object.fromEntries(parameters),
        client_id: id,
        ...(secret === null ? {} : { client_secret: secret }),
      },
    }),
    new OAuth2Server.Response(),
  )
  if (issuing.tokens === null) throw new OAuth2Server.InvalidGrantError('Invalid grant: it is revoked')
  const { accessToken, refreshToken, expiresIn, scope } = issuing.tokens
  const state = parameters.get('state')
  return {
    access_token: accessToken,
    expires_in: expiresIn,
    token_type: 'Bearer',
    ...(state === undefined ? {} : { state }),
    scope,
    refresh_token: refreshToken,
  }
}

/** Revokes a token and all that descends from the same authorization (RFC 7009). Throws errors of OAuth. */
export async function revokeToken(
  parameters: Parameters,
  { client }: AuthenticatedClient,
  { accounts }: AccountsOptions,
): Promise<object> {
  await accounts.tokens.revoke(required(parameters, 'token'), client.id)
  return {}
}

/** Parameters, none of them repeated (RFC 6749, section 3.2). Throws InvalidRequestError. */
export function readOnce(fields: QueryParameters): Parameters {
  const { parameters, repeated } = readParameters(fields)
  if (repeated.size > 0) throw new OAuth2Server.InvalidRequestError('A parameter is given more than once')
  return parameters
}

/**
 * Checks a token request against the authorization request (RFC 6749, section 4.1.3; RFC 7636, section 4.6).
 * A code that is presented with a wrong parameter is consumed, so that nothing can be guessed. Throws InvalidGrantError.
 */
async function checkCode(parameters: Parameters, client: Client, accounts: Accounts): Promise<void> {
  const code = required(parameters, 'code')
  const found = await accounts.tokens.findCode(code)
  if (found === null || found.client !== client.id) return
  const redirectUri = parameters.get('redirect_uri')
  const verifier = parameters.get('code_verifier')
  if (redirectUri === undefined && found.redirectUri !== '') throw invalid('redirect_uri is missing')
  if (verifier === undefined && found.challenge !== null) throw invalid('code_verifier is missing')
  if (redirectUri !== undefined && !isSameRedirect(redirectUri, found.redirectUri, client)) {
    await accounts.tokens.consumeCode(code)
    throw invalid('redirect_uri is another one than was authorized')
  }
  if (verifier !== undefined && !isVerifier(verifier, found.challenge)) {
    await accounts.tokens.consumeCode(code)
    throw invalid('code_verifier does not fit')
  }
}

function invalid(reason: string): OAuth2Server.InvalidGrantError {
  return new OAuth2Server.InvalidGrantError(`Invalid grant: ${reason}`)
}

/** @param authorized empty if the authorization request named none: then it is the registered one */
function isSameRedirect(given: string, authorized: string, { redirectUris }: Client): boolean {
  return authorized === '' ? redirectUris.includes(given) : given === authorized
}

function isVerifier(verifier: string, challenge: CodeGrant['challenge']): boolean {
  if (challenge === null || !/^[\w.~-]{43,128}$/.test(verifier)) return false
  const computed = createHash('sha256').update(verifier).digest('base64url')
  const [found, expected] = [Buffer.from(computed), Buffer.from(challenge)]
  return found.length === expected.length && timingSafeEqual(found, expected)
}
