import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import type { Configuration, IDToken } from 'openid-client'
import type { SignInProvider } from '../../config/derived.ts'
import { BAD_GATEWAY, Fault } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { ASSERTION_LIMITS, Attempts } from '../../http/attempts.ts'
import { CREDENTIAL_INVALID } from '../../http/authenticate.ts'
import { localPath } from '../../http/form.ts'
import { clearedCookie, cookieScope, readCookie, setCookie } from '../../http/session-cookie.ts'
import { lookup } from '../../model/lookup.ts'
import { type AccountsOptions, rootOf, sendOn } from '../../site/signed-in.ts'
import { replaceSession } from './begin-session.ts'
import { sendLogin } from './login-page.ts'
import {
  failureReason,
  noteFailure,
  OPENID_SIGN_IN_PATH,
  refuseBlocked,
  sendIfSignedIn,
  setGrantsOfGroups,
} from './provider.ts'

const CALLBACK_PATH = `${OPENID_SIGN_IN_PATH}/callback`

/** Seconds that a user has to sign in at the provider. */
const TIMEOUT = 600

/**
 * Signs users in at a provider of OpenID Connect (OpenID Connect Core 1.0, section 3.1) with state, nonce and PKCE. These are
 * derived from a cookie of the browser and the secret of the portal: any of several servers can complete a sign-in that
 * another began.
 */
export class OpenIdSignIn {
  private readonly provider: SignInProvider
  private readonly options: AccountsOptions
  private readonly attempts: Attempts
  private found: Promise<Configuration> | null = null

  constructor(provider: SignInProvider, options: AccountsOptions) {
    this.provider = provider
    this.options = options
    this.attempts = new Attempts(ASSERTION_LIMITS, options.accounts.failures, options.now)
  }

