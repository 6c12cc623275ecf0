import OAuth2Server from '@node-oauth/oauth2-server'
import type { Accounts, Client, CodeGrant } from '../../accounts/accounts.ts'
import { isRegisteredUri } from '../../accounts/redirect-uri.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { checkScope, MAX_STATE, type Parameters, readParameters, required } from './parameters.ts'

/** A request for an authorization (RFC 6749, section 4.1.1; RFC 7636, section 4.3), and where its answer may be sent. */
export type AuthorizationRequest =
  /** No redirect is allowed: the client is unknown, or the redirect URI is not one of its own. */
  | { readonly type: 'untrusted'; readonly reason: string }
  /** The error is reported to the client (section 4.1.2.1). */
  | {
      readonly type: 'invalid'
      readonly redirectUri: string
      readonly state: string | null
      readonly error: OAuth2Server.OAuthError
    }
  | {
      readonly type: 'valid'
      readonly client: Client
      readonly redirectUri: string
      readonly state: string | null
      readonly challenge: CodeGrant['challenge']
      /** The parameters with a meaning, so that a form can send them again. */
      readonly parameters: Parameters
    }

const MEANT = [
  'client_id',
  'redirect_uri',
  'response_type',
  'state',
  'scope',
  'scopes',
  'code_challenge',
  'code_challenge_method',
] as const

/** Reads a request for an authorization; unknown parameters are ignored. */
export async function readAuthorizationRequest(
  sent: QueryParameters,
  accounts: Accounts,
): Promise<AuthorizationRequest> {
  const { parameters, repeated } = readParameters(sent)
  for (const name of ['client_id', 'redirect_uri'])
    if (repeated.has(name)) return untrusted(`The parameter ${name} is given more than once.`)
  const clientId = parameters.get('client_id')
  if (clientId === undefined) return untrusted('The parameter client_id is missing.')
  const client = await accounts.clients.find(clientId)
  if (client === null) return untrusted('No application with this client_id is registered here.')
  const given = parameters.get('redirect_uri')
  const redirectUri = given ?? (client.redirectUris.length === 1 ? client.redirectUris[0] : undefined)
  if (redirectUri === undefined) return untrusted('The parameter redirect_uri is missing.')
  if (!isRegisteredUri(redirectUri, client.redirectUris))
    return untrusted('The redirect_uri is not one that the application registered.')
  const state = repeated.has('state') ? null : (parameters.get('state') ?? null)
  try {
    const twice = MEANT.find(name => repeated.has(name))
    if (twice !== undefined)
      throw new OAuth2Server.InvalidRequestError(`The parameter ${twice} is given more than once`)
    if (!isEchoed(state))
      throw new OAuth2Server.InvalidRequestError(`The state is longer than ${MAX_STATE} characters`)
    if (required(parameters, 'response_type') !== 'code')
      throw new OAuth2Server.UnsupportedResponseTypeError('Unsupported response type: code is the only one')
    checkScope(parameters)
    const challenge = readChallenge(parameters, client)
    const meant = MEANT.flatMap(name => {
      const value = parameters.get(name)
      return value === undefined ? [] : [[name, value] as const]
    })
    return { type: 'valid', client, redirectUri, state, challenge, parameters: new Map(meant) }
  } catch (error) {
    if (!(error instanceof OAuth2Server.OAuthError)) throw error
    return { type: 'invalid', redirectUri, state: isEchoed(state) ? state : null, error }
  }
}

function isEchoed(state: string | null): boolean {
  return state === null || encodeURIComponent(state.toWellFormed()).length <= MAX_STATE
}

function untrusted(reason: string): AuthorizationRequest {
  return { type: 'untrusted', reason }
}

/** Throws InvalidRequestError for an invalid challenge, and for a missing one of a public client. */
function readChallenge(parameters: Parameters, { type }: Client): CodeGrant['challenge'] {
  const value = parameters.get('code_challenge')
  const method = parameters.get('code_challenge_method')
  if (value === undefined) {
    if (method !== undefined) throw new OAuth2Server.InvalidRequestError('Missing parameter: code_challenge')
    if (type === 'public')
      throw new OAuth2Server.InvalidRequestError(
        'Missing parameter: code_challenge (a public client needs PKCE)',
      )
    return null
  }
  // Without a method it would be plain, which does not protect against interception (RFC 9700, section 2.1.1).
  if (method !== 'S256')
    throw new OAuth2Server.InvalidRequestError('Invalid parameter: code_challenge_method has to be S256')
  if (!/^[\w-]{43}$/.test(value))
    throw new OAuth2Server.InvalidRequestError(
      'Invalid parameter: code_challenge has 43 characters of base64url',
    )
  return value
}
