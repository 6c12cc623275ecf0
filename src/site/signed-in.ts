import '../http/authenticate.ts'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Accounts } from '../accounts/accounts.ts'
import type { SamlProvider, SignInProvider } from '../config/derived.ts'
import { declareFault, Fault, INTERNAL_ERROR } from '../errors/errors.ts'
import { FORM_TYPE, type Form, formToken, isFormToken, isOwnOrigin, readForm } from '../http/form.ts'
import { cookieScope, readCookie } from '../http/session-cookie.ts'
import { lookup } from '../model/lookup.ts'
import type { Authenticated } from '../model/principal.ts'
import { hiddenField, note } from './account-fields.ts'
import { type AccountPage, keepPrivate, sendAccountPage } from './account-page.ts'
import { faultSentence } from './fault-page.ts'
import { sendSitePage } from './frame.ts'
import { html } from './html.ts'
import { messageKey, pageContextOf, type SiteOptions } from './page-context.ts'

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

/**
 * Answers a form of a session that has ended: nothing is saved, and its fields wait in the page until the user has signed in on
 * another tab. They come back without a token, which is of another session, so that the form is shown and not saved. A form
 * with a file loses the file.
 */
export function sendSessionEnded(
  request: FastifyRequest,
  reply: FastifyReply,
  options: SiteOptions,
): FastifyReply {
  const pageContext = pageContextOf(request, options)
  const { t } = pageContext
  const path = rootOf(options) + request.url
  const login = loginAddress(request, options, request.url)
  const isForm = request.headers['content-type']?.startsWith(FORM_TYPE) === true
  const fields = isForm && isOwnOrigin(request.headers, options.base) ? [...readForm(request.body)] : []
  const saved = fields.filter(([name]) => name !== 'form_token')
  const title = t('Your session has ended. Nothing was saved.')
  const body = html`<h1>${t('Sign in')}</h1>
${note('bad', html`<p>${title}</p>`)}${
  saved.length === 0
    ? html`<p><a href="${login}">${t('Sign in')}</a></p>`
    : html`<p>${t('Sign in on a new tab, then come back to this one: the form opens with your input.')}</p>
<p><a href="${login}" target="_blank">${t('Sign in')}</a></p>
<form method="post" action="${path}">${saved.map(([name, value]) => hiddenField(name, value))}<div class="buttons"><button>${t('Open the form with my input')}</button></div></form>`
}`
  // A scheme that no browser requests by itself (RFC 9110, section 11.6.1).
  reply.header('www-authenticate', 'Form')
  return sendSitePage(keepPrivate(reply), pageContext, {
    title,
    body,
    status: 401,
    part: 'account',
    isIndexed: false,
    isPrivate: true,
  })
}

/** Answers any error with a page; errors that are no faults are logged and shown as unexpected, without details. */
export function answerWithPage(options: AccountsOptions) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const fault = reportOf(error)
    const { status } = fault
    if (status === 500) request.log.error({ err: error, url: request.routeOptions.url }, 'unexpected')
    const isLater = status === 503 || status === 429
    if (isLater && !reply.hasHeader('retry-after')) reply.header('retry-after', '2')
    const { t, href } = pageContextOf(request, options)
    sendPage(reply, options, {
      type: 'page',
      status,
      heading: t(lookup(HEADINGS, String(status)) ?? messageKey('This cannot be done')),
      content: html`${note('bad', faultSentence(fault, t))}
<p><a href="${href('/account/')}">${t('Go to your account')}</a></p>
`,
    })
  }
}

/** Headings by the status of the answer. */
const HEADINGS: Readonly<Record<string, string>> = {
  403: messageKey('The form was not accepted'),
  404: messageKey('Not found'),
  413: messageKey('The form is too long'),
  415: messageKey('This is not a form'),
  429: messageKey('Too many attempts'),
  500: messageKey('Something went wrong'),
  503: messageKey('Not possible now'),
}

function reportOf(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof Fault && error.status !== 500) return error
  const { statusCode: status = 500, message = '' } = (error ?? {}) as Partial<FastifyError>
  if (status >= 400 && status < 500) return { status, message: message.slice(0, 200) }
  return { status: 500, message: new Fault(INTERNAL_ERROR).message }
}
