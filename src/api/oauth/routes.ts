import { createHash, timingSafeEqual } from 'node:crypto'
import OAuth2Server from '@node-oauth/oauth2-server'
import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Accounts, Client, CodeGrant } from '../../accounts/accounts.ts'
import { Fault, INTERNAL_ERROR, METHOD_NOT_ALLOWED } from '../../errors/errors.ts'
import { Attempts, SECRET_LIMITS } from '../../http/attempts.ts'
import { acceptForms, FORM_TYPE, readFields } from '../../http/form.ts'
import { JSON_TYPE, prettyJson } from '../../http/json.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { configureRoutes } from '../../http/route-config.ts'
import { type AccountsOptions, answerWithPage } from '../../site/signed-in.ts'
import { AUTHORIZE_PATH, decide, requestConsent } from './authorize.ts'
import {
  type AuthenticatedClient,
  authenticateClient,
  checkScope,
  GRANT_TYPES,
  type Issuing,
  oauthServer,
  type Parameters,
  readParameters,
  required,
  SCOPE,
} from './model.ts'

/**
 * OAuth 2.0 (Access 6; RFC 6749 with the corrections of RFC 9700): the authorization endpoint, for users,
 * and the token, revocation and introspection endpoints, for programs.
 */
export const oauth: FastifyPluginAsync<AccountsOptions> = async (app, options) => {
  const config = { endpoint: 'oauth', access: 'signIn', methods: 'forms' } as const
  configureRoutes(app, config, ['/oauth2', METADATA_PATH, OPENID_PATH])
  await app.register(authorization, options)
  await app.register(tokens, options)
  const metadata = prettyJson(serverMetadata(options.base))
  const { pathname } = new URL(options.base)
  for (const path of new Set([METADATA_PATH, METADATA_PATH + pathname.replace(/\/+$/, ''), OPENID_PATH]))
    app.get(path, async (_, reply) =>
      reply.type(JSON_TYPE).header('cache-control', 'no-cache').send(metadata),
    )
}

const authorization: FastifyPluginAsync<AccountsOptions> = async (app, options) => {
  acceptForms(app)
  app.setErrorHandler(answerWithPage(options))
  app.get(AUTHORIZE_PATH, (_, reply) => requestConsent(reply, options))
  app.post(AUTHORIZE_PATH, (_, reply) => decide(reply, options))
}

const tokens: FastifyPluginAsync<AccountsOptions> = async (app, options) => {
  const attempts = new Attempts(SECRET_LIMITS, options.accounts.failures, options.now)
  acceptForms(app)
  app.setErrorHandler(answerOAuthError)
  app.addHook('onRequest', (_, reply, done) => {
    reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
    done()
  })
  for (const [path, answer] of [
    [TOKEN_PATH, issueTokens],
    [REVOKE_PATH, revokeToken],
    [INTROSPECT_PATH, introspect],
  ] as const) {
    app.post(path, async (request, reply) => {
      const parameters = readOnce(readFields(request.body))
      const client = await authenticateClient(reply, parameters, options, attempts)
      return reply.send(await answer(parameters, client, options))
    })
    app.get(path, refuseGet)
  }
}

async function refuseGet({ method }: FastifyRequest, reply: FastifyReply): Promise<never> {
  reply.header('allow', 'POST, OPTIONS')
  throw new Fault(METHOD_NOT_ALLOWED, { method, allowed: 'POST' })
}

export const TOKEN_PATH = '/oauth2/token'
export const REVOKE_PATH = '/oauth2/revoke'
export const INTROSPECT_PATH = '/oauth2/introspect'
export const METADATA_PATH = '/.well-known/oauth-authorization-server'
/** Where libraries for OpenID Connect look for the metadata. */
export const OPENID_PATH = '/.well-known/openid-configuration'

const CLIENT_AUTHENTICATION = ['client_secret_basic', 'client_secret_post', 'none'] as const

/** The metadata for discovery by clients (RFC 8414, section 2). */
export function serverMetadata(base: string): Readonly<Record<string, unknown>> {
  return {
    issuer: base,
    authorization_endpoint: `${base}${AUTHORIZE_PATH}/`,
    token_endpoint: `${base}${TOKEN_PATH}/`,
    revocation_endpoint: `${base}${REVOKE_PATH}/`,
    introspection_endpoint: `${base}${INTROSPECT_PATH}/`,
    scopes_supported: [SCOPE],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: GRANT_TYPES,
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    introspection_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION.filter(method => method !== 'none'),
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
}

/**
 * Describes to a client one of its tokens (RFC 7662). A public client, which anyone can impersonate, is refused, and
 * tokens of others are reported only as not active (section 2.2). Throws errors of OAuth.
 */
async function introspect(
  parameters: Parameters,
  { client, credentials }: AuthenticatedClient,
  { accounts, base }: AccountsOptions,
): Promise<object> {
  if (credentials.secret === null)
    throw new OAuth2Server.InvalidClientError('Invalid client: its secret is missing')
  const found = await accounts.tokens.inspect(required(parameters, 'token'), client.id)
  if (found === null) return { active: false }
  const { type, scope, name, user, expires } = found
  return {
    active: true,
    scope,
    client_id: client.id,
    username: name,
    sub: String(user),
    iss: base,
    ...(type === 'access' ? { token_type: 'Bearer' } : {}),
    ...(expires === null ? {} : { exp: Math.floor(expires / 1000) }),
  }
}

/** Answers errors of the token and the revocation endpoint (RFC 6749, section 5.2). */
function answerOAuthError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, error: code, description } = reportOf(error)
  if (status === 500) request.log.error({ err: error, url: request.routeOptions.url }, 'unexpected')
  if (status === 401) reply.header('www-authenticate', 'Basic realm="oauth2", charset="UTF-8"')
  if (status === 503) reply.header('retry-after', '2')
  reply
    .code(status)
    .type(JSON_TYPE)
    .send(prettyJson({ error: code, error_description: description }))
}

function reportOf(error: unknown) {
  if (error instanceof OAuth2Server.OAuthError && error.name !== 'server_error') {
    const status = error.name === 'invalid_client' && error.code !== 429 ? 401 : error.code
    return { status, error: error.name, description: plain(error.message) }
  }
  const cause =
    error instanceof OAuth2Server.OAuthError ? ((error as { readonly inner?: unknown }).inner ?? null) : error
  if (cause instanceof Fault && cause.status !== 500)
    return {
      status: cause.status,
      error: cause.status >= 500 ? 'temporarily_unavailable' : 'invalid_request',
      description: plain(cause.message),
    }
  const { statusCode = 500, message = '' } = (cause ?? {}) as Partial<FastifyError>
  if (statusCode >= 400 && statusCode < 500)
    return { status: 400, error: 'invalid_request', description: plain(message) }
  return { status: 500, error: 'server_error', description: new Fault(INTERNAL_ERROR).message }
}

/** Only the characters that an error_description can have. */
function plain(text: string): string {
  return text
    .replaceAll('`', '')
    .replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
    .slice(0, 300)
}

/**
 * Issues tokens for a code or a refresh token (RFC 6749, sections 4.1.3 and 6; Access 6.2). Throws errors of
 * OAuth.
 */
async function issueTokens(
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
async function revokeToken(
  parameters: Parameters,
  { client }: AuthenticatedClient,
  { accounts }: AccountsOptions,
): Promise<object> {
  await accounts.tokens.revoke(required(parameters, 'token'), client.id)
  return {}
}

/** Parameters, none of them repeated (RFC 6749, section 3.2). Throws InvalidRequestError. */
function readOnce(fields: QueryParameters): Parameters {
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
