import { AUTHORIZE_PATH } from './authorize.ts'
import { GRANT_TYPES } from './model.ts'
import { SCOPE } from './parameters.ts'

export const TOKEN_PATH = '/oauth2/token'
export const REVOKE_PATH = '/oauth2/revoke'
export const INTROSPECT_PATH = '/oauth2/introspect'
export const METADATA_PATH = '/.well-known/oauth-authorization-server'
/** Where libraries for OpenID Connect look for the same. */
export const OPENID_PATH = '/.well-known/openid-configuration'

const CLIENT_AUTHENTICATION = ['client_secret_basic', 'client_secret_post', 'none'] as const

/** What clients find out by themselves (RFC 8414, section 2). */
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
