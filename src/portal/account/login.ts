import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { User } from '../../accounts/accounts.ts'
import { Fault } from '../../errors/errors.ts'
import type { Attempts } from '../../http/attempts.ts'
import { deviceCookie, deviceOf } from '../../http/device.ts'
import type { Form } from '../../http/form.ts'
import { formToken, isFormToken, isOwnOrigin } from '../../http/form-token.ts'
import { localPath } from '../../http/local-path.ts'
import { clearedCookie, readCookie, sessionCookie, setCookie } from '../../http/session-cookie.ts'
import { hiddenField, note, textField } from '../../site/account-fields.ts'
import { type AccountPage, redirectSources } from '../../site/account-page.ts'
import { html } from '../../site/html.ts'
import { type PageContext, pageContextOf } from '../../site/page-context.ts'
import { type AccountsOptions, isSecure, rootOf, sendOn, sendPage, signedIn } from '../../site/signed-in.ts'
import { guarded } from './guarded.ts'
import { OPENID_SIGN_IN_PATH } from './openid.ts'
import { ANY_DEVICE, passwordPassed, secondStepPage, userOfPassed } from './second-step.ts'

/** The log-in form; who is signed in already is sent on. */
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

/** Limits of guessing: for passwords, and for codes of the second factor. */
export interface LoginAttempts {
  readonly passwords: Attempts
  readonly codes: Attempts
}

/**
 * Logs a person in. The session is a new one, whatever cookie came with the form, and one that was there before is ended.
 * An unknown name and a wrong password are answered alike. Where the user has a second factor, its form follows.
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
  const secure = isSecure(options)
  const next = localPath(form.get('next'))
  const name = (form.get('username') ?? '').trim()
  const again = { next, name }
  const login = readCookie(request.headers, 'login', secure)
  const isOurs = login !== null && isFormToken(accounts.secret, `login ${login}`, form.get('form_token'))
  if (!isOurs || !isOwnOrigin(request.headers, base)) {
    const problem = t(
      'This form was out of date, or your browser keeps no cookies from this portal. Please try again.',
    )
    return sendLogin(request, reply, options, { ...again, problem, status: 403 })
  }
  if (form.has('passed')) return enterCode(request, reply, options, attempts.codes, form, login)
  const password = form.get('password') ?? ''
  if (name === '' || password === '')
    return sendLogin(request, reply, options, {
      ...again,
      problem: t('Enter your user name and your password.'),
      status: 400,
    })
  const sealing = { secret: accounts.secret, secure }
  const checked = await guarded(
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
    // A scheme that no browser asks for by itself (RFC 9110, section 11.6.1).
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
  return sendSecondStep(request, reply, options, { passed, next }, login)
}

/** Checks the code of the second factor, after the password. */
async function enterCode(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  attempts: Attempts,
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
  const sealing = { secret: accounts.secret, secure: isSecure(options) }
  const checked = await guarded(
    attempts,
    pageContext,
    user.name,
    address,
    now,
    () => accounts.secondFactors.verify(user.id, form.get('code') ?? ''),
    deviceOf(request.headers, user.name, sealing) ?? ANY_DEVICE,
  )
  if (checked.type === 'blocked') {
    const { seconds: retryAfter, message: problem } = checked
    const step = { passed, next, problem, status: 429, retryAfter }
    return sendSecondStep(request, reply, options, step, login)
  }
  if (checked.value === null) {
    await accounts.audit.note('sign-in failed', `${user.name}: second factor`, { name: 'anonymous', address })
    reply.header('www-authenticate', 'Form')
    const problem = t('This code is wrong, or it was used before.')
    return sendSecondStep(request, reply, options, { passed, next, problem, status: 401 }, login)
  }
  return beginSession(request, reply, options, user, `by password and ${checked.value}`, next)
}

/** Begins a session in place of one that the browser had, and remembers the device. */
async function beginSession(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  user: User,
  how: string,
  next: string | null,
): Promise<FastifyReply> {
  const { accounts, now } = options
  const secure = isSecure(options)
  const before = readCookie(request.headers, 'session', secure)
  if (before !== null) await accounts.sessions.end(before)
  const { token, expires } = await accounts.sessions.begin(user.id)
  const actor = { name: user.name, address: options.address(request) }
  await accounts.audit.note('signed in', how, actor)
  reply.header('set-cookie', [
    sessionCookie(token, { secure, maxAge: (expires - now()) / 1000 }),
    clearedCookie(secure, 'login'),
    deviceCookie(user.name, { secret: accounts.secret, secure }),
  ])
  return sendOn(reply, next ?? `${rootOf(options)}/account/`)
}

