import OAuth2Server from '@node-oauth/oauth2-server'
import type { Form } from '../../http/form.ts'
import type { QueryParameters } from '../../http/query-string.ts'

/** Parameters by name; what came without a value counts as not sent (RFC 6749, section 3.1). */
export type Parameters = Form

/** The one scope that there is (Access 6.1). */
export const SCOPE = 'all'

/** Characters of a state, percent-encoded, that is echoed: it travels through forms and addresses on its way. */
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

/** Throws InvalidScopeError for another scope than `all`, under either of the names that clients send it by. */
export function checkScope(parameters: Parameters): void {
  for (const name of ['scope', 'scopes']) {
    const requested = parameters.get(name)?.trim().split(/ +/)
    if (requested?.some(scope => scope !== SCOPE))
      throw new OAuth2Server.InvalidScopeError(`Invalid scope: ${SCOPE} is the only one`)
  }
}

/** A parameter that has to be there. Throws InvalidRequestError. */
export function required(parameters: Parameters, name: string): string {
  const value = parameters.get(name)
  if (value === undefined) throw new OAuth2Server.InvalidRequestError(`Missing parameter: ${name}`)
  return value
}
