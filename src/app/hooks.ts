import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type MaybePromise, thenMaybe } from '../accounts/database.ts'
import { ACCOUNTS_UNAVAILABLE } from '../accounts/faults.ts'
import { BAD_REQUEST, Fault, isFault, METHOD_NOT_ALLOWED, UNAUTHORISED } from '../errors/errors.ts'
import { type Authenticate, CREDENTIAL_PARAMETERS, namesCredentials, showsKey } from '../http/authenticate.ts'
import { codedTag, finishConditional, varyBy } from '../http/conditional.ts'
import {
  type Coding,
  compressBody,
  compressStream,
  isCompressible,
  isLongEnough,
  preferredCoding,
} from '../http/content-coding.ts'
import type { CallTaker } from '../http/daily-quota.ts'
import { FORM_TYPE } from '../http/form.ts'
import { countCall } from '../http/observe.ts'
import { parseForm, type QueryParameters, refuseDamaged } from '../http/query-string.ts'
import type { RateLimit } from '../http/rate-limit.ts'
import { ANONYMOUS, type Principal } from '../model/principal.ts'
import { signInPage } from '../site/account-page.ts'
import { pageContextOf, type SiteOptions } from '../site/page-context.ts'

export interface HookOptions {
  /** True if every request needs credentials. */
  readonly isPrivate: boolean
  readonly authenticate: Authenticate
  readonly quotas: CallTaker
  /** Charges work to clients; without it no client is limited. */
  readonly rateLimit?: RateLimit
  /** True if the portal is reached by TLS: browsers then get Strict-Transport-Security (RFC 6797). */
  readonly isSecure?: boolean
  /** The caller's address. */
  readonly address: (message: IncomingMessage) => string
  /** The portal whose sign-in page browsers are sent to; without it they get the same answers as programs. */
  readonly site?: SiteOptions
}

/**
 * Adds the hooks that all routes of an instance share: methods, CORS with preflights, authentication, access, quotas,
 * refusal of undecodable addresses, compression, and bodies left out for 304 and HEAD. They depend on the configuration of
 * the route.
 */
export function addHooks(http: FastifyInstance, options: HookOptions): void {
  const { isSecure = false } = options
  http.addHook('onRequest', (request, reply, done) => {
    request.principal = ANONYMOUS
    refuseTwoHosts(request.raw)
    if (isSecure) reply.header('strict-transport-security', STRICT_TRANSPORT)
    reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', EXPOSED)
    const { method } = request
    const { config } = request.routeOptions
    const isSigningIn = config.access === 'signIn'
    const methods = config.allow ?? METHODS[config.methods ?? 'read']
    if (method === 'OPTIONS') {
      reply.code(204).headers(preflight(request.headers['access-control-request-headers']))
      reply.headers({ allow: methods, 'access-control-allow-methods': methods }).send()
      return
    }
    if (!isSigningIn && mayCarryToken(request)) {
      // A form may carry credentials: authentication continues when it is read.
      refuseDamaged(request.query)
      done()
      return
    }
    const answered = isSigningIn ? recognise(request, options) : admit(request, reply, options, null)
    goOn(answered, done, () => {
      if (!methods.split(', ').includes(method)) {
        const unbuilt = config.unbuilt?.(request) ?? null
        if (unbuilt !== null) throw unbuilt
        reply.header('allow', methods)
        const allowed = config.allow ?? (config.methods === 'forms' ? 'GET or POST' : 'GET')
        throw new Fault(METHOD_NOT_ALLOWED, { method, allowed })
      }
      refuseDamaged(request.query)
    })
  })
  http.addHook('preHandler', (request, reply, done) => {
    const { access, methods } = request.routeOptions.config
    if (!mayCarryToken(request) || access === 'signIn') {
      done()
      return
    }
    const form = Buffer.isBuffer(request.body) ? parseForm(request.body.toString('utf8')) : {}
    goOn(admit(request, reply, options, form), done, () => {
      if (methods !== 'forms') refuseOtherFields(form, reply)
    })
  })
  const { site } = options
  if (site !== undefined)
    http.addHook<unknown>('onSend', (request, reply, payload, done) => {
      done(null, isSentToSignIn(request, reply) ? signInInstead(request, reply, site) : payload)
    })
  http.addHook<unknown>('onSend', onSend)
}