  /** Redirects a user to the provider. Faults: BadGateway if it does not answer. */
  async begin(reply: FastifyReply, next: string | null): Promise<FastifyReply> {
    const client = await import('openid-client')
    const configuration = await this.configuration().catch(fault => {
      const reason = failureReason(fault.cause)
      reply.log.warn({ provider: this.provider.name, reason }, 'sign-in failed')
      throw fault
    })
    const scope = cookieScope(this.options.base)
    // Another tab may be signing in, too.
    const cookie = readCookie(reply.request.headers, 'openid', scope) ?? randomBytes(24).toString('base64url')
    const address = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.redirectUri(),
      scope: ['openid', ...this.provider.scopes].join(' '),
      response_type: 'code',
      state: this.state(cookie, next ?? ''),
      nonce: this.secretOf(cookie, 'nonce'),
      code_challenge: await client.calculatePKCECodeChallenge(this.secretOf(cookie, 'verifier')),
      code_challenge_method: 'S256',
    })
    reply.header('set-cookie', setCookie('openid', cookie, { scope, maxAge: TIMEOUT }))
    return sendOn(reply, address.href)
  }

  /**
   * Signs in a user who returns from the provider. If that fails, the sign-in page shows why, and leads to the page that the
   * user wanted. A user who has ended the session there returns here, too. Faults: CrossSiteRequest, TooManyAttempts.
   */
  async end(reply: FastifyReply): Promise<FastifyReply> {
    const { accounts, now } = this.options
    const { request } = reply
    const scope = cookieScope(this.options.base)
    const cookie = readCookie(request.headers, 'openid', scope)
    const given = new URL(request.url, this.options.base).searchParams
    if (!given.has('code') && !given.has('error')) return this.sendOut(reply)
    const next = cookie === null ? null : this.nextOf(cookie, given.get('state') ?? '')
    if (cookie === null || next === null)
      return sendIfSignedIn(reply, this.options, targetIn(given.get('state') ?? ''))
    const address = this.options.address(request)
    const attempt = await this.attempts.begin(cookie, address)
    refuseBlocked(attempt, reply, now())
    const { issuer, name: provider } = this.provider
    let claims: IDToken
    try {
      claims = await this.redeem(given, cookie)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      await noteFailure(request, this.options, provider, failureReason(error.cause))
      // A scheme that no browser requests by itself (RFC 9110, section 11.6.1).
      reply.headers({ 'www-authenticate': 'Form', 'set-cookie': clearedCookie(scope, 'openid') })
      const { message: problem, status } = error
      return sendLogin(reply, this.options, { next: localPath(next), problem, status })
    }
    await attempt.withdraw()
    const user = await accounts.identities.user({ issuer, subject: claims.sub, name: nameOf(claims) })
    await setGrantsOfGroups(request, this.options, user, this.provider, this.groupsIn(claims))
    reply.header('set-cookie', [
      await replaceSession(reply, this.options, user, `by ${provider}`),
      clearedCookie(scope, 'openid'),
    ])
    return sendOn(reply, localPath(next) ?? `${rootOf(this.options)}/account/`)
  }

  async canLogOut(user: number): Promise<boolean> {
    if (!(await this.options.accounts.identities.isLinked(user, this.provider.issuer))) return false
    const configuration = await ignoreRejection(this.configuration(), 'a sign-in reports it')
    return configuration?.serverMetadata().end_session_endpoint !== undefined
  }

  /** Redirects to the provider, which ends the session there (RP-Initiated Logout 1.0). Faults: BadGateway. */
  async logOut(reply: FastifyReply): Promise<FastifyReply> {
    const client = await import('openid-client')
    const configuration = await this.configuration()
    if (configuration.serverMetadata().end_session_endpoint === undefined) return this.sendOut(reply)
    // The redirect URI, for some providers accept no address that is not registered, or need not be given another one.
    const back = { post_logout_redirect_uri: this.redirectUri() }
    return sendOn(reply, client.buildEndSessionUrl(configuration, back).href)
  }

  private sendOut(reply: FastifyReply): FastifyReply {
    return sendOn(reply, `${rootOf(this.options)}/account/login/?out=1`)
  }

  private async redeem(given: URLSearchParams, cookie: string): Promise<IDToken> {
    const client = await import('openid-client')
    const found = this.configuration()
    const configuration = await found
    const address = new URL(`${this.redirectUri()}?${given}`)
    try {
      const tokens = await client.authorizationCodeGrant(configuration, address, {
        pkceCodeVerifier: this.secretOf(cookie, 'verifier'),
        expectedState: given.get('state') ?? '',
        expectedNonce: this.secretOf(cookie, 'nonce'),
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('there is no ID token')
      // Many providers report name and groups only there.
      const isRequested = configuration.serverMetadata().userinfo_endpoint !== undefined
      const more = isRequested
        ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : {}
      return { ...claims, ...more } as IDToken
    } catch (cause) {
      // The secret or the endpoints may have changed since.
      if (this.found === found) this.found = null
      const reason = `${this.provider.name} did not let you in, or what it answered cannot be trusted: ${failureReason(cause)}`
      throw new Fault(CREDENTIAL_INVALID, { reason }, { cause })
    }
  }

  /**
   * The groups of a user. Null if the provider says that there are too many for a token (`hasgroups` of Entra ID), or that they
   * are elsewhere (Core 1.0, section 5.6.2).
   */
  private groupsIn(claims: IDToken): readonly string[] | null {
    const found = lookup(claims, this.provider.groupsClaim)
    const elsewhere = claims._claim_names as Readonly<Record<string, unknown>> | null | undefined
    const isElsewhere = lookup(elsewhere ?? {}, this.provider.groupsClaim) !== undefined
    if (found === undefined && (isElsewhere || String(claims.hasgroups) === 'true')) return null
    return [found].flat().filter(name => typeof name === 'string')
  }

  /** The metadata of the provider (OpenID Connect Discovery 1.0) and our secret: read once, and again after a failed sign-in. */
  private configuration(): Promise<Configuration> {
    this.found ??= this.discover().catch(cause => {
      this.found = null
      const reason = `${this.provider.name}, where people sign in, cannot be reached: ${failureReason(cause)}`
      throw new Fault(BAD_GATEWAY, { reason }, { cause })
    })
    return this.found
  }

  private async discover(): Promise<Configuration> {
    const client = await import('openid-client')
    const { issuer, clientId, clientSecretFile } = this.provider
    const secret = clientSecretFile === undefined ? undefined : firstLine(clientSecretFile)
    const authentication = secret === undefined ? client.None() : client.ClientSecretBasic(secret)
    const find = (address: URL) => {
      const execute = isThisMachine(address) ? [client.allowInsecureRequests] : []
      return client.discovery(address, clientId, undefined, authentication, { execute, timeout: 10 })
    }
    const address = new URL(issuer)
    return find(address).catch(async error => {
      // Providers differ in whether their name ends with a slash, and both have the same address of metadata.
      if (!isOtherName(error) || address.pathname === '/') throw error
      return find(new URL(issuer.endsWith('/') ? issuer.slice(0, -1) : `${issuer}/`)).catch(() => {
        throw error
      })
    })
  }

  private redirectUri(): string {
    return `${this.options.base}${CALLBACK_PATH}`
  }

  private secretOf(cookie: string, purpose: 'state' | 'nonce' | 'verifier', more = ''): string {
    const { secret } = this.options.accounts
    return createHmac('sha256', secret).update(`openid ${purpose}\n${cookie}\n${more}`).digest('base64url')
  }

  /** The state parameter, which contains the next address, sealed. */
  private state(cookie: string, next: string): string {
    return `${this.secretOf(cookie, 'state', next)}.${Buffer.from(next).toString('base64url')}`
  }

  /** The next address in a state; null if the state does not belong to the cookie. */
  private nextOf(cookie: string, state: string): string | null {
    const next = targetIn(state)
    const [found, expected] = [Buffer.from(state), Buffer.from(this.state(cookie, next))]
    return found.length === expected.length && timingSafeEqual(found, expected) ? next : null
  }
}

function targetIn(state: string): string {
  return Buffer.from(state.split('.')[1] ?? '', 'base64url').toString()
}

function nameOf(claims: IDToken): string {
  for (const name of ['preferred_username', 'email', 'name']) {
    const value = lookup(claims, name)
    if (typeof value === 'string' && value.trim() !== '') return value.trim()
  }
  return claims.sub
}

function firstLine(file: string): string {
  return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] ?? ''
}

/** True for an error of metadata whose issuer is not the one that was asked for. */
function isOtherName(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'
}

/** True for addresses without TLS that cannot be intercepted. */
function isThisMachine({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
