import { randomBytes } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { User } from '../../accounts/accounts.ts'
import { formToken, isFormToken } from '../../http/form.ts'
import { cookieScope, readCookie, setCookie } from '../../http/session-cookie.ts'
import { hiddenField, note, textField } from '../../site/account-fields.ts'
import { type AccountPage, redirectSources } from '../../site/account-page.ts'
import { html } from '../../site/html.ts'
import { type PageContext, pageContextOf } from '../../site/page-context.ts'
import { type AccountsOptions, rootOf, sendPage } from '../../site/signed-in.ts'
import { relyingParty, requestOptions } from './passkeys/ceremony.ts'
import { PASSKEY_ISLAND, passkeyForm } from './passkeys/section.ts'
import { OPENID_LOG_OUT_PATH, OPENID_SIGN_IN_PATH } from './provider.ts'
import { SAML_PATH } from './saml/sign-in.ts'

interface Login {
  readonly next: string | null
  readonly name?: string
  readonly problem?: string
  readonly status?: number
  readonly retryAfter?: number | undefined
  /** How the page follows a sign-out: `1`, or `openid` for a user who may end the session at the provider as well. */
  readonly out?: unknown
}

/** Sends the form for the code. */
export async function sendSecondStep(
  reply: FastifyReply,
  options: AccountsOptions,
  user: User,
  step: Omit<Parameters<typeof secondStepPage>[1], 'token' | 'formTargets' | 'passkeyOptions'>,
  login: string,
): Promise<FastifyReply> {
  const { passkeys, secret } = options.accounts
  const hasPasskeys = relyingParty(options) !== null && (await passkeys.list(user.id)).length > 0
  const page = secondStepPage(pageContextOf(reply.request, options), {
    ...step,
    token: formToken(secret, `login ${login}`),
    formTargets: await onwardSources(options, step.next),
    passkeyOptions: hasPasskeys ? await requestOptions(options, login, user.id) : null,
  })
  return sendPage(reply, options, page, null)
}

/** Sends the form, with a cookie bound to its token, so that no other site can log a user in to another account. */
export async function sendLogin(
  reply: FastifyReply,
  options: AccountsOptions,
  login: Login,
): Promise<FastifyReply> {
  const { request } = reply
  const scope = cookieScope(options.base)
  const cookie = readCookie(request.headers, 'login', scope) ?? randomBytes(18).toString('base64url')
  reply.header('set-cookie', setCookie('login', cookie, { scope }))
  const token = formToken(options.accounts.secret, `login ${cookie}`)
  const { out } = request.query as Readonly<Record<string, unknown>>
  const context = pageContextOf(request, options)
  return sendPage(
    reply,
    options,
    await loginPage(context, options, { out, ...login }, { token, cookie }),
    null,
  )
}

async function loginPage(
  pageContext: PageContext,
  options: AccountsOptions,
  login: Login,
  { token, cookie }: { readonly token: string; readonly cookie: string },
): Promise<AccountPage> {
  const { t, href } = pageContext
  const { next, name = '', problem } = login
  const isOut = problem === undefined && (login.out === '1' || login.out === 'openid')
  const { name: provider } = options.provider ?? {}
  // A link, for a form may not redirect to the provider (Content-Security-Policy, form-action).
  const more =
    login.out !== 'openid' || provider === undefined
      ? ''
      : html`<p><a class="button" href="${rootOf(options)}${OPENID_LOG_OUT_PATH}">${t('Sign out of {name} as well', { name: provider })}</a></p>`
  const action = href('/account/login/')
  const hidden = { form_token: token, ...(next === null ? {} : { next }) }
  const hasPasskeys = relyingParty(options) !== null
  // Without it the way back from a provider would lose the language.
  const onward = next ?? (pageContext.namedLanguage === undefined ? null : href('/account/'))
  const describedBy = problem === undefined ? undefined : 'problem'
  return {
    type: 'page',
    heading: t('Sign in'),
    status: login.status ?? 200,
    retryAfter: login.retryAfter,
    formTargets: await onwardSources(options, next),
    ...(hasPasskeys ? { islands: [PASSKEY_ISLAND] } : {}),
    content: html`${problem === undefined ? '' : note('bad', html`<p id="problem">${problem}</p>`)}${
      isOut ? note('good', html`<p>${t('You are signed out.')}</p>${more}`) : ''
    }<form method="post" action="${action}">
${Object.entries(hidden).map(([field, value]) => hiddenField(field, value))}${textField({
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
})}<div class="buttons"><button>${t('Sign in')}</button></div>
</form>
${hasPasskeys ? passkeyForm(pageContext, { action, hidden, options: await requestOptions(options, cookie) }) : ''}${providersOf(
  options,
).map(
  ([path, provider]) =>
    html`<p><a class="button" href="${rootOf(options)}${path}/${onward === null ? '' : `?${new URLSearchParams({ next: onward })}`}">${t('Sign in with {name}', { name: provider })}</a></p>
`,
)}<p class="soft">${t('Accounts are created by the operators of this portal.')}</p>
`,
  }
}

