import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Attempts, PASSKEY_LIMITS, PASSWORD_LIMITS, SECOND_FACTOR_LIMITS } from '../../http/attempts.ts'
import { acceptForms, localPath, readForm, singleFields } from '../../http/form.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { configureRoutes } from '../../http/route-config.ts'
import { cookieScope, setCookie } from '../../http/session-cookie.ts'
import type { AccountPage } from '../../site/account-page.ts'
import { html } from '../../site/html.ts'
import { pageContextOf, queryText } from '../../site/page-context.ts'
import {
  type AccountsOptions,
  answerWithPage,
  refuseCrossSite,
  type SignedIn,
  sendOn,
  sendPage,
  sendToLogin,
  signedIn,
  tokenFor,
} from '../../site/signed-in.ts'
import { APPLICATIONS, AUTHORIZATIONS } from './applications.ts'
import { KEYS } from './keys.ts'
import { logIn, logOut, showLogin } from './login.ts'
import { OpenIdSignIn } from './openid.ts'
import { OVERVIEW } from './overview.ts'
import { passkeySection } from './passkeys/section.ts'
import { passwordSection } from './password.ts'
import { OPENID_LOG_OUT_PATH, OPENID_SIGN_IN_PATH } from './provider.ts'
import { samlRoutes } from './saml/sign-in.ts'
import { secondFactorSection } from './second-factor.ts'
import type { AccountRequest, AccountSection, SectionAnswer } from './section.ts'
import { SESSIONS } from './sessions.ts'

/**
 * The pages on which a user logs in and manages keys, applications, authorizations and the password
 * (Access 1, 3). They need no scripts.
 */
export const accountPages: FastifyPluginAsync<AccountsOptions> = async (app, options) => {
  const attempts = new Attempts(PASSWORD_LIMITS, options.accounts.failures, options.now)
  const codes = new Attempts(SECOND_FACTOR_LIMITS, options.accounts.failures, options.now)
  const passkeys = new Attempts(PASSKEY_LIMITS, options.accounts.failures, options.now)
  acceptForms(app)
  configureRoutes(app, { endpoint: 'account', access: 'signIn', methods: 'forms' }, ['/account'])
  app.setErrorHandler(answerWithPage(options))
  app.get('/account/login', async (request, reply) =>
    showLogin(reply, options, singleFields(request.query as QueryParameters)),
  )
  app.post('/account/login', (request, reply) =>
    logIn(reply, options, { passwords: attempts, codes, passkeys }, readForm(request.body)),
  )
  const openId = options.provider === undefined ? null : new OpenIdSignIn(options.provider, options)
  if (openId !== null) {
    app.get(OPENID_SIGN_IN_PATH, async (request, reply) =>
      openId.begin(reply, localPath(singleFields(request.query as QueryParameters).get('next'))),
    )
    app.get(`${OPENID_SIGN_IN_PATH}/callback`, async (_, reply) => openId.end(reply))
    app.get(OPENID_LOG_OUT_PATH, async (_, reply) => openId.logOut(reply))
  }
  await app.register(samlRoutes, options)
  app.post('/account/logout', async (request, reply) =>
    logOut(reply, options, openId, readForm(request.body)),
  )
  // A browser that returns to this address is no longer signed in, or never sent the form.
  app.get('/account/logout', async (request, reply) =>
    sendOn(reply, pageContextOf(request, options).href('/account/')),
  )
  for (const { path, show, change } of [
    OVERVIEW,
    KEYS,
    APPLICATIONS,
    AUTHORIZATIONS,
    forPasswords(passwordSection(attempts)),
    forPasswords(secondFactorSection(attempts, codes)),
    forPasswords(passkeySection(attempts)),
    SESSIONS,
  ]) {
    app.get(path, async (request, reply) => {
      const session = signedIn(request, options)
      if (session === null) return signInFirst(reply, options, path)
      return sendPage(reply, options, await show(accountRequest(request, session, options, path)), session)
    })
    if (change === undefined) continue
    app.post(path, async (request, reply) => {
      const session = signedIn(request, options)
      if (session === null) return signInFirst(reply, options, path)
      const form = readForm(request.body)
      refuseCrossSite(session, request, form, options)
      const requested = accountRequest(request, session, options, path)
      const answer = await change(requested, form)
      return answer === undefined
        ? sendOn(reply, requested.action)
        : sendAnswer(reply, options, answer, session)
    })
  }
}

/** Redirects to the sign-in page, and from there to a section, in the language of the request. */
function signInFirst(reply: FastifyReply, options: AccountsOptions, path: string): FastifyReply {
  const { namedLanguage: lang } = pageContextOf(reply.request, options)
  return sendToLogin(reply, options, `${path}/${queryText({ lang })}`)
}

/** A section of users with a password here; for those who sign in at a provider alone it shows why there is none. */
function forPasswords(section: AccountSection): AccountSection {
  const page = ({ pageContext: { t } }: AccountRequest, status: number): AccountPage => ({
    type: 'page',
    heading: t('Your account'),
    status,
    content: html`<p>${t('You sign in at your organization and have no password here. Password, two-step sign-in and passkeys are managed there.')}</p>
`,
  })
  return {
    path: section.path,
    show: requested =>
      requested.session.user.hasNoPassword ? page(requested, 200) : section.show(requested),
    change: (requested, form) =>
      requested.session.user.hasNoPassword || section.change === undefined
        ? page(requested, 403)
        : section.change(requested, form),
  }
}

function accountRequest(
  request: FastifyRequest,
  session: SignedIn,
  options: AccountsOptions,
  path: string,
): AccountRequest {
  const pageContext = pageContextOf(request, options)
  return {
    session,
    pageContext,
    options,
    action: pageContext.href(`${path}/`),
    token: () => tokenFor(session, options),
    address: options.address(request),
    isDone: (request.query as QueryParameters).done === '1',
  }
}

function sendAnswer(
  reply: FastifyReply,
  options: AccountsOptions,
  answer: NonNullable<SectionAnswer>,
  signedInBy: SignedIn,
): FastifyReply {
  if (answer.type === 'page') return sendPage(reply, options, answer, signedInBy)
  const { path, session } = answer
  if (session !== undefined) {
    const maxAge = (session.expires - options.now()) / 1000
    reply.header(
      'set-cookie',
      setCookie('session', session.token, { scope: cookieScope(options.base), maxAge }),
    )
  }
  return sendOn(reply, path)
}
