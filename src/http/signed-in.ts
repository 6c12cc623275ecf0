import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Accounts } from '../accounts/accounts.ts'
import { Fault } from '../errors.ts'
import type { Authenticated } from '../model/principal.ts'
import { type AccountFrame, type AccountPage, keepPrivate, sendAccountPage } from './account-page.ts'
import './authenticate.ts'
import type { Form } from './form.ts'
import { formToken, isFormToken, isOwnOrigin } from './form-token.ts'
import { readSessionToken } from './session-cookie.ts'

/** What the pages of accounts and the endpoints of OAuth are built on. */
export interface AccountsOptions {
  readonly accounts: Accounts
  /** The base address, without a slash at its end. */
  readonly base: string
  /** What the portal is called. */
  readonly title: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The address of the client. */
  readonly address: (request: FastifyRequest) => string
}

/** Who is signed in, by which session. */
export interface SignedIn {
  readonly user: Authenticated
  readonly session: string
}

/** True where the portal is reached by TLS. */
export function isSecure({ base }: Pick<AccountsOptions, 'base'>): boolean {
  return base.startsWith('https:')
}

/** The path of the base address, without a slash at its end. */
export function rootOf({ base }: Pick<AccountsOptions, 'base'>): string {
  return new URL(base).pathname.replace(/\/+$/, '')
}

/** Who asks by a session; null for everybody else, also for those with a key or token, who are programs. */
export function signedIn(request: FastifyRequest, options: AccountsOptions): SignedIn | null {
  const user = request.principal
  const session = readSessionToken(request.headers, isSecure(options))
  return user.type === 'user' && user.by === 'session' && session !== null ? { user, session } : null
}

/** The token of forms of who is signed in. */
export function tokenFor(visit: SignedIn, { accounts }: AccountsOptions): string {
  return formToken(accounts.secret, `session ${visit.session}`)
}

/** Refuses a form that did not come from our own page for this session. Faults: CrossSiteRequest. */
export function refuseForeign(
  request: FastifyRequest,
  form: Form,
  bound: string,
  { accounts, base }: AccountsOptions,
): void {
  const given = form.get('form_token')
  if (isOwnOrigin(request.headers, base) && isFormToken(accounts.secret, bound, given)) return
  throw new Fault('CrossSiteRequest', {
    reason: 'This form is out of date, or it was not sent from a page of this portal. Nothing was done.',
  })
}

/** Refuses a form that did not come from a page of this session. Faults: CrossSiteRequest. */
export function refuseForeignTo(
  visit: SignedIn,
  request: FastifyRequest,
  form: Form,
  options: AccountsOptions,
): void {
  refuseForeign(request, form, `session ${visit.session}`, options)
}

/** Sends a page in the frame of the portal. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  page: AccountPage,
  visit: SignedIn | null = signedIn(request, options),
): FastifyReply {
  const path = request.url.split('?')[0] ?? ''
  const frame: AccountFrame = {
    title: options.title,
    root: rootOf(options),
    signedIn: visit === null ? null : { name: visit.user.name, formToken: tokenFor(visit, options) },
    current: path.endsWith('/') ? path : `${path}/`,
  }
  return sendAccountPage(reply, frame, page)
}

/** Sends a person to a page of ours, which is asked with GET (RFC 9110, section 15.4.4). */
export function sendOn(reply: FastifyReply, path: string): FastifyReply {
  return keepPrivate(reply).code(303).header('location', path).send()
}

/** Sends who is not signed in to the log-in page, and from there to where he wanted to go. */
export function sendToLogin(reply: FastifyReply, options: AccountsOptions, next: string): FastifyReply {
  const root = rootOf(options)
  return sendOn(reply, `${root}/account/login/?${new URLSearchParams({ next: root + next })}`)
}
