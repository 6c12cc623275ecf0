/**
 * Parameters of addresses and forms whose values let somebody in (Access 1.4; RFC 6749, RFC 7636), and what
 * they are mistaken for: they stand in no log, list or message.
 */
const SECRETS: ReadonlySet<string> = new Set([
  'apikey',
  'api_key',
  'api-key',
  'key',
  'authorization',
  'access_token',
  'refresh_token',
  'id_token',
  'token',
  'assertion',
  'client_assertion',
  'client_secret',
  'code',
  'code_verifier',
  'password',
  'session',
])

/** True for the name of a parameter whose value lets somebody in, however it is written. */
export function isSecret(name: string): boolean {
  return SECRETS.has(name.trim().toLowerCase())
}

/** A query string whose credentials are taken out, for all that is remembered, logged or reported. */
export function withoutSecrets(query: string): string {
  return query.split('&').map(withoutSecret).join('&')
}

/** An address whose query string is without credentials. */
export function addressWithoutSecrets(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : `${url.slice(0, at)}?${withoutSecrets(url.slice(at + 1))}`
}

function withoutSecret(pair: string): string {
  const [name = ''] = pair.split('=')
  return isSecret(decoded(name)) ? `${name}=redacted` : pair
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