/** Identity providers: the path that redirects to each, and its title. */
function providersOf({ provider, saml }: AccountsOptions): readonly (readonly [string, string])[] {
  return [
    ...(provider === undefined ? [] : [[OPENID_SIGN_IN_PATH, provider.name] as const]),
    ...(saml === undefined ? [] : [[SAML_PATH, saml.name] as const]),
  ]
}

/** The redirect targets after a sign-in for an application that the user has authorised before. */
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

/** Milliseconds between the password and the code. */
const LIFE = 5 * 60_000

/**
 * Failures of the second factor are counted for the account as a whole, under this value instead of a device. This cannot lock
 * out the owner, for the second step requires the password.
 */
export const ANY_DEVICE = 'any'

/** A proof that the password was right, in this browser and recently: `{user}.{expires}.{seal}`. */
export function passwordPassed(
  { accounts, now }: Pick<AccountsOptions, 'accounts' | 'now'>,
  user: Pick<User, 'id'>,
  login: string,
): string {
  const expires = now() + LIFE
  return `${user.id}.${expires}.${formToken(accounts.secret, boundTo(login, user.id, expires))}`
}

/** The user whose password was right; null if the proof is expired, or of another browser. */
export async function userOfPassed(
  { accounts, now }: Pick<AccountsOptions, 'accounts' | 'now'>,
  passed: string,
  login: string,
): Promise<User | null> {
  const [, id, expires, seal] = /^(\d{1,15})\.(\d{1,15}(?:\.\d+)?)\.([\w-]+)$/.exec(passed) ?? []
  if (id === undefined || Number(expires) <= now()) return null
  const bound = boundTo(login, Number(id), Number(expires))
  return isFormToken(accounts.secret, bound, seal) ? accounts.users.byId(Number(id)) : null
}

function boundTo(login: string, user: number, expires: number): string {
  return `second factor ${login} ${user} ${expires}`
}

interface SecondStep {
  readonly passed: string
  readonly token: string
  readonly next: string | null
  readonly formTargets: readonly string[]
  /** The options for a passkey, as JSON; null if the user has none. */
  readonly passkeyOptions: string | null
  readonly problem?: string
  readonly status?: number
  readonly retryAfter?: number | undefined
}

function secondStepPage(pageContext: PageContext, step: SecondStep): AccountPage {
  const { t, href } = pageContext
  const { passed, token, next, formTargets, problem, status = 200, retryAfter, passkeyOptions } = step
  const action = href('/account/login/')
  const hidden = { form_token: token, passed, ...(next === null ? {} : { next }) }
  return {
    type: 'page',
    heading: t('Two-step sign-in'),
    status,
    formTargets,
    ...(passkeyOptions === null ? {} : { islands: [PASSKEY_ISLAND] }),
    retryAfter,
    content: html`${problem === undefined ? '' : note('bad', html`<p id="problem">${problem}</p>`)}<form method="post" action="${action}">
${Object.entries(hidden).map(([name, value]) => hiddenField(name, value))}${textField({
  name: 'code',
  label: t('Code'),
  hint: t('Enter the code of your app, or a recovery code.'),
  autocomplete: 'one-time-code',
  describedBy: problem === undefined ? undefined : 'problem',
})}<div class="buttons"><button>${t('Sign in')}</button></div>
</form>
${passkeyOptions === null ? '' : passkeyForm(pageContext, { action, hidden, options: passkeyOptions })}`,
  }
}