/** A proxy may have decided by the other one (RFC 9112, section 3.2). Faults: BadRequest. */
function refuseTwoHosts({ rawHeaders }: IncomingMessage): void {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts++
  if (hosts > 1) throw new Fault(BAD_REQUEST, { reason: 'The request has several Host headers.' })
}

/** True if a browser without credentials requests something that is not public. */
function isSentToSignIn(request: FastifyRequest, { statusCode }: FastifyReply) {
  const { method, headers, principal, routeOptions } = request
  return (
    statusCode === 401 &&
    // Pages of signing in show their own reason.
    routeOptions.config.access !== 'signIn' &&
    method === 'GET' &&
    principal?.type === 'anonymous' &&
    !showsKey(request) &&
    headers.accept?.includes('text/html') === true
  )
}

function signInInstead(request: FastifyRequest, reply: FastifyReply, site: SiteOptions): string {
  const pageContext = pageContextOf(request, site)
  const { text, policy } = signInPage(pageContext)
  reply.removeHeader('content-length').header('content-security-policy', policy)
  reply.header('content-language', pageContext.language).type('text/html; charset=utf-8')
  varyBy(reply, 'Accept', 'Accept-Language', 'Cookie')
  return text
}

/** Ends a hook once it is known whether the request is answered: synchronously if that is known synchronously. */
function goOn(answered: MaybePromise<boolean>, done: (error?: Error) => void, next: () => void): void {
  const settled = thenMaybe(answered, isAnswered => {
    if (!isAnswered) next()
    return isAnswered
  })
  if (settled instanceof Promise)
    settled.then(isAnswered => {
      if (!isAnswered) done()
    }, done)
  else if (!settled) done()
}

/** Authenticates a user on sign-in routes: only by the cookie. It never answers the request. */
function recognise(request: FastifyRequest, { authenticate }: HookOptions): MaybePromise<false> {
  const requested = { headers: withoutAuthorization(request.headers), query: {} }
  return thenMaybe(authenticate(requested), principal => {
    request.principal = principal
    return false as const
  })
}

/**
 * Authenticates a request and applies its quota. Faults: those of authentication, Unauthorised on a private portal.
 *
 * @returns true if the request was answered
 */
function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  { isPrivate, authenticate, quotas, rateLimit, address }: HookOptions,
  form: QueryParameters | null,
): MaybePromise<boolean> {
  const { access, isCounted } = request.routeOptions.config
  const count = () => {
    if (isCounted === true) countCall(request, reply, quotas, address(request.raw))
  }
  const enter = (principal: Principal): MaybePromise<boolean> => {
    request.principal = principal
    count()
    if (access === 'everybody') return false
    if (isPrivate && access !== 'session' && principal.type === 'anonymous')
      throw new Fault(UNAUTHORISED, { what: 'This portal is private' })
    return thenMaybe(rateLimit?.admit(request, reply, principal), () => false)
  }
  const refuse = (error: unknown): boolean => {
    const isUnknown = isFault(error, ACCOUNTS_UNAVAILABLE)
    if (isUnknown && access === 'everybody') return false
    // A wrong credential counts as a call of its client.
    count()
    throw error
  }
  let found: MaybePromise<Principal>
  try {
    found = authenticate(request, form)
  } catch (error) {
    return refuse(error)
  }
  return found instanceof Promise ? found.then(enter, refuse) : enter(found)
}

function withoutAuthorization({ authorization: _, ...headers }: FastifyRequest['headers']) {
  return headers
}

/** True for a form; for editing clients the type says nothing, because it is the default of curl. */
function mayCarryToken({ method, headers, routeOptions }: FastifyRequest): boolean {
  if (method !== 'POST' || routeOptions.config.methods === 'edit') return false
  return headers['content-type']?.toLowerCase().startsWith(FORM_TYPE) === true
}

/** GET routes accept a form only for an access token (RFC 6750, section 2.2). */
function refuseOtherFields(form: QueryParameters, reply: FastifyReply): void {
  if (!namesCredentials(form)) {
    reply.header('allow', METHODS.read)
    throw new Fault(METHOD_NOT_ALLOWED, { method: 'POST', allowed: 'GET' })
  }
  const other = Object.keys(form).find(name => !Object.hasOwn(CREDENTIAL_PARAMETERS, name))
  if (other === undefined) return
  const reason = `The form has the field ${other.slice(0, 40)}: it may have access_token alone, and the address has the rest.`
  throw new Fault(BAD_REQUEST, { reason })
}

