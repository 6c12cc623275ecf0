import type { FastifyReply } from 'fastify'
import { Fault } from '../../errors/errors.ts'
import type { Attempts } from '../../http/attempts.ts'
import { type Form, isFormToken, isOwnOrigin, localPath } from '../../http/form.ts'
import { clearedCookie, cookieScope, readCookie } from '../../http/session-cookie.ts'
import { type PageContext, pageContextOf } from '../../site/page-context.ts'
import { type AccountsOptions, CROSS_SITE_REQUEST, sendOn, signedIn } from '../../site/signed-in.ts'
import { beginSession, deviceOf } from './begin-session.ts'
import { ANY_DEVICE, passwordPassed, sendLogin, sendSecondStep, userOfPassed } from './login-page.ts'
import type { OpenIdSignIn } from './openid.ts'
import { checkSigned } from './passkeys/ceremony.ts'
import { checkThrottled } from './throttled-check.ts'

/** The sign-in form; a user who is signed in already is redirected. */
export async function showLogin(
  reply: FastifyReply,
  options: AccountsOptions,
  requested: Form,
): Promise<FastifyReply> {
  const next = localPath(requested.get('next'))
  const isIn = signedIn(reply.request, options) !== null
  return isIn
    ? sendOn(reply, next ?? pageContextOf(reply.request, options).href('/account/'))
    : sendLogin(reply, options, { next })
}

/** Limits of guessing: for passwords, for codes of the second factor, and for signatures of passkeys. */
interface LoginAttempts {
  readonly passwords: Attempts
  readonly codes: Attempts
  readonly passkeys: Attempts
}

/** A form that was sent from the sign-in page, with what its steps share. */
interface LoginStep {
  readonly reply: FastifyReply
  readonly options: AccountsOptions
  readonly pageContext: PageContext
  /** The address of the client. */
  readonly address: string
  readonly attempts: LoginAttempts
  readonly form: Form
  /** The cookie of the form. */
  readonly login: string
  readonly next: string | null
}

/**
 * Logs a user in. The session is always a new one, and a previous one of the browser is ended. An unknown name and a wrong
 * password get the same answer. If the user has a second factor, its form follows.
 */
export async function logIn(
  reply: FastifyReply,
  options: AccountsOptions,
  attempts: LoginAttempts,
  form: Form,
): Promise<FastifyReply> {
  const { accounts, base } = options
  const { request } = reply
  const pageContext = pageContextOf(request, options)
  const { t } = pageContext
  const next = localPath(form.get('next'))
  const name = (form.get('username') ?? '').trim()
  const login = readCookie(request.headers, 'login', cookieScope(base))
  const isOurs = login !== null && isFormToken(accounts.secret, `login ${login}`, form.get('form_token'))
  const again = (status: number, problem: string, retryAfter?: number) =>
    sendLogin(reply, options, { next, name, status, problem, retryAfter })
  const isHere = isOwnOrigin(request.headers, base)
  const isIn = signedIn(request, options)?.user.name.toLowerCase() === name.toLowerCase()
  // Another tab was first, and its sign-in ended the cookie of this form.
  if (!isOurs && isHere && isIn) return sendOn(reply, next ?? pageContext.href('/account/'))
  if (!isOurs || !isHere) {
    const problem = t(
      'This form was out of date, or your browser does not accept cookies from this portal. Please try again.',
    )
    return again(403, problem)
  }
  const address = options.address(request)
  const step = { reply, options, pageContext, address, attempts, form, login, next }
  if (form.has('passed')) return enterCode(step)
  if (form.has('credential')) return usePasskey(step)
  const password = form.get('password') ?? ''
  if (name === '' || password === '') return again(400, t('Enter your user name and your password.'))
  const check = () => accounts.users.verify(name, password)
  const device = deviceOf(request.headers, name, options)
  const checked = await checkThrottled(attempts.passwords, step, name, check, device)
  if (checked.type === 'blocked') return again(429, checked.message, checked.seconds)
  const user = checked.value
  if (user === null) {
    await noteFailed(step, name)
    return again(401, t('The user name or the password is wrong.'))
  }
  if ((await accounts.secondFactors.state(user.id)).type !== 'on')
    return beginSession(reply, options, user, 'by password', next)
  const passed = passwordPassed(options, user, login)
  return sendSecondStep(reply, options, user, { passed, next }, login)
}

