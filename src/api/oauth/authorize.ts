import OAuth2Server from '@node-oauth/oauth2-server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Accounts, Client, CodeGrant } from '../../accounts/accounts.ts'
import { isRegisteredUri } from '../../accounts/clients.ts'
import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { readFields, singleFields } from '../../http/form.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { hiddenField, note } from '../../site/account-fields.ts'
import { type AccountPage, keepPrivate, redirectSources } from '../../site/account-page.ts'
import { html } from '../../site/html.ts'
import { pageContextOf } from '../../site/page-context.ts'
import {
  type AccountsOptions,
  refuseCrossSite,
  rootOf,
  type SignedIn,
  sendPage,
  sendToLogin,
  signedIn,
  tokenFor,
} from '../../site/signed-in.ts'
import {
  checkScope,
  MAX_STATE,
  oauthServer,
  type Parameters,
  readParameters,
  required,
  SCOPE,
} from './model.ts'

export const AUTHORIZE_PATH = '/oauth2/authorize'

type Valid = AuthorizationRequest & { readonly type: 'valid' }
type Invalid = AuthorizationRequest & { readonly type: 'invalid' }

/**
 * Asks a user to authorise an application. Earlier consent is reused if the application can authenticate (RFC 6749,
 * section 10.2).
 */
export async function requestConsent(reply: FastifyReply, options: AccountsOptions): Promise<FastifyReply> {
  const { request } = reply
  const requested = await readAuthorizationRequest(request.query as QueryParameters, options.accounts)
  if (requested.type !== 'valid') return refuse(reply, options, requested)
  const session = signedIn(request, options)
  if (session === null) return sendToLogin(reply, options, addressOf(requested))
  const { client } = requested
  const consents =
    client.type === 'confidential' ? await options.accounts.tokens.consents(session.user.id) : []
  if (consents.some(consent => consent.client.id === client.id))
    return sendCode(reply, options, session, requested)
  return sendPage(reply, options, consentPage(requested, session, options, request), session)
}

/** Carries out the user's decision. The form contains the request, which is validated again. */
export async function decide(reply: FastifyReply, options: AccountsOptions): Promise<FastifyReply> {
  const { request } = reply
  const fields = readFields(request.body)
  const requested = await readAuthorizationRequest(fields, options.accounts)
  const session = signedIn(request, options)
  if (session === null)
    return sendToLogin(reply, options, requested.type === 'valid' ? addressOf(requested) : '/account/')
  const form = singleFields(fields)
  refuseCrossSite(session, request, form, options)
  if (requested.type !== 'valid') return refuse(reply, options, requested)
  switch (form.get('decision')) {
    case 'allow':
      return sendCode(reply, options, session, requested)
    case 'deny': {
      const error = new OAuth2Server.AccessDeniedError('The user did not allow it')
      return sendError(reply, options, { ...requested, error })
    }
    default:
      throw new Fault(BAD_REQUEST, { reason: 'The form lacks the decision whether access is allowed.' })
  }
}

function addressOf({ parameters }: Valid): string {
  return `${AUTHORIZE_PATH}/?${new URLSearchParams([...parameters])}`
}

async function sendCode(
  reply: FastifyReply,
  { accounts, base, now }: AccountsOptions,
  { user }: SignedIn,
  { client, redirectUri, state, challenge, parameters }: Valid,
): Promise<FastifyReply> {
  const grant: CodeGrant = {
    client: client.id,
    user: user.id,
    redirectUri: parameters.get('redirect_uri') ?? '',
    scope: SCOPE,
    challenge,
  }
  const server = oauthServer(accounts, now, { tokens: null })
  const query = Object.fromEntries(parameters)
  const { authorizationCode: code } = await server.authorize(
    new OAuth2Server.Request({
      method: 'GET',
      headers: {},
      query: { ...query, scope: SCOPE, state: 'any', redirect_uri: redirectUri },
    }),
    new OAuth2Server.Response(),
    { authenticateHandler: { handle: () => ({ grant }) } },
  )
  return sendBack(reply, redirectUri, base, { code, state })
}

