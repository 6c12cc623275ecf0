import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Accounts } from '../accounts/accounts.ts'
import { type MaybePromise, thenMaybe } from '../accounts/database.ts'
import { BAD_REQUEST, declareFault, Fault, isFault } from '../errors/errors.ts'
import { ANONYMOUS, type Principal } from '../model/principal.ts'
import { many } from './parameters.ts'
import type { QueryParameters } from './query-string.ts'
import { type CookieScope, readCookie } from './session-cookie.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The principal: set before any route runs. */
    principal: Principal
  }
}

/**
 * Authenticates a request; mostly synchronously. Faults: CredentialInvalid, BadRequest, AccountsUnavailable.
 *
 * @param form the fields of a form in the body
 */
export type Authenticate = (
  request: Pick<FastifyRequest, 'headers' | 'query'>,
  form?: QueryParameters | null,
) => MaybePromise<Principal>

/**
 * Authenticates users by API keys, access tokens and session cookies (Access 1.1). An explicit credential must be valid; an
 * invalid cookie is ignored.
 *
 * @param scope of the session cookie
 * @param takesAddressTokens true if access tokens may occur in addresses (RFC 9700, section 4.3.2, advises against it)
 */
export function authenticator(
  { keys, tokens, sessions }: Pick<Accounts, 'keys' | 'tokens' | 'sessions'>,
  scope: CookieScope,
  takesAddressTokens = false,
): Authenticate {
  return ({ headers, query }, form) => {
    if (!takesAddressTokens && ((query as QueryParameters).access_token ?? '') !== '')
      throw new Fault(BAD_REQUEST, {
        reason:
          'An access token was found in the address, where logs keep it: it is expected in the Authorization header (Bearer) or in a form.',
      })
    const credential = credentialOf(headers, query as QueryParameters, form)
    if (credential === null) return ofSession(readCookie(headers, 'session', scope))
    const { type, secret } = credential
    const found = secret.length > MAX_LENGTH ? null : (type === 'key' ? keys : tokens).principal(secret)
    return thenMaybe(found, principal => {
      if (principal !== null) return principal
      throw new Fault(CREDENTIAL_INVALID, { reason: INVALID[type] })
    })
  }

  function ofSession(token: string | null): MaybePromise<Principal> {
    if (token === null || token.length > MAX_LENGTH) return ANONYMOUS
    return thenMaybe(sessions.principal(token), found => found ?? ANONYMOUS)
  }
}

/** Maximum length of a valid credential. */
const MAX_LENGTH = 500

/** Facts on "Errors"; RFC 6750, section 3.1. */
const INVALID = {
  key: 'API key is not valid',
  token: 'The access token is not valid: it is unknown, expired or revoked.',
} as const

/**
 * Adds WWW-Authenticate to a 401 (RFC 9110, section 11.6.1; RFC 6750, section 3). Tools that send keys as passwords wait
 * for the challenge of Basic; a browser, which would open a dialog for it, gets none.
 */
export function challenge(request: FastifyRequest, reply: FastifyReply, fault: Fault): void {
  const described = isFault(fault, CREDENTIAL_INVALID) ? `, error="invalid_token"` : ''
  const bearer = `Bearer realm="Lodestone"${described}`
  const isBrowser = request.headers.accept?.includes('text/html') === true
  reply.header('www-authenticate', isBrowser ? bearer : [bearer, 'Basic realm="Lodestone", charset="UTF-8"'])
}

/** A credential that is unknown, expired or revoked (Access 1.2). */
export const CREDENTIAL_INVALID = declareFault('CredentialInvalid', 401, '{reason}')

/** What a caller authenticates with (Access 1.1). */
interface Credential {
  readonly type: 'key' | 'token'
  readonly secret: string
}

/** Parameters that carry credentials. */
export const CREDENTIAL_PARAMETERS = { apikey: 'key', access_token: 'token' } as const

/** True if the parameters of a request carry credentials. */
export function namesCredentials(query: QueryParameters): boolean {
  return query.apikey !== undefined || query.access_token !== undefined
}

/** True if a request names a credential, right or wrong; a parameter without a value is ignored. */
export function showsKey({ headers, query }: Pick<FastifyRequest, 'headers' | 'query'>): boolean {
  // A request whose path cannot be decoded has no query.
  const { apikey, access_token: token } = (query as QueryParameters | null) ?? {}
  return headers.authorization !== undefined || [apikey, token].flat().some(value => (value ?? '') !== '')
}

/**
 * The credential of a request: the Authorization header (`Apikey`, `Bearer`, or `Basic` with a key as the password), a
 * query parameter, or a form field (RFC 6750, section 2). Null if there is none; a parameter without a value is ignored.
 * Faults: BadRequest for more than one, CredentialInvalid for one that cannot be parsed.
 */
function credentialOf(
  { authorization }: Pick<IncomingHttpHeaders, 'authorization'>,
  query: QueryParameters,
  form: QueryParameters | null = null,
): Credential | null {
  const shown: Credential[] = authorization === undefined ? [] : [headerCredential(authorization)]
  if (namesCredentials(query)) shown.push(...parameterCredentials(query))
  if (form !== null) shown.push(...parameterCredentials(form))
  const [first = null, ...others] = shown
  if (others.length > 0)
    throw new Fault(BAD_REQUEST, {
      reason: `The request has ${shown.length} credentials: send one, in the Authorization header, the address or a form.`,
    })
  return first
}

function headerCredential(header: string): Credential {
  const [, scheme = '', rest = ''] = /^(\S*)(.*)$/s.exec(header.trim()) ?? []
  const secret = rest.trim()
  switch (scheme.toLowerCase()) {
    case 'apikey':
      return { type: 'key', secret: given(secret, 'API key') }
    case 'bearer':
      return { type: 'token', secret: given(secret, 'access token') }
    case 'basic':
      return { type: 'key', secret: given(passwordOf(secret), 'API key as the password') }
    default:
      throw new Fault(CREDENTIAL_INVALID, {
        reason:
          'The scheme of the Authorization header is not known here: use Apikey, Bearer, or Basic with an API key as the password.',
      })
  }
}

/** The part after the first colon (RFC 7617, section 2). */
function passwordOf(text: string): string {
  const pair = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64').toString('utf8') : ''
  const colon = pair.indexOf(':')
  return colon < 0 ? '' : pair.slice(colon + 1)
}

function given(secret: string, what: string): string {
  if (secret !== '') return secret
  throw new Fault(CREDENTIAL_INVALID, { reason: `The Authorization header has no ${what}.` })
}

function parameterCredentials(parameters: QueryParameters): readonly Credential[] {
  return (Object.entries(CREDENTIAL_PARAMETERS) as [string, Credential['type']][]).flatMap(([name, type]) =>
    many(parameters, name).flatMap(secret => (secret === '' ? [] : [{ type, secret }])),
  )
}
