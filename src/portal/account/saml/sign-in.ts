import { createHash, randomBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { SamlProvider } from '../../../config/derived.ts'
import { Fault } from '../../../errors/errors.ts'
import { ASSERTION_LIMITS, Attempts } from '../../../http/attempts.ts'
import { CREDENTIAL_INVALID } from '../../../http/authenticate.ts'
import {
  acceptForms,
  type Form,
  formToken,
  isFormToken,
  localPath,
  readForm,
  singleFields,
} from '../../../http/form.ts'
import type { QueryParameters } from '../../../http/query-string.ts'
import { clearedCookie, cookieScope, readCookie, setCookie } from '../../../http/session-cookie.ts'
import { keepPrivate } from '../../../site/account-page.ts'
import { type AccountsOptions, rootOf, sendOn } from '../../../site/signed-in.ts'
import { replaceSession } from '../begin-session.ts'
import { noteFailure, refuseBlocked, sendIfSignedIn, setGrantsOfGroups } from '../provider.ts'
import { readIdentityProvider } from './identity-provider.ts'
import {
  browserOf,
  libraryOptions,
  type OpenedResponse,
  openResponse,
  REQUEST_LIFE,
  readResponse,
  requestId,
  type ServiceProvider,
  type SignedInElsewhere,
} from './response.ts'

export const SAML_PATH = '/account/saml'

/** Paths of the metadata, of the assertion consumer service, and of the end of a sign-in. */
const SAML_PATHS = {
  metadata: `${SAML_PATH}/metadata`,
  consumer: `${SAML_PATH}/acs`,
  end: `${SAML_PATH}/end`,
}

/** Milliseconds between the response of the provider and the session: one redirect. */
const END_LIFE = 60_000

/** Characters of the random part of the cookie; the target of the sign-in follows it. */
const NONCE_LENGTH = 32

/**
 * Maximum bytes of RelayState (SAML 2.0 Bindings, section 3.4.3), of the target of the sign-in, and characters of it in the cookie,
 * where it is compressed: browsers take 4,096 with the name (RFC 6265, section 6.1).
 */
const [MAX_RELAY_STATE, MAX_NEXT, MAX_PACKED] = [80, 8000, 3900]

/**
 * Signs users in at an identity provider of SAML 2.0 (Profiles, section 4.1): the request by redirect, the response by POST.
 *
 * Browsers do not send our cookies with forms of another site, so the response is received without them: it is checked, and a
 * cookie is set that is valid only in the browser that began, one redirect later. Only consumed ids are stored, so that any of
 * several servers can continue.
 */
class SamlSignIn {
  private readonly options: AccountsOptions
  private readonly service: ServiceProvider
  private readonly attempts: Attempts

  /** Faults: ConfigInvalid if a file in the settings is not as expected. */
  constructor(settings: SamlProvider, options: AccountsOptions) {
    this.options = options
    this.service = {
      settings,
      provider: readIdentityProvider(settings),
      consumer: `${options.base}${SAML_PATHS.consumer}`,
      secret: options.accounts.secret,
    }
    this.attempts = new Attempts(ASSERTION_LIMITS, options.accounts.failures, options.now)
  }

  /** The metadata of this portal, for the provider (SAML 2.0 Metadata, section 2.4.4). */
  async metadata(reply: FastifyReply): Promise<FastifyReply> {
    const { generateServiceProviderMetadata } = await import('@node-saml/node-saml')
    const id = createHash('sha256').update(this.service.consumer).digest('hex')
    const text = generateServiceProviderMetadata({
      ...libraryOptions(this.service),
      wantAssertionsSigned: true,
      generateUniqueId: () => `_${id}`,
    })
    return reply.type('application/samlmetadata+xml').send(text)
  }

  async begin(reply: FastifyReply, next: string | null): Promise<FastifyReply> {
    const { SAML } = await import('@node-saml/node-saml')
    const { accounts, now } = this.options
    const packed = deflateRawSync(next ?? '').toString('base64url')
    const path = packed.length > MAX_PACKED ? '' : (next ?? '')
    const scope = cookieScope(this.options.base)
    // Another tab may be signing in, too.
    const before = readCookie(reply.request.headers, 'saml', scope) ?? ''
    const nonce = before.length < NONCE_LENGTH ? randomBytes(24).toString('base64url') : nonceOf(before)
    const cookie = nonce + (path === '' ? '' : packed)
    const id = requestId(accounts.secret, browserOf(nonce), now() + REQUEST_LIFE)
    const library = new SAML({ ...libraryOptions(this.service), generateUniqueId: () => id })
    const relayState = Buffer.byteLength(path) > MAX_RELAY_STATE ? '' : path
    const address = await library.getAuthorizeUrlAsync(relayState, undefined, {})
    reply.header('set-cookie', setCookie('saml', cookie, { scope, maxAge: REQUEST_LIFE / 1000 }))
    return sendOn(reply, address)
  }

  /**
   * Receives the response of the provider, which a browser posts from another site: the signature and the ID of our request
   * replace a form token. Faults: CredentialInvalid, TooManyAttempts.
   */
  async consume(request: FastifyRequest, reply: FastifyReply, form: Form): Promise<FastifyReply> {
    const { accounts, now } = this.options
    const address = this.options.address(request)
    const opened = openedOr(() => openResponse(form.get('SAMLResponse') ?? '', this.service, now()))
    // Offices share an address: what answers no request of ours is counted apart, and all else by browser.
    const counted = opened instanceof Error ? 'saml' : `saml ${opened.request.browser}`
    const attempt = await this.attempts.begin(counted, address)
    refuseBlocked(attempt, reply, now())
    let found: SignedInElsewhere
    try {
      if (opened instanceof Error) throw opened
      found = await readResponse(opened, this.service, now())
      await this.useUp(found)
    } catch (cause) {
      if (cause instanceof Fault) throw cause
      const message = (cause as Error).message.slice(0, 200)
      await noteFailure(request, this.options, this.service.settings.name, message)
      const reason = `${this.service.settings.name} did not let you in, or what it answered cannot be trusted: ${message}`
      throw new Fault(CREDENTIAL_INVALID, { reason }, { cause })
    }
    await attempt.succeed()
    const user = await this.userOf(request, found)
    const expires = Math.floor(now()) + END_LIFE
    const seal = formToken(accounts.secret, boundTo(found.browser, user.id, expires))
    const maxAge = END_LIFE / 1000
    const ticket = `${user.id}-${expires}-${seal}`
    reply.header(
      'set-cookie',
      setCookie('saml-end', ticket, { scope: cookieScope(this.options.base), maxAge }),
    )
    const next = localPath(form.get('RelayState'))
    const query = next === null ? '' : `?${new URLSearchParams({ next })}`
    return sendOn(keepPrivate(reply), `${rootOf(this.options)}${SAML_PATHS.end}${query}`)
  }

  /** Signs in the returning user, if it is the browser that began. Faults: CrossSiteRequest. */
  async end(request: FastifyRequest, reply: FastifyReply, given: string | undefined): Promise<FastifyReply> {
    const { accounts, now } = this.options
    const scope = cookieScope(this.options.base)
    const cookie = readCookie(request.headers, 'saml', scope) ?? ''
    const ticket = readCookie(request.headers, 'saml-end', scope) ?? ''
    const [, id, end, seal] = /^(\d{1,15})-(\d{1,15})-([\w-]+)$/.exec(ticket) ?? []
    const [user, expires] = [Number(id), Number(end)]
    const isOurs =
      expires > now() &&
      isFormToken(accounts.secret, boundTo(browserOf(nonceOf(cookie)), user, expires), seal) &&
      (await accounts.singleUse.consume(`saml end ${seal}`, expires))
    const found = isOurs ? await accounts.users.byId(user) : null
    if (found === null) return sendIfSignedIn(reply, this.options, given)
    reply.header('set-cookie', [
      await replaceSession(reply, this.options, found, `by ${this.service.settings.name} (SAML)`),
      clearedCookie(scope, 'saml'),
      clearedCookie(scope, 'saml-end'),
    ])
    const next = localPath(given) ?? localPath(unpacked(cookie.slice(NONCE_LENGTH)))
    return sendOn(reply, next ?? `${rootOf(this.options)}/account/`)
  }

  /** Each assertion and each request is valid once (SAML 2.0 Profiles, section 4.1.4.5). */
  private async useUp({ assertion, requestId: id, requestExpires }: SignedInElsewhere): Promise<void> {
    const { singleUse } = this.options.accounts
    const { issuer } = this.service.provider
    const isNew = await singleUse.consume(`saml assertion ${issuer} ${assertion.id}`, assertion.expires)
    if (!isNew || !(await singleUse.consume(`saml request ${id}`, requestExpires)))
      throw new Error('it was used before')
  }

  private async userOf(request: FastifyRequest, { subject, name, groups }: SignedInElsewhere) {
    const { identities } = this.options.accounts
    const { settings, provider } = this.service
    // A separate namespace from that of OpenID Connect: providers use one address for both.
    const issuer = `saml ${provider.issuer}`
    const user = await identities.user({ issuer, subject, name })
    await setGrantsOfGroups(request, this.options, user, { ...settings, issuer }, groups)
    return user
  }
}

/** The target of a sign-in in a cookie, which anybody can have changed. */
function unpacked(text: string): string | undefined {
  try {
    const bytes = Buffer.from(text, 'base64url')
    return inflateRawSync(bytes, { maxOutputLength: MAX_NEXT }).toString()
  } catch {
    return undefined
  }
}

/** A response, or why it cannot be opened. */
function openedOr(open: () => OpenedResponse): OpenedResponse | Error {
  try {
    return open()
  } catch (error) {
    return error as Error
  }
}

function nonceOf(cookie: string): string {
  return cookie.slice(0, NONCE_LENGTH)
}

function boundTo(browser: string, user: number, expires: number): string {
  return `saml end ${browser} ${user} ${expires}`
}

/** Bytes of a form with a response: 256 kB in base 64, percent-encoded in part. */
const MAX_FORM = 400 * 1024

/** The endpoints of sign-in by SAML 2.0, if the portal has an identity provider. */
export const samlRoutes: FastifyPluginAsync<AccountsOptions> = async (app, options) => {
  if (options.saml === undefined) return
  const signIn = new SamlSignIn(options.saml, options)
  acceptForms(app, MAX_FORM)
  const nextIn = (query: unknown) => singleFields(query as QueryParameters).get('next')
  app.get(SAML_PATHS.metadata, async (_, reply) => signIn.metadata(reply))
  app.get(SAML_PATH, async (request, reply) => signIn.begin(reply, localPath(nextIn(request.query))))
  app.post(SAML_PATHS.consumer, async (request, reply) =>
    signIn.consume(request, reply, readForm(request.body)),
  )
  app.get(SAML_PATHS.end, async (request, reply) => signIn.end(request, reply, nextIn(request.query)))
}
