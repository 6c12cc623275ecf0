import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../../errors/errors.ts'
import type { Attempts } from '../../http/attempts.ts'
import { type Form, isFormToken, isOwnOrigin } from '../../http/form.ts'
import { localPath } from '../../http/local-path.ts'
import { clearedCookie, readCookie } from '../../http/session-cookie.ts'
import { pageContextOf } from '../../site/page-context.ts'
import {
  type AccountsOptions,
  CROSS_SITE_REQUEST,
  cookieScopeOf,
  rootOf,
  sendOn,
  signedIn,
} from '../../site/signed-in.ts'
import { beginSession, deviceOf } from './begin-session.ts'
import { sendLogin, sendSecondStep } from './login-page.ts'
import type { OpenIdSignIn } from './openid.ts'
import { checkSigned } from './passkeys/ceremony.ts'
import { ANY_DEVICE, passwordPassed, userOfPassed } from './second-step.ts'
import { checkThrottled } from './throttled-check.ts'

/** The sign-in form; a user who is signed in already is redirected. */
export async function showLogin(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  requested: Form,
): Promise<FastifyReply> {
  const next = localPath(requested.get('next'))
  if (signedIn(request, options) !== null) return sendOn(reply, next ?? `${rootOf(options)}/account/`)
  return sendLogin(request, reply, options, { next })
}

/** Limits of guessing: for passwords, for codes of the second factor, and for signatures of passkeys. */
export interface LoginAttempts {
  readonly passwords: Attempts
  readonly codes: Attempts
  readonly passkeys: Attempts
}

/**
 * Logs a user in. The session is always a new one, and a previous one of the browser is ended. An unknown name and a wrong
 * password get the same answer. If the user has a second factor, its form follows.
 */
export async function logIn(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  attempts: LoginAttempts,
  form: Form,
): Promise<FastifyReply> {
  const { accounts, base, now } = options
  const pageContext = pageContextOf(request, options)
  const { t } = pageContext
  const scope = cookieScopeOf(options)
  const next = localPath(form.get('next'))
  const name = (form.get('username') ?? '').trim()
  const again = { next, name }
  const login = readCookie(request.headers, 'login', scope)
  const isOurs = login !== null && isFormToken(accounts.secret, `login ${login}`, form.get('form_token'))
  if (!isOurs || !isOwnOrigin(request.headers, base)) {
    const problem = t(
      'This form was out of date, or your browser does not accept cookies from this portal. Please try again.',
    )
    return sendLogin(request, reply, options, { ...again, problem, status: 403 })
  }
  if (form.has('passed')) return enterCode(request, reply, options, attempts, form, login)
  if (form.has('credential')) return usePasskey(request, reply, options, attempts.passkeys, form, login)
  const password = form.get('password') ?? ''
  if (name === '' || password === '')
    return sendLogin(request, reply, options, {
      ...again,
      problem: t('Enter your user name and your password.'),
      status: 400,
    })
  const sealing = { secret: accounts.secret, scope }
  const checked = await checkThrottled(
    attempts.passwords,
    pageContext,
    name,
    options.address(request),
    now,
    () => accounts.users.verify(name, password),
    deviceOf(request.headers, name, sealing),
  )
  if (checked.type === 'blocked') {
    const { seconds: retryAfter, message: problem } = checked
    return sendLogin(request, reply, options, { ...again, problem, status: 429, retryAfter })
  }
  if (checked.value === null) {
    const untrusted = { name: 'anonymous', address: options.address(request) }
    await accounts.audit.note('sign-in failed', name, untrusted)
    // A scheme that no browser requests by itself (RFC 9110, section 11.6.1).
    reply.header('www-authenticate', 'Form')
    return sendLogin(request, reply, options, {
      ...again,
      problem: t('The user name or the password is wrong.'),
      status: 401,
    })
  }
  const user = checked.value
  if ((await accounts.secondFactors.state(user.id)).type !== 'on')
    return beginSession(request, reply, options, user, 'by password', next)
  const passed = passwordPassed(options, user, login)
  return sendSecondStep(request, reply, options, user, { passed, next }, login)
}

/** Checks the code of the second factor, or a passkey instead, after the password. */
async function enterCode(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  attempts: LoginAttempts,
  form: Form,
  login: string,
): Promise<FastifyReply> {
  const { accounts, now } = options
  const pageContext = pageContextOf(request, options)
  const { t } = pageContext
  const next = localPath(form.get('next'))
  const passed = form.get('passed') ?? ''
  const user = await userOfPassed(options, passed, login)
  if (user === null) {
    const problem = t('Sign-in was not finished in time. Enter your password again.')
    return sendLogin(request, reply, options, { next, problem, status: 403 })
  }
  const address = options.address(request)
  const sealing = { secret: accounts.secret, scope: cookieScopeOf(options) }
  const credential = form.get('credential')
  const signed = async () =>
    (await checkSigned(options, credential ?? '', login, user.id)) === null ? null : ('passkey' as const)
  const checked = await checkThrottled<'code' | 'recovery code' | 'passkey'>(
    credential === undefined ? attempts.codes : attempts.passkeys,
    pageContext,
    user.name,
    address,
    now,
    credential === undefined ? () => accounts.secondFactors.verify(user.id, form.get('code') ?? '') : signed,
    deviceOf(request.headers, user.name, sealing) ?? ANY_DEVICE,
  )
  if (checked.type === 'blocked') {
    const { seconds: retryAfter, message: problem } = checked
    const step = { passed, next, problem, status: 429, retryAfter }
    return sendSecondStep(request, reply, options, user, step, login)
  }
  if (checked.value === null) {
    await accounts.audit.note('sign-in failed', `${user.name}: second factor`, { name: 'anonymous', address })
    reply.header('www-authenticate', 'Form')
    const problem =
      credential === undefined
        ? t('This code is wrong, or it was used before.')
        : t('This passkey was not accepted. Please try again.')
    return sendSecondStep(request, reply, options, user, { passed, next, problem, status: 401 }, login)
  }
  return beginSession(request, reply, options, user, `by password and ${checked.value}`, next)
}

/** Signs in only with a passkey: the authenticator has verified the user, so there is no second step. */
async function usePasskey(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  attempts: Attempts,
  form: Form,
  login: string,
): Promise<FastifyReply> {
  const { accounts, now } = options
  const pageContext = pageContextOf(request, options)
  const next = localPath(form.get('next'))
  const address = options.address(request)
  const check = () => checkSigned(options, form.get('credential') ?? '', login)
  // The owner of the passkey is known only after the check: failures are counted by address.
  const checked = await checkThrottled(attempts, pageContext, '', address, now, check)
  if (checked.type === 'blocked') {
    const { seconds: retryAfter, message: problem } = checked
    return sendLogin(request, reply, options, { next, problem, status: 429, retryAfter })
  }
  const user = checked.value === null ? null : await accounts.users.byId(checked.value)
  if (user === null) {
    await accounts.audit.note('sign-in failed', 'passkey', { name: 'anonymous', address })
    reply.header('www-authenticate', 'Form')
    const problem = pageContext.t('This passkey was not accepted. Please try again.')
    return sendLogin(request, reply, options, { next, problem, status: 401 })
  }
  return beginSession(request, reply, options, user, 'by passkey', next)
}

/** Ends a session; the form is one of its own pages. Faults: CrossSiteRequest. */
export async function logOut(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  openId: OpenIdSignIn | null,
  form: Form,
): Promise<FastifyReply> {
  const scope = cookieScopeOf(options)
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
  return sendOn(reply, `${rootOf(options)}/account/login/?out=${out}`)
}
