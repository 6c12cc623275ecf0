import type { IncomingHttpHeaders } from 'node:http'
import { BAD_REQUEST, declareFault, Fault } from '../errors/errors.ts'
import { lookup } from '../model/lookup.ts'
import type { QueryParameters } from './query-string.ts'

/** A credential that is unknown, expired or revoked (Access 1.2). */
export const CREDENTIAL_INVALID = declareFault('CredentialInvalid', 401, '{reason}')

/** What a caller authenticates with (Access 1.1). */
export interface Credential {
  readonly type: 'key' | 'token'
  readonly secret: string
}

/** Parameters that carry credentials. */
export const CREDENTIAL_PARAMETERS = { apikey: 'key', access_token: 'token' } as const

/** True if the parameters of a request carry credentials. */
export function namesCredentials(query: QueryParameters): boolean {
  return query.apikey !== undefined || query.access_token !== undefined
}

/**
 * The credential of a request: the Authorization header (`Apikey`, `Bearer`, or `Basic` with a key as the password), a
 * query parameter, or a form field (RFC 6750, section 2). Null if there is none; a parameter without a value is ignored.
 * Faults: BadRequest for more than one, CredentialInvalid for one that cannot be parsed.
 */
export function credentialOf(
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
  const [, scheme = '', rest = ''] = /^\s*([^\s]*)\s*(.*?)\s*$/s.exec(header) ?? []
  switch (scheme.toLowerCase()) {
    case 'apikey':
      return { type: 'key', secret: given(rest, 'API key') }
    case 'bearer':
      return { type: 'token', secret: given(rest, 'access token') }
    case 'basic':
      return { type: 'key', secret: given(passwordOf(rest), 'API key as the password') }
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
  return (Object.entries(CREDENTIAL_PARAMETERS) as [string, Credential['type']][]).flatMap(([name, type]) => {
    const value = lookup(parameters, name)
    if (value === undefined) return []
    const values = Array.isArray(value) ? value : [value]
    return values.filter(secret => secret !== '').map(secret => ({ type, secret }))
  })
}