/** Marks answers to authenticated requests as private (RFC 9111, section 5.2.2.7). */
function keepPrivate({ principal }: FastifyRequest, reply: FastifyReply): void {
  if (principal?.type !== 'user') return
  const before = String(reply.getHeader('cache-control') ?? 'no-cache')
  const rest = before.split(/, */).filter(part => part !== 'public' && part !== 'private')
  reply.header('cache-control', ['private', ...rest].join(', '))
  varyBy(reply, 'Authorization')
  if (principal.by === 'session') varyBy(reply, 'Cookie')
}

type Done = (error: Error | null, payload?: unknown) => void

function onSend(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  finishConditional(request, reply)
  keepPrivate(request, reply)
  const isEmpty = reply.statusCode === 304 || payload === undefined || payload === null
  if (!isEmpty) reply.header('x-content-type-options', 'nosniff')
  const coding = isEmpty ? null : settleCoding(request, reply, payload)
  if (isEmpty || (request.method === 'HEAD' && payload instanceof Readable))
    done(null, withoutBody(request, payload))
  else if (coding === null) done(null, payload)
  else if (payload instanceof Readable) done(null, compressStream(payload, coding))
  else compressBody(payload as string | Buffer, coding, done)
}

/** Negotiates the coding of a body, null for none, and sets the headers accordingly. */
function settleCoding(request: FastifyRequest, reply: FastifyReply, payload: unknown): Coding | null {
  const contentType = reply.getHeader('content-type')
  if (typeof contentType !== 'string' || !isCompressible(contentType)) return null
  if (reply.hasHeader('content-encoding') || !isLong(contentType, payload)) return null
  varyBy(reply, 'Accept-Encoding')
  const coding = preferredCoding(request.headers['accept-encoding'])
  if (coding === null) return null
  reply.header('content-encoding', coding).removeHeader('content-length')
  const tag = reply.getHeader('etag')
  if (typeof tag === 'string') reply.header('etag', codedTag(tag, coding))
  return coding
}

function isLong(contentType: string, payload: unknown): boolean {
  if (payload instanceof Readable) return true
  return (typeof payload === 'string' || Buffer.isBuffer(payload)) && isLongEnough(contentType, payload)
}

/** The payload of an answer without a body; the source of the body is destroyed. */
function withoutBody(request: FastifyRequest, payload: unknown): Readable | null {
  if (payload instanceof Readable) payload.destroy()
  // For HEAD the framework adds the length of the payload, except for a stream.
  return request.method === 'HEAD' ? Readable.from([]) : null
}

/** Browsers use only TLS for a year (RFC 6797, section 6.1); subdomains are not included. */
export const STRICT_TRANSPORT = 'max-age=31536000'

/** The methods of routes, by their configuration. */
export const METHODS = {
  read: 'GET, HEAD, OPTIONS',
  forms: 'GET, HEAD, POST, OPTIONS',
  edit: 'GET, HEAD, POST, PUT, DELETE, OPTIONS',
} as const

export const EXPOSED =
  'ETag, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy, RateLimit, Server-Timing, Content-Disposition, Link, Retry-After'

/** Headers that known clients of the APIs send. */
const ALLOWED =
  'Authorization, If-None-Match, Accept, Accept-Language, Accept-Datetime, Content-Type, ODS-API-Analytics-App, ODS-Widgets-Version'
const ALLOWED_NAMES: ReadonlySet<string> = new Set(ALLOWED.toLowerCase().split(', '))

/** Maximum number of further names that a preflight may request, and of characters of each. */
const MAX_REQUESTED = 20
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,60}$/

/**
 * The answer to a preflight. Every header is allowed, since no answer is readable by virtue of a cookie: the allowed
 * origin is `*`, with which browsers send no credentials of their own (Fetch standard, "CORS protocol and credentials").
 */
export function preflight(requested: string | undefined) {
  const names = (requested ?? '').split(',').map(name => name.trim())
  const others = names.filter(name => HEADER_NAME.test(name) && !ALLOWED_NAMES.has(name.toLowerCase()))
  return {
    'access-control-allow-headers': [ALLOWED, ...others.slice(0, MAX_REQUESTED)].join(', '),
    'access-control-max-age': '86400',
    vary: 'Access-Control-Request-Headers',
  }
}
