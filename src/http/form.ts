import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { BAD_REQUEST, Fault } from '../errors/errors.ts'
import { parseForm, type QueryParameters, refuseDamaged } from './query-string.ts'

/** The fields of a form, each at most once. */
export type Form = ReadonlyMap<string, string>

/** Maximum bytes of a form. */
const MAX_BYTES = 16 * 1024

export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Makes the routes of an instance accept forms, of at most 16 kB by default, and no other bodies. */
export function acceptForms(app: FastifyInstance, bodyLimit: number = MAX_BYTES): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer', bodyLimit }, (_, body, done) => {
    done(null, body)
  })
}

/** Reads the body of a request as a form. Faults: BadRequest for a repeated field, and for a broken encoding. */
export function readForm(body: unknown): Form {
  return singleFields(readFields(body))
}

/** Reads the body of a request as a form, repeated fields as lists. Faults: BadRequest for a broken encoding. */
export function readFields(body: unknown): QueryParameters {
  if (!Buffer.isBuffer(body)) return {}
  const fields = parseForm(textOfBody(body))
  refuseDamaged(fields)
  return fields
}

/**
 * Parameters that are each given once (RFC 6749, section 3.1). Faults: BadRequest for one that is given twice.
 */
export function singleFields(fields: QueryParameters): Form {
  const single = new Map<string, string>()
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'string')
      throw new Fault(BAD_REQUEST, { reason: `The parameter ${name.slice(0, 40)} is given more than once.` })
    single.set(name, value)
  }
  return single
}

/** The body of a request as text. Faults: BadRequest if it is not UTF-8. */
export function textOfBody(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw new Fault(BAD_REQUEST, { reason: 'The body of the request is not UTF-8.' })
  }
}

/**
 * Makes the GET routes of an instance accept POST as well, for forms that carry an access token (RFC 6750, section 2.2);
 * the hooks that all routes share ensure that they carry nothing else.
 */
export function answerForms(app: FastifyInstance): void {
  acceptForms(app)
  app.addHook(
    'onRoute',
    function (this: FastifyInstance, route: RouteOptions & { readonly routePath?: string }) {
      const methods = Array.isArray(route.method) ? route.method : [route.method]
      if (!methods.includes('GET')) return
      // The root of a prefix has an empty path, for which `route.url` would repeat the prefix.
      const { routePath = route.url } = route
      this.route({ ...route, url: routePath === '' ? '/' : routePath, method: 'POST' })
    },
  )
}

/** Bytes of a salt that makes every token different, so that compression of pages reveals nothing of it (BREACH). */
const SALT = 12

/**
 * The CSRF token of a form: other sites cannot forge one, for they cannot read our pages.
 *
 * @param bound what the form belongs to: the token of a session, or of the cookie of the sign-in form
 */
export function formToken(secret: Buffer, bound: string, salt: Buffer = randomBytes(SALT)): string {
  return Buffer.concat([salt, seal(secret, bound, salt)]).toString('base64url')
}

/** True if a token is bound to the same value; compared in constant time. */
export function isFormToken(secret: Buffer, bound: string, given: string | undefined): boolean {
  const bytes = Buffer.from(given ?? '', 'base64url')
  const expected = seal(secret, bound, bytes.subarray(0, SALT))
  const found = bytes.subarray(SALT)
  return found.length === expected.length && timingSafeEqual(found, expected)
}

function seal(secret: Buffer, bound: string, salt: Buffer): Buffer {
  return createHmac('sha256', secret).update('form\n').update(salt).update(bound).digest()
}

/**
 * False if a browser reports that a form was sent from another site. Browsers send the origin with every posted form;
 * programs need not. The origin is ours if it is that of the base address, or of the requested address.
 */
export function isOwnOrigin(headers: IncomingHttpHeaders, base: string): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const url = new URL(origin)
  if (url.origin === new URL(base).origin) return true
  const requested = `${url.protocol}//${host}`
  return host !== undefined && URL.canParse(requested) && url.host === new URL(requested).host
}

/** Longer paths are rejected. */
const MAX_LENGTH = 8000

/**
 * The path, with its query, that a user is redirected to after signing in; null for what could lead to another site:
 * anything but one slash at the beginning, backslashes and control characters, which browsers read as slashes or drop,
 * and paths that begin with two slashes once their dots are resolved.
 */
export function localPath(given: string | undefined): string | null {
  if (given === undefined || given.length > MAX_LENGTH || !/^\/(?![/\\])[^\\]*$/.test(given)) return null
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0020\u007f-\u009f]/.test(given)) return null
  const url = URL.canParse(given, HERE) ? new URL(given, HERE) : null
  if (url?.origin !== HERE || url.pathname.startsWith('//')) return null
  return url.pathname + url.search
}

const HERE = 'http://here.invalid'
