import './authenticate.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { BAD_REQUEST, Fault, VERSION_UNKNOWN } from '../errors/errors.ts'
import { lookup } from '../model/lookup.ts'
import type { Principal } from '../model/principal.ts'
import { onceClosed } from './client-budget.ts'
import { varyBy } from './conditional.ts'
import { addressForLinks } from './query-string.ts'

/** A published version of a dataset, and when it was published. */
export interface VersionMoment {
  readonly version: string
  /** ISO 8601. */
  readonly published: string
}

/** What requests for older versions need to know of datasets. */
export interface VersionSource {
  /** Public address of the portal. */
  readonly base: string
  /**
   * The retained versions of a dataset, from the latest to the oldest. Throws the access fault if the dataset is hidden.
   */
  readonly list: (dataset: string, principal: Principal) => readonly VersionMoment[]
  /** Opens a version that the principal may see until it is released. Faults: VersionUnknown. */
  readonly open: (
    dataset: string,
    version: string,
    principal: Principal,
  ) => Promise<{ readonly release: () => void }>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The requested version of the dataset; null for the current one. */
    version: string | null
    /** The versions that the answer links to. */
    versionNote: VersionNote | null
  }
}

export interface VersionNote {
  readonly dataset: string
  /** The version of the answer; null for the current one, whichever it is. */
  readonly memento: VersionMoment | null
  readonly retained: readonly VersionMoment[]
}

/** The parameter that names a version. */
export const VERSION_PARAMETER = 'version'

/** Request header with a date and time (RFC 7089, section 2.1.1). */
const ACCEPT_DATETIME = 'accept-datetime'

/**
 * Adds headers that describe the version of an answer and link to others (RFC 7089): to be called before anything that caches
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
 * Lets the routes of an instance answer from older versions of the dataset in their parameter `dataset`: with
 * `?version=`, and by Accept-Datetime, which redirects to the address of the version of that time. An address
 * without either is its own TimeGate (RFC 7089, section 4.1.1).
 *
 * Faults: BadRequest for an invalid date, VersionUnknown.
 *
 * @param datasetOf returns the id of the dataset of a request; null for none
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
    const opened = await source.open(dataset, given, request.principal)
    onceClosed(reply.raw, opened.release)
    request.version = given
    const memento = retained.find(({ version }) => version === given) ?? null
    request.versionNote = { dataset, memento, retained }
  })
}

/** The id in the path, without the suffix of a document; null if there is none. */
function datasetNamed({ params }: FastifyRequest): string | null {
  const { dataset } = params as { readonly dataset?: string }
  return dataset === undefined ? null : (dataset.split('.', 1)[0] as string)
}

/** Milliseconds since 1970. Faults: BadRequest. */
function momentOf(text: string): number {
  const moment = Date.parse(text)
  // What is written back differs for days that do not exist, and for wrong days of the week.
  if (!Number.isNaN(moment) && new Date(moment).toUTCString() === text) return moment
  throw new Fault(BAD_REQUEST, {
    reason: `Accept-Datetime is ${JSON.stringify(text.slice(0, 60))}: a moment such as Tue, 20 Jan 2026 09:30:00 GMT is expected (RFC 7089, section 2.1).`,
  })
}

function redirect(
  request: FastifyRequest,
  reply: FastifyReply,
  dataset: string,
  moment: number,
  { base, list }: VersionSource,
): FastifyReply {
  const retained = list(dataset, request.principal)
  // Dates of HTTP have whole seconds.
  const isBefore = ({ published }: { readonly published: string }) =>
    Math.floor(Date.parse(published) / 1000) * 1000 <= moment
  const found = retained.find(isBefore) ?? retained.at(-1)
  if (found === undefined)
    throw new Fault(VERSION_UNKNOWN, { id: dataset, version: 'at that time', retained: '' })
  request.versionNote = { dataset, memento: null, retained }
  const target = request.raw.url ?? request.url
  const root = new URL(base).pathname.replace(/\/+$/, '')
  return reply
    .code(302)
    .header('location', root + withVersion(target, found.version))
    .header('cache-control', 'no-cache')
    .type('text/plain; charset=utf-8')
    .send(`The version of that time is ${found.version}.\n`)
}

/** A request target with the parameter of a version. */
export function withVersion(target: string, version: string): string {
  const original = withoutVersion(target)
  return `${original}${original.includes('?') ? '&' : '?'}${VERSION_PARAMETER}=${encodeURIComponent(version)}`
}

/** A request target without the parameter of a version. */
export function withoutVersion(target: string): string {
  const at = target.indexOf('?')
  if (at < 0) return target
  const parts = target.slice(at + 1).split('&')
  const others = parts.filter(part => part.split('=', 1)[0] !== VERSION_PARAMETER)
  return others.length === 0 ? target.slice(0, at) : `${target.slice(0, at)}?${others.join('&')}`
}

/** Maximum characters of the links of a version: each has the address, which may be long, and clients of Node read headers of 16 KiB. */
const MAX_LINKS = 6000

/** Sets Memento-Datetime and the links of RFC 7089, section 2.2, as far as they fit, the original first. */
function reportVersion(request: FastifyRequest, reply: FastifyReply, note: VersionNote, base: string): void {
  varyBy(reply, 'Accept-Datetime')
  const { memento, retained, dataset } = note
  const isRedirected = reply.statusCode === 302
  if (memento === null && !isRedirected) return
  const target = addressForLinks(request.raw.url ?? request.url).replace(/[^!-;=?-~]/g, encodeURIComponent)
  const original = base + withoutVersion(target)
  const address = (version: string) => base + withVersion(target, version)
  const links = [
    `<${original}>; rel="original timegate"`,
    `<${timeMapAddress(base, dataset, original)}>; rel="timemap"; type="application/link-format"`,
    ...neighbours(retained, memento).map(
      ([rel, { version, published }]) =>
        `<${address(version)}>; rel="${rel}"; datetime="${new Date(published).toUTCString()}"`,
    ),
  ]
  const fitting = links.filter((_, at) => links.slice(0, at + 1).join().length <= MAX_LINKS)
  const before = reply.getHeader('link')
  const all = [...(before === undefined ? [] : [String(before)]), ...fitting]
  if (all.length > 0) reply.header('link', all.join(', '))
  if (memento === null || reply.statusCode >= 300) return
  reply.header('memento-datetime', new Date(memento.published).toUTCString())
  const exposed = String(reply.getHeader('access-control-expose-headers') ?? '')
  if (!exposed.includes('Memento-Datetime'))
    reply.header('access-control-expose-headers', `${exposed}, Memento-Datetime`)
}

/** The address of the TimeMap of an address (RFC 7089, section 5). */
export function timeMapAddress(base: string, dataset: string, original: string): string {
  return `${base}/api/versions/${dataset}/timemap?uri=${encodeURIComponent(original)}`
}

/** The first, last, previous and next versions, each with all of its link relations. */
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
    ]
    if (names.length === 0 && index !== at) return []
    return [[[...names, 'memento'].join(' '), each] as const]
  })
}
