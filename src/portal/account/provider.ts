import type { FastifyReply, FastifyRequest } from 'fastify'
import type { User } from '../../accounts/accounts.ts'
import { grantsOf } from '../../accounts/authorisation.ts'
import { TOO_MANY_ATTEMPTS } from '../../accounts/faults.ts'
import type { SignInProvider } from '../../config/derived.ts'
import { Fault } from '../../errors/errors.ts'
import type { Attempt } from '../../http/attempts.ts'
import { localPath } from '../../http/form.ts'
import { lookup } from '../../model/lookup.ts'
import { type AccountsOptions, CROSS_SITE_REQUEST, rootOf, sendOn, signedIn } from '../../site/signed-in.ts'

export const OPENID_SIGN_IN_PATH = '/account/openid'
export const OPENID_LOG_OUT_PATH = `${OPENID_SIGN_IN_PATH}/logout`

/** Maximum characters of the reason that a provider gives. */
const MAX_REASON = 200

/** Notes a sign-in at a provider that failed, in the log and in the audit log. */
export async function noteFailure(
  request: FastifyRequest,
  { accounts, address }: AccountsOptions,
  provider: string,
  reason: string,
): Promise<void> {
  request.log.warn({ provider, reason }, 'sign-in failed')
  const actor = { name: 'anonymous', address: address(request) }
  await accounts.audit.note('sign-in failed', `by ${provider}: ${reason}`, actor)
}

/**
 * Sets the grants that the groups of a user give. Those that they gave before stay where the provider left the groups out, as
 * Entra ID does if there are too many.
 *
 * @param groups null if they were left out
 */
export async function setGrantsOfGroups(
  request: FastifyRequest,
  { accounts, address }: AccountsOptions,
  user: User,
  provider: { readonly issuer: string; readonly name: string; readonly groups: SignInProvider['groups'] },
  groups: readonly string[] | null,
): Promise<void> {
  if (groups !== null) {
    const granted = groups.flatMap(group => lookup(provider.groups, group) ?? []).flatMap(grantsOf)
    return accounts.identities.setGroupGrants(user, provider.issuer, new Set(granted))
  }
  const reason = 'the provider left out the groups of the user: their grants are those of before'
  request.log.warn({ provider: provider.name, user: user.id, reason }, 'groups are not known')
  await accounts.audit.note('groups not known', `${user.name}: ${provider.name} left them out`, {
    name: user.name,
    address: address(request),
  })
}

/** Refuses an answer of a provider after too many that failed. Faults: TooManyAttempts. */
export function refuseBlocked(
  attempt: Attempt,
  reply: FastifyReply,
  now: number,
): asserts attempt is Attempt & { readonly type: 'allowed' } {
  if (attempt.type !== 'blocked') return
  reply.header('retry-after', String(Math.max(1, Math.ceil((attempt.until - now) / 1000))))
  throw new Fault(TOO_MANY_ATTEMPTS, { reason: 'Too many sign-ins failed here. Please try again later.' })
}

/**
 * Answers a browser whose sign-in cannot be completed, unless another tab has completed one: that user goes on. Faults:
 * CrossSiteRequest.
 *
 * @param next as given by anybody
 */
export function sendIfSignedIn(
  reply: FastifyReply,
  options: AccountsOptions,
  next: string | undefined,
): FastifyReply {
  if (signedIn(reply.request, options) !== null)
    return sendOn(reply, localPath(next) ?? `${rootOf(options)}/account/`)
  throw new Fault(CROSS_SITE_REQUEST, {
    reason: 'This sign-in was not begun in this browser, or it took too long. Please begin again.',
  })
}

/**
 * Why a sign-in failed: the code and the description of the provider (RFC 6749, section 4.1.2.1), or the messages of an error and
 * of its causes. None of them has a code, a token or a secret.
 */
export function failureReason(error: unknown): string {
  const { error: code, error_description: described } = error as Readonly<Record<string, unknown>>
  const messages: string[] = []
  if (typeof code === 'string') messages.push(code, ...(typeof described === 'string' ? [described] : []))
  else
    for (let each = error; each instanceof Error && messages.length < 3; each = each.cause)
      messages.push(each.message)
  const distinct = [...new Set(messages.filter(message => message !== ''))]
  return (distinct.length === 0 ? String(error) : distinct.join(': ')).slice(0, MAX_REASON)
}
