import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Fault, METHOD_NOT_ALLOWED } from '../../errors/errors.ts'
import { Attempts, SECRET_LIMITS } from '../../http/attempts.ts'
import { acceptForms, readFields } from '../../http/form.ts'
import { JSON_TYPE, prettyJson } from '../../http/json.ts'
import { configureRoutes } from '../../http/route-config.ts'
import { answerWithPage } from '../../site/account-faults.ts'
import type { AccountsOptions } from '../../site/signed-in.ts'
import { AUTHORIZE_PATH, decide, requestConsent } from './authorize.ts'
import { answerOAuthError } from './faults.ts'
import { answerIntrospection } from './introspection.ts'
import { GRANT_TYPES } from './model.ts'
import { SCOPE } from './parameters.ts'
import { answerRevocation, answerToken } from './token.ts'

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
  app.get(AUTHORIZE_PATH, (request, reply) => requestConsent(request, reply, options))
  app.post(AUTHORIZE_PATH, (request, reply) => decide(request, reply, options, readFields(request.body)))
}

const tokens: FastifyPluginAsync<AccountsOptions> = async (app, options) => {
  const attempts = new Attempts(SECRET_LIMITS, options.accounts.failures, options.now)
  acceptForms(app)
  app.setErrorHandler(answerOAuthError)
  app.addHook('onRequest', (_, reply, done) => {
    reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
    done()
  })
  app.post(TOKEN_PATH, (request, reply) =>
    answerToken(request, reply, options, attempts, readFields(request.body)),
  )
  app.post(REVOKE_PATH, (request, reply) =>
    answerRevocation(request, reply, options, attempts, readFields(request.body)),
  )
  app.post(INTROSPECT_PATH, (request, reply) =>
    answerIntrospection(request, reply, options, attempts, readFields(request.body)),
  )
  for (const path of [TOKEN_PATH, REVOKE_PATH, INTROSPECT_PATH]) app.get(path, refuseGet)
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