function refuse(
  reply: FastifyReply,
  options: AccountsOptions,
  requested: Exclude<AuthorizationRequest, Valid>,
): FastifyReply {
  if (requested.type === 'invalid') return sendError(reply, options, requested)
  const { t } = pageContextOf(reply.request, options)
  return sendPage(reply, options, {
    type: 'page',
    status: 400,
    heading: t('This application cannot be authorized'),
    content: html`${note('bad', html`<p>${requested.reason}</p>`)}
<p>${t('The link that brought you here is damaged, or the application is not what it claims to be. No data were sent to it.')}</p>
`,
  })
}

function sendError(
  reply: FastifyReply,
  { base }: Pick<AccountsOptions, 'base'>,
  { redirectUri, state, error }: Pick<Invalid, 'redirectUri' | 'state' | 'error'>,
): FastifyReply {
  return sendBack(reply, redirectUri, base, { error: error.name, error_description: error.message, state })
}

/**
 * Redirects a user back to an application, with the answer in the query (RFC 6749, sections 4.1.2 and 4.1.2.1), and the
 * issuer, so that an application of several servers does not send the code of one to another (RFC 9207).
 *
 * @param issuer as in the metadata
 */
function sendBack(
  reply: FastifyReply,
  redirectUri: string,
  issuer: string,
  answer: Readonly<Record<string, string | null>>,
): FastifyReply {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...answer, iss: issuer }))
    if (value !== null) parameters.append(name, value)
  // The registered redirect URI, character by character, with the answer appended.
  const separator = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&'
  const location = `${redirectUri}${separator}${parameters}`
  return keepPrivate(reply).code(302).header('location', location).send()
}

/** The page on which a user authorises an application (RFC 6749, section 4.1.1). */
function consentPage(
  { client, redirectUri, parameters }: Valid,
  session: SignedIn,
  options: AccountsOptions,
  request: FastifyRequest,
): AccountPage {
  const { t, site } = pageContextOf(request, options)
  const { name: user } = session.user
  return {
    type: 'page',
    heading: t('Let {name} act for you?', { name: client.name }),
    formTargets: redirectSources([redirectUri]),
    content: html`<p>${t('{name} asks to act for you, {user}, on {portal}.', { name: client.name, user, portal: site.title })}</p>
<dl class="facts-list"><dt>${t('It may')}</dt><dd>${t('Read the data that you may see, restricted datasets included, within your quota. It cannot change your account, and it does not get your password.')}</dd>
<dt>${t('Registered by')}</dt><dd>${client.owner}</dd>
<dt>${t('Type')}</dt><dd>${client.type === 'public' ? t('Public: it runs in a browser or on a device') : t('Confidential: it runs on a server')}</dd>
<dt>${t('You will be sent to')}</dt><dd><code>${redirectUri}</code></dd></dl>
<form method="post" action="${rootOf(options)}${AUTHORIZE_PATH}/">
${hiddenField('form_token', tokenFor(session, options))}${[...parameters].map(([name, value]) => hiddenField(name, value))}<div class="buttons"><button name="decision" value="allow">${t('Allow')}</button><button class="plain" name="decision" value="deny">${t('Do not allow')}</button></div>
</form>
<p class="soft">${t('You can withdraw this at any time under Authorizations.')}</p>
`,
  }
}

/** A request for an authorization (RFC 6749, section 4.1.1; RFC 7636, section 4.3), and where its answer may be sent. */
type AuthorizationRequest =
  /** No redirect is allowed: the client is unknown, or the redirect URI is not one of its own. */
  | { readonly type: 'untrusted'; readonly reason: string }
  /** The error is reported to the client (section 4.1.2.1). */
  | {
      readonly type: 'invalid'
      readonly redirectUri: string
      readonly state: string | null
      readonly error: OAuth2Server.OAuthError
    }
  | {
      readonly type: 'valid'
      readonly client: Client
      readonly redirectUri: string
      readonly state: string | null
      readonly challenge: CodeGrant['challenge']
      /** The parameters with a meaning, so that a form can send them again. */
      readonly parameters: Parameters
    }

