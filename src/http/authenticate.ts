import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Accounts } from '../accounts/accounts.ts'
import { type MaybePromise, thenMaybe } from '../accounts/maybe-promise.ts'
import { BAD_REQUEST, Fault, isFault } from '../errors/errors.ts'
import { ANONYMOUS, type Principal } from '../model/principal.ts'
import { CREDENTIAL_INVALID, credentialOf } from './credentials.ts'
import type { QueryParameters } from './query-string.ts'
import { type CookieScope, readSessionToken } from './session-cookie.ts'

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
    if (!takesAddressTokens && hasToken(query as QueryParameters))
      throw new Fault(BAD_REQUEST, {
        reason:
          'An access token was found in the address, where logs keep it: it is expected in the Authorization header (Bearer) or in a form.',
      })
    const credential = credentialOf(headers, query as QueryParameters, form)
    if (credential === null) return ofSession(readSessionToken(headers, scope))
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

function hasToken({ access_token: token }: QueryParameters): boolean {
  return token !== undefined && token !== ''
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