/** Notes a sign-in that failed; the answer has a scheme that no browser requests by itself (RFC 9110, section 11.6.1). */
async function noteFailed({ reply, options, address }: LoginStep, what: string): Promise<void> {
  await options.accounts.audit.note('sign-in failed', what, { name: 'anonymous', address })
  reply.header('www-authenticate', 'Form')
}

/** Checks the code of the second factor, or a passkey instead, after the password. */
async function enterCode(step: LoginStep): Promise<FastifyReply> {
  const { reply, options, attempts, form, login, next } = step
  const { t } = step.pageContext
  const { secondFactors } = options.accounts
  const passed = form.get('passed') ?? ''
  const user = await userOfPassed(options, passed, login)
  if (user === null) {
    const problem = t('Sign-in was not finished in time. Enter your password again.')
    return sendLogin(reply, options, { next, problem, status: 403 })
  }
  const credential = form.get('credential')
  const signed = async () =>
    (await checkSigned(options, credential ?? '', login, user.id)) === null ? null : ('passkey' as const)
  const checked = await checkThrottled<'code' | 'recovery code' | 'passkey'>(
    credential === undefined ? attempts.codes : attempts.passkeys,
    step,
    user.name,
    credential === undefined ? () => secondFactors.verify(user.id, form.get('code') ?? '') : signed,
    deviceOf(reply.request.headers, user.name, options) ?? ANY_DEVICE,
  )
  const again = (status: number, problem: string, retryAfter?: number) =>
    sendSecondStep(reply, options, user, { passed, next, problem, status, retryAfter }, login)
  if (checked.type === 'blocked') return again(429, checked.message, checked.seconds)
  if (checked.value !== null)
    return beginSession(reply, options, user, `by password and ${checked.value}`, next)
  await noteFailed(step, `${user.name}: second factor`)
  const isCode = credential === undefined
  return again(401, isCode ? t('This code is wrong, or it was used before.') : refusedPasskey(step))
}

/** Signs in only with a passkey: the authenticator has verified the user, so there is no second step. */
async function usePasskey(step: LoginStep): Promise<FastifyReply> {
  const { reply, options, attempts, form, login, next } = step
  const check = () => checkSigned(options, form.get('credential') ?? '', login)
  // The owner of the passkey is known only after the check: failures are counted by address.
  const checked = await checkThrottled(attempts.passkeys, step, '', check)
  const again = (status: number, problem: string, retryAfter?: number) =>
    sendLogin(reply, options, { next, problem, status, retryAfter })
  if (checked.type === 'blocked') return again(429, checked.message, checked.seconds)
  const user = checked.value === null ? null : await options.accounts.users.byId(checked.value)
  if (user !== null) return beginSession(reply, options, user, 'by passkey', next)
  await noteFailed(step, 'passkey')
  return again(401, refusedPasskey(step))
}

function refusedPasskey({ pageContext: { t } }: LoginStep): string {
  return t('This passkey was not accepted. Please try again.')
}

/** Ends a session; the form is one of its own pages. Faults: CrossSiteRequest. */
export async function logOut(
  reply: FastifyReply,
  options: AccountsOptions,
  openId: OpenIdSignIn | null,
  form: Form,
): Promise<FastifyReply> {
  const { request } = reply
  const scope = cookieScope(options.base)
  let out = '1'
  const session = readCookie(request.headers, 'session', scope)
  if (session !== null) {
    const { accounts, base } = options
    if (
      !isOwnOrigin(request.headers, base) ||
      !isFormToken(accounts.secret, `session ${session}`, form.get('form_token'))
    )
      throw new Fault(CROSS_SITE_REQUEST, { reason: 'This form is out of date: you were not signed out.' })
    await accounts.sessions.end(session)
    const { principal } = request
    if (principal.type === 'user') {
      const { id, name } = principal
      await accounts.audit.note('signed out', '', { name, address: options.address(request) })
      if (await openId?.canLogOut(id)) out = 'openid'
    }
  }
  reply.header('set-cookie', clearedCookie(scope))
  return sendOn(reply, pageContextOf(request, options).href('/account/login/', { out }))
}
