import '../http/authenticate.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Accounts } from '../accounts/accounts.ts'
import type { SamlProvider, SignInProvider } from '../config/derived.ts'
import { declareFault, Fault } from '../errors/errors.ts'
import { type Form, formToken, isFormToken, isOwnOrigin } from '../http/form.ts'
import { cookieScope, readCookie } from '../http/session-cookie.ts'
import type { Authenticated } from '../model/principal.ts'
import { type AccountPage, keepPrivate, sendAccountPage } from './account-page.ts'
import { pageContextOf, type SiteOptions } from './page-context.ts'

/** A form that did not come from our own page. */
export const CROSS_SITE_REQUEST = declareFault('CrossSiteRequest', 403, '{reason}')

/** Options of the pages of accounts and the endpoints of OAuth. */
export interface AccountsOptions extends SiteOptions {
  readonly accounts: Accounts
  /** Provider for signing in by OpenID Connect. */
  readonly provider?: SignInProvider
  /** Provider for signing in by SAML 2.0. */
  readonly saml?: SamlProvider
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly address: (request: FastifyRequest) => string
}

/** The signed-in user and the session. */
export interface SignedIn {
  readonly user: Authenticated
  readonly session: string
}

/** The path of the base address, without a slash at its end. */
export function rootOf({ base }: Pick<AccountsOptions, 'base'>): string {
  return new URL(base).pathname.replace(/\/+$/, '')
}

/** The user of a session; null otherwise, also for programs with a key or token. */
export function signedIn(request: FastifyRequest, { base }: Pick<AccountsOptions, 'base'>): SignedIn | null {
  const user = request.principal
  const session = readCookie(request.headers, 'session', cookieScope(base))
  return user.type === 'user' && user.by === 'session' && session !== null ? { user, session } : null
}

/** The token of forms of a signed-in user. */
export function tokenFor(session: SignedIn, { accounts }: Pick<AccountsOptions, 'accounts'>): string {
  return formToken(accounts.secret, `session ${session.session}`)
}

/** Refuses a form that did not come from a page of this session. Faults: CrossSiteRequest. */
export function refuseCrossSite(
  session: SignedIn,
  request: FastifyRequest,
  form: Form,
  options: Pick<AccountsOptions, 'accounts' | 'base'>,
): void {
  if (isOutdatedForm(session, request, form, options)) throw foreignForm()
}

function foreignForm(): Fault {
  return new Fault(CROSS_SITE_REQUEST, {
    reason: 'This form is out of date, or it was not sent from a page of this portal. Nothing was done.',
  })
}

/**
 * True for a form of this portal, as far as can be seen, and of a session that was replaced since: its input is shown again, and
 * nothing else is done. Faults: CrossSiteRequest.
 */
export function isOutdatedForm(
  { session }: SignedIn,
  { headers }: FastifyRequest,
  form: Form,
  { accounts, base }: Pick<AccountsOptions, 'accounts' | 'base'>,
): boolean {
  if (!isOwnOrigin(headers, base)) throw foreignForm()
  return !isFormToken(accounts.secret, `session ${session}`, form.get('form_token'))
}

/** Sends a page in the frame of the portal. */
export function sendPage(
  reply: FastifyReply,
  options: AccountsOptions,
  page: AccountPage,
  session: SignedIn | null = signedIn(reply.request, options),
): FastifyReply {
  const shown = session === null ? null : { user: session.user, formToken: tokenFor(session, options) }
  return sendAccountPage(reply, pageContextOf(reply.request, options), shown, page)
}

/** Redirects to a page of ours, which is requested with GET (RFC 9110, section 15.4.4). */
export function sendOn(reply: FastifyReply, path: string): FastifyReply {
  return keepPrivate(reply).code(303).header('location', path).send()
}

/** Redirects to the sign-in page, which later redirects back to the requested page. */
export function sendToLogin(reply: FastifyReply, options: SiteOptions, next: string): FastifyReply {
  return sendOn(reply, loginAddress(reply.request, options, next))
}

/** The address of the sign-in page in the language of a request, with that of the page that follows. */
export function loginAddress(request: FastifyRequest, options: SiteOptions, next: string): string {
  const { namedLanguage: lang } = pageContextOf(request, options)
  const parameters = { next: rootOf(options) + next, ...(lang === undefined ? {} : { lang }) }
  return `${rootOf(options)}/account/login/?${new URLSearchParams(parameters)}`
}