const MEANT = [
  'client_id',
  'redirect_uri',
  'response_type',
  'state',
  'scope',
  'scopes',
  'code_challenge',
  'code_challenge_method',
] as const

/** Reads a request for an authorization; unknown parameters are ignored. */
async function readAuthorizationRequest(
  sent: QueryParameters,
  accounts: Accounts,
): Promise<AuthorizationRequest> {
  const { parameters, repeated } = readParameters(sent)
  for (const name of ['client_id', 'redirect_uri'])
    if (repeated.has(name)) return untrusted(`The parameter ${name} is given more than once.`)
  const clientId = parameters.get('client_id')
  if (clientId === undefined) return untrusted('The parameter client_id is missing.')
  const client = await accounts.clients.find(clientId)
  if (client === null) return untrusted('No application with this client_id is registered here.')
  const given = parameters.get('redirect_uri')
  const redirectUri = given ?? (client.redirectUris.length === 1 ? client.redirectUris[0] : undefined)
  if (redirectUri === undefined) return untrusted('The parameter redirect_uri is missing.')
  if (!isRegisteredUri(redirectUri, client.redirectUris))
    return untrusted('The redirect_uri is not one that the application registered.')
  const state = repeated.has('state') ? null : (parameters.get('state') ?? null)
  try {
    const twice = MEANT.find(name => repeated.has(name))
    if (twice !== undefined)
      throw new OAuth2Server.InvalidRequestError(`The parameter ${twice} is given more than once`)
    if (!isEchoed(state))
      throw new OAuth2Server.InvalidRequestError(`The state is longer than ${MAX_STATE} characters`)
    if (required(parameters, 'response_type') !== 'code')
      throw new OAuth2Server.UnsupportedResponseTypeError('Unsupported response type: code is the only one')
    checkScope(parameters)
    const challenge = readChallenge(parameters, client)
    const meant = MEANT.flatMap(name => {
      const value = parameters.get(name)
      return value === undefined ? [] : [[name, value] as const]
    })
    return { type: 'valid', client, redirectUri, state, challenge, parameters: new Map(meant) }
  } catch (error) {
    if (!(error instanceof OAuth2Server.OAuthError)) throw error
    return { type: 'invalid', redirectUri, state: isEchoed(state) ? state : null, error }
  }
}

function isEchoed(state: string | null): boolean {
  return state === null || encodeURIComponent(state.toWellFormed()).length <= MAX_STATE
}

function untrusted(reason: string): AuthorizationRequest {
  return { type: 'untrusted', reason }
}

/** Throws InvalidRequestError for an invalid challenge, and for a missing one of a public client. */
function readChallenge(parameters: Parameters, { type }: Client): CodeGrant['challenge'] {
  const value = parameters.get('code_challenge')
  const method = parameters.get('code_challenge_method')
  if (value === undefined) {
    if (method !== undefined) throw new OAuth2Server.InvalidRequestError('Missing parameter: code_challenge')
    if (type === 'public')
      throw new OAuth2Server.InvalidRequestError(
        'Missing parameter: code_challenge (a public client needs PKCE)',
      )
    return null
  }
  // Without a method it would be plain, which does not protect against interception (RFC 9700, section 2.1.1).
  if (method !== 'S256')
    throw new OAuth2Server.InvalidRequestError('Invalid parameter: code_challenge_method has to be S256')
  if (!/^[\w-]{43}$/.test(value))
    throw new OAuth2Server.InvalidRequestError(
      'Invalid parameter: code_challenge has 43 characters of base64url',
    )
  return value
}
