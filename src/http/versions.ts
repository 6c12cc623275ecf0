import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { BAD_REQUEST, Fault, VERSION_UNKNOWN } from '../errors/errors.ts'
import { lookup } from '../model/lookup.ts'
import type { Principal } from '../model/principal.ts'
import './authenticate.ts'
import { varyBy } from './conditional.ts'

/** A published version of a dataset, and the moment since which it is served. */
export interface VersionMoment {
  readonly version: string
  /** ISO 8601. */
  readonly published: string
}

/** What requests for older versions need to know of datasets. */
export interface VersionSource {
  /**
   * The retained versions of a dataset, from the latest to the oldest. Faults: those of who may not see the dataset.
   */
  readonly list: (dataset: string, principal: Principal) => readonly VersionMoment[]
  /** Opens a version until it is released. Faults: VersionUnknown. */
  readonly open: (dataset: string, version: string) => Promise<{ readonly release: () => void }>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The version of the dataset that is asked for; null for the one in force. */
    version: string | null
    /** What the answer says of its versions. */
    versionNote: VersionNote | null
  }
}

export interface VersionNote {
  readonly dataset: string
  /** The version that is answered with; null for the one in force, whatever it is. */
  readonly memento: VersionMoment | null
  readonly retained: readonly VersionMoment[]
}

/** The parameter that names a version. */
export const VERSION_PARAMETER = 'version'

/** Header of the request that names a moment (RFC 7089, section 2.1.1). */
const ACCEPT_DATETIME = 'accept-datetime'

/**
 * Lets answers tell which version they are and where the others are (RFC 7089): to be called before anything that keeps
 * answers with their headers.
 */
export function addVersionHeaders(http: FastifyInstance, { base }: { readonly base: string }): void {
  http.decorateRequest('version', null)
  http.decorateRequest('versionNote', null)
  http.addHook<unknown>('onSend', (request, reply, payload, done) => {
    const note = request.versionNote
    if (note !== null && reply.statusCode < 400) reportVersion(request, reply, note, base)
    done(null, payload)
  })
}

/**
 * Lets the routes of an instance answer from older versions of the dataset that their parameter `dataset` names: with
 * `?version=`, and by Accept-Datetime, which is redirected to the address of the version of that moment. What an address means
 * without either is a TimeGate for itself (RFC 7089, section 4.1.1).
 *
 * Faults: BadRequest for a moment that is none, VersionUnknown.
 *
 * @param datasetOf tells the id of the dataset that a request names; null for none
 */
export function answerVersions(
  app: FastifyInstance,
  source: VersionSource,
  datasetOf: (request: FastifyRequest) => string | null = datasetNamed,
): void {
  app.addHook('preHandler', async (request, reply) => {
    const dataset = datasetOf(request)
    if (dataset === null) return
    const given = lookup(request.query as Readonly<Record<string, unknown>>, VERSION_PARAMETER)
    const moment = request.headers[ACCEPT_DATETIME]
    if (given === undefined || given === '') {
      if (typeof moment === 'string' && (request.method === 'GET' || request.method === 'HEAD'))
        return redirect(request, reply, dataset, momentOf(moment), source)
      request.versionNote = { dataset, memento: null, retained: [] }
      return
    }
    if (typeof given !== 'string')
      throw new Fault(BAD_REQUEST, { reason: `${VERSION_PARAMETER} may be given once.` })
    const retained = source.list(dataset, request.principal)
    const opened = await source.open(dataset, given)
    reply.raw.once('close', opened.release)
    request.version = given
    const memento = retained.find(({ version }) => version === given) ?? null
    request.versionNote = { dataset, memento, retained }
  })
}

/** The id in the path, without the suffix of a document; null where there is none. */
function datasetNamed({ params }: FastifyRequest): string | null {
  const { dataset } = params as { readonly dataset?: string }
  return dataset === undefined ? null : (dataset.split('.', 1)[0] as string)
}

/** Milliseconds since 1970. Faults: BadRequest. */
function momentOf(text: string): number {
  const moment = Date.parse(text)
  const isHttpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)
  if (isHttpDate && !Number.isNaN(moment)) return moment
  throw new Fault(BAD_REQUEST, {
    reason: `Accept-Datetime is ${JSON.stringify(text.slice(0, 60))}: a moment such as Tue, 20 Jan 2026 09:30:00 GMT is expected (RFC 7089, section 2.1).`,
  })
}