/** Ends a session; the form is one of its own pages. Faults: CrossSiteRequest. */
export async function logOut(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  form: Form,
): Promise<FastifyReply> {
  const secure = isSecure(options)
  const session = readCookie(request.headers, 'session', secure)
  if (session !== null) {
    const { accounts, base } = options
    if (
      !isOwnOrigin(request.headers, base) ||
      !isFormToken(accounts.secret, `session ${session}`, form.get('form_token'))
    )
      throw new Fault('CrossSiteRequest', { reason: 'This form is out of date: you were not logged out.' })
    await accounts.sessions.end(session)
    const { principal } = request
    if (principal.type === 'user')
      await accounts.audit.note('signed out', '', {
        name: principal.name,
        address: options.address(request),
      })
  }
  reply.header('set-cookie', clearedCookie(secure))
  return sendOn(reply, `${rootOf(options)}/account/login/?out=1`)
}

interface Login {
  readonly next: string | null
  readonly name?: string
  readonly problem?: string
  readonly status?: number
  readonly retryAfter?: number
  readonly isOut?: boolean
}

/** Sends the form for the code. */
async function sendSecondStep(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  step: Omit<Parameters<typeof secondStepPage>[2], 'token' | 'formTargets'>,
  login: string,
): Promise<FastifyReply> {
  const page = secondStepPage(pageContextOf(request, options), options, {
    ...step,
    token: formToken(options.accounts.secret, `login ${login}`),
    formTargets: await onwardSources(options, step.next),
  })
  return sendPage(request, reply, options, page, null)
}

/** Sends the form, with a cookie that its token belongs to: so that no other site can log a person in as somebody else. */
async function sendLogin(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccountsOptions,
  login: Login,
): Promise<FastifyReply> {
  const secure = isSecure(options)
  const cookie = readCookie(request.headers, 'login', secure) ?? randomBytes(18).toString('base64url')
  reply.header('set-cookie', setCookie('login', cookie, { secure }))
  const token = formToken(options.accounts.secret, `login ${cookie}`)
  const isOut =
    (request.query as Readonly<Record<string, unknown>>).out === '1' && login.problem === undefined
  return sendPage(
    request,
    reply,
    options,
    await loginPage(pageContextOf(request, options), options, { ...login, isOut }, token),
    null,
  )
}

async function loginPage(
  { t }: PageContext,
  options: AccountsOptions,
  login: Login,
  token: string,
): Promise<AccountPage> {
  const { next, name = '', problem } = login
  const describedBy = problem === undefined ? undefined : 'problem'
  return {
    type: 'page',
    heading: t('Log in'),
    status: login.status ?? 200,
    ...(login.retryAfter === undefined ? {} : { retryAfter: login.retryAfter }),
    formTargets: await onwardSources(options, next),
    content: html`${problem === undefined ? '' : note('bad', html`<p id="problem">${problem}</p>`)}${
      login.isOut === true ? note('good', html`<p>${t('You are logged out.')}</p>`) : ''
    }<form method="post" action="${rootOf(options)}/account/login/">
${hiddenField('form_token', token)}${next === null ? '' : hiddenField('next', next)}${textField({
  name: 'username',
  label: t('User name'),
  autocomplete: 'username',
  value: name.slice(0, 200),
  describedBy,
})}${textField({
  name: 'password',
  label: t('Password'),
  type: 'password',
  autocomplete: 'current-password',
  describedBy,
})}<div class="buttons"><button>${t('Log in')}</button></div>
</form>
${
  options.provider === undefined
    ? ''
    : html`<p><a class="button" href="${rootOf(options)}${OPENID_SIGN_IN_PATH}/${next === null ? '' : `?${new URLSearchParams({ next })}`}">${t('Sign in with {name}', { name: options.provider.name })}</a></p>
`
}<p class="soft">${t('Accounts are made by those who run this portal.')}</p>
`,
  }
}

/** Where a log-in may lead when an application sent the person, who has let it act for him before. */
async function onwardSources(
  { accounts, base }: AccountsOptions,
  next: string | null,
): Promise<readonly string[]> {
  if (next === null) return []
  const { pathname, searchParams } = new URL(next, base)
  if (!/\/oauth2\/authorize\/?$/.test(pathname)) return []
  const client = await accounts.clients.find(searchParams.get('client_id') ?? '')
  return redirectSources(client?.redirectUris ?? [])
}
