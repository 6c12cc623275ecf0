import OAuth2Server from '@node-oauth/oauth2-server'
import type { Form } from '../../http/form.ts'
import type { QueryParameters } from '../../http/query-string.ts'

/** Parameters by name; those without a value count as not sent (RFC 6749, section 3.1). */
export type Parameters = Form

/** The only scope (Access 6.1). */
export const SCOPE = 'all'

/** Maximum characters of an echoed state, percent-encoded: it passes through forms and addresses. */
export const MAX_STATE = 4096

/** Parameters, with the names of those that were sent more than once. */
export function readParameters(sent: QueryParameters): {
  readonly parameters: Parameters
  readonly repeated: ReadonlySet<string>
} {
  const parameters = new Map<string, string>()
  const repeated = new Set<string>()
  for (const [name, value] of Object.entries(sent)) {
    const values = [value].flat()
    if (values.length > 1) repeated.add(name)
    const [first = ''] = values
    if (first !== '') parameters.set(name, first)
  }
  return { parameters, repeated }
}

/** Throws InvalidScopeError for another scope than `all`, in either parameter that clients send it in. */
export function checkScope(parameters: Parameters): void {
  for (const name of ['scope', 'scopes']) {
    const requested = parameters.get(name)?.trim().split(/ +/)
    if (requested?.some(scope => scope !== SCOPE))
      throw new OAuth2Server.InvalidScopeError(`Invalid scope: ${SCOPE} is the only one`)
  }
}

/** A required parameter. Throws InvalidRequestError. */
export function required(parameters: Parameters, name: string): string {
  const value = parameters.get(name)
  if (value === undefined) throw new OAuth2Server.InvalidRequestError(`Missing parameter: ${name}`)
  return value
}