/** The version that was in force at a moment; the first one for what was before all of them. */
function versionAt(retained: readonly VersionMoment[], moment: number): VersionMoment | undefined {
  return retained.find(({ published }) => secondOf(published) <= moment) ?? retained.at(-1)
}

/** Moments of HTTP have whole seconds. */
function secondOf(published: string): number {
  return Math.floor(Date.parse(published) / 1000) * 1000
}

function redirect(
  request: FastifyRequest,
  reply: FastifyReply,
  dataset: string,
  moment: number,
  source: VersionSource,
): FastifyReply {
  const retained = source.list(dataset, request.principal)
  const found = versionAt(retained, moment)
  if (found === undefined)
    throw new Fault(VERSION_UNKNOWN, { id: dataset, version: 'at that time', retained: '' })
  request.versionNote = { dataset, memento: null, retained }
  const target = request.raw.url ?? request.url
  return reply
    .code(302)
    .header('location', withVersion(target.replace(/^https?:\/\/[^/]*/i, ''), found.version))
    .header('cache-control', 'no-cache')
    .type('text/plain; charset=utf-8')
    .send(`The version of that time is ${found.version}.\n`)
}

/** A target of a request as one of a version. */
export function withVersion(target: string, version: string): string {
  const original = withoutVersion(target)
  return `${original}${original.includes('?') ? '&' : '?'}${VERSION_PARAMETER}=${encodeURIComponent(version)}`
}

/** A target of a request as one of whatever version is in force. */
export function withoutVersion(target: string): string {
  const at = target.indexOf('?')
  if (at < 0) return target
  const parts = target.slice(at + 1).split('&')
  const others = parts.filter(part => part.split('=', 1)[0] !== VERSION_PARAMETER)
  return others.length === 0 ? target.slice(0, at) : `${target.slice(0, at)}?${others.join('&')}`
}

/** Sets Memento-Datetime and the links of RFC 7089, section 2.2. */
function reportVersion(request: FastifyRequest, reply: FastifyReply, note: VersionNote, base: string): void {
  varyBy(reply, 'Accept-Datetime')
  const { memento, retained, dataset } = note
  const isRedirected = reply.statusCode === 302
  if (memento === null && !isRedirected) return
  const { origin } = new URL(base)
  const target = (request.raw.url ?? request.url).replace(/[^!-;=?-~]/g, encodeURIComponent)
  const original = origin + withoutVersion(target)
  const address = (version: string) => origin + withVersion(target, version)
  const links = [
    `<${original}>; rel="original timegate"`,
    `<${timeMapAddress(base, dataset, original)}>; rel="timemap"; type="application/link-format"`,
    ...neighbours(retained, memento).map(
      ([rel, { version, published }]) =>
        `<${address(version)}>; rel="${rel}"; datetime="${new Date(published).toUTCString()}"`,
    ),
  ]
  const before = reply.getHeader('link')
  reply.header('link', [...(before === undefined ? [] : [String(before)]), ...links].join(', '))
  if (memento === null || reply.statusCode >= 300) return
  reply.header('memento-datetime', new Date(memento.published).toUTCString())
  const exposed = String(reply.getHeader('access-control-expose-headers') ?? '')
  if (!exposed.includes('Memento-Datetime'))
    reply.header('access-control-expose-headers', `${exposed}, Memento-Datetime`)
}

/** Where the TimeMap of an address is (RFC 7089, section 5). */
export function timeMapAddress(base: string, dataset: string, original: string): string {
  return `${base}/api/versions/${dataset}/timemap?uri=${encodeURIComponent(original)}`
}

/** The first and last versions and those around one, each with all of its relations. */
function neighbours(
  retained: readonly VersionMoment[],
  of: VersionMoment | null,
): readonly (readonly [rel: string, VersionMoment])[] {
  const at = of === null ? -1 : retained.findIndex(({ version }) => version === of.version)
  return retained.flatMap((each, index) => {
    const names = [
      ...(index === retained.length - 1 ? ['first'] : []),
      ...(index === 0 ? ['last'] : []),
      ...(at >= 0 && index === at + 1 ? ['prev'] : []),
      ...(at >= 0 && index === at - 1 ? ['next'] : []),
      ...(index === at ? [''] : []),
    ].filter(name => name !== '' || index === at)
    if (names.length === 0) return []
    return [[[...names.filter(name => name !== ''), 'memento'].join(' '), each] as const]
  })
}
