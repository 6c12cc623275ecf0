import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { descriptionAddress, portalDescriptionAddress } from '../../catalog/void.ts'
import { Fault } from '../../errors.ts'
import { BY_CALLER } from '../../http/conditional.ts'
import { namesCredentials } from '../../http/credentials.ts'
import { entityTag, isKnown } from '../../http/etag.ts'
import { answerFault } from '../../http/faults.ts'
import { KeptAnswers } from '../../http/kept.ts'
import { negotiate, type Offer } from '../../http/negotiate.ts'
import { PROBLEM_TYPE, problemBody } from '../../http/problem.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import { visitBasis } from '../../http/site/basis.ts'
import { pageText, sendPageText } from '../../http/site/frame.ts'
import { type SiteOptions, type Visit, visitOf } from '../../http/site/visit.ts'
import { varyBy } from '../../http/vary.ts'
import { answerVersions, type VersionSource } from '../../http/versions.ts'
import { lookup } from '../../model/lookup.ts'
import type { Principal } from '../../model/principal.ts'
import { datasetIri } from '../../rdf/iris.ts'
import type { Store } from '../../store/store.ts'
import { foreignParameters, fragmentIri, pageIri } from './address.ts'
import { findPage } from './find.ts'
import { type ListedDataset, listPage, listTriples } from './list.ts'
import { metadataGraph, pageMetadata } from './metadata.ts'
import { fragmentPage } from './page.ts'
import { PARAMETERS, parseRequest } from './pattern.ts'
import { type Content, DATA_FORMATS, type DataFormat, HTML } from './write.ts'

/** What fragments need of a dataset. */
export interface FragmentDataset {
  readonly id: string
  readonly title: string
  readonly description: string | null
  readonly version: string
  /** Graph whose triples are served. */
  readonly graph: string
}

export interface FragmentsOptions extends SiteOptions {
  /** Triples on a page; clients do not choose it, so that pages can be cached. */
  readonly pageSize: number
  readonly store: Store
  /** Faults: NotFoundResource for an id that there is not, Gone for one that was withdrawn, Unauthorised, ForbiddenAccess. */
  readonly dataset: (id: string, principal: Principal, version: string | null) => FragmentDataset
  /** The versions of datasets beside those in force. */
  readonly versions?: VersionSource
  /** All datasets that somebody may see, and the version of all of them together. */
  readonly datasets?: (principal: Principal) => {
    readonly version: string
    readonly entries: readonly ListedDataset[]
  }
  /** Where answers are kept that are given again before they come here. */
  readonly cache?: Pick<ResponseCache, 'offer'>
}

interface Route {
  readonly Params: { readonly dataset: string }
  readonly Querystring: QueryParameters
}

type Request = FastifyRequest<{ Querystring: QueryParameters }>

const OFFERS: readonly (DataFormat | Offer)[] = [...DATA_FORMATS, HTML]

/**
 * Triple pattern fragments at `/api/tpf/{dataset}` (linked-data specification, "Triple-pattern service") and the list of
 * all datasets at `/api/tpf`.
 */
export const fragments: FastifyPluginAsync<FragmentsOptions> = async (app, options) => {
  const kept = new KeptAnswers()
  app.setErrorHandler(answerFault(problemBody, PROBLEM_TYPE))
  if (options.versions !== undefined) answerVersions(app, options.versions)
  app.get<Route>('/api/tpf/:dataset', (request, reply) => answerPage(request, reply, options, kept))
  const { datasets } = options
  if (datasets !== undefined)
    app.get<Route>('/api/tpf', (request, reply) => answerList(request, reply, options, datasets))
}

async function answerPage(
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  options: FragmentsOptions,
  kept: KeptAnswers,
): Promise<FastifyReply> {
  const { base, pageSize, store, dataset: find } = options
  const dataset = find(request.params.dataset, request.principal, request.version)
  const format = chooseFormat(request)
  const visit = 'write' in format ? null : visitOf(request, options)
  const asked = parseRequest(request.query)
  describeBy(reply, descriptionAddress(base, dataset.id))
  const target = request.raw.url ?? request.url
  // A credential of the address stands in the controls of the page, which is nobody else's then.
  const memory = namesCredentials(request.query) ? undefined : kept
  const parts = [dataset.version, target, String(pageSize)]
  const known = answerKnown(request, reply, { ...options, format, visit, parts, kept: memory })
  if (known !== null) return known
  const { page } = asked
  const span = { offset: (page - 1) * pageSize, limit: pageSize }
  const { triples, count } = await findPage(store, dataset.graph, asked.pattern, asked.bindings, span)
  const here = pageIri(base, target)
  const foreign = foreignParameters(here, PARAMETERS)
  const whole = fragmentIri(here)
  const isStart = Object.values(asked.pattern).every(({ type }) => type === 'variable')
  const description = {
    base,
    dataset,
    pageIri: here,
    fragmentIri: whole,
    page,
    pageSize,
    foreign,
    isStart,
    count,
  }
  const content = {
    metadata: pageMetadata(description),
    graph: metadataGraph(description),
    data: triples,
  }
  const about = datasetIri(base, dataset.id)
  const body =
    visit !== null
      ? pageText(
          visit,
          fragmentPage({ ...description, visit, asked: askedTexts(request.query), about }, content),
        )
      : textIn(format, content)
  memory?.keep(reply, body)
  return send(reply, format, body, visit)
}

async function answerList(
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  options: FragmentsOptions,
  datasets: NonNullable<FragmentsOptions['datasets']>,
): Promise<FastifyReply> {
  const { base } = options
  const { version, entries } = datasets(request.principal)
  const format = chooseFormat(request)
  const visit = 'write' in format ? null : visitOf(request, options)
  describeBy(reply, portalDescriptionAddress(base))
  const target = request.raw.url ?? request.url
  const parts = ['list', version, target]
  const known = answerKnown(request, reply, { format, visit, parts, vary: BY_CALLER })
  if (known !== null) return known
  const body =
    visit !== null
      ? pageText(visit, listPage(visit, entries, foreignParameters(pageIri(base, target), PARAMETERS)))
      : textIn(format, { metadata: [], graph: null, data: listTriples(base, entries) })
  return send(reply, format, body, visit)
}

/** Statistics and endpoints stand in a document of their own: in a fragment clients would take them for its controls. */
function describeBy(reply: FastifyReply, address: string): void {
  reply.header('link', `<${address}>; rel="describedby"`)
}

function chooseFormat(request: Request): DataFormat | Offer {
  const format = negotiate(request.headers.accept, OFFERS)
  if (format !== null) return format
  throw new Fault('NotAcceptable', { available: OFFERS.map(({ type }) => type).join(', ') })
}

interface Answered {
  readonly format: DataFormat | Offer
  /** Who looks at a page; null for data, which are the same for all. */
  readonly visit: Visit | null
  /** Everything that decides the bytes of the answer, beside its format and who looks at it. */
  readonly parts: readonly string[]
  readonly cache?: FragmentsOptions['cache']
  readonly kept?: KeptAnswers | undefined
  /** Request headers that decide it, beside those of all fragments. */
  readonly vary?: readonly string[]
}

/**
 * Sets the headers of an answer. Who has it already gets 304, and what was answered before is answered from memory; null
 * where it has to be made. Only data are offered to be given again to others.
 */
function answerKnown(
  request: Request,
  reply: FastifyReply,
  { format, visit, parts, cache, kept, vary = [] }: Answered,
): FastifyReply | null {
  const { 'if-none-match': known, 'accept-encoding': codings, authorization } = request.headers
  const isOwn = authorization !== undefined || namesCredentials(request.query)
  const tag = entityTag(RELEASE, format.type, ...parts, ...(visit === null ? [] : visitBasis(visit)))
  const age = visit === null ? 'max-age=60, stale-while-revalidate=600' : 'no-cache'
  varyBy(reply, 'Accept-Encoding', 'Accept', ...vary)
  if (visit !== null) varyBy(reply, 'Accept-Language', 'Cookie')
  reply.header('etag', tag).header('cache-control', `${isOwn ? 'private' : 'public'}, ${age}`)
  if (known !== undefined && known !== '*' && isKnown(known, tag, codings)) {
    if (visit === null) cache?.offer(reply, '')
    return reply.code(304).send()
  }
  const body = kept?.find(reply)
  if (body === undefined) return null
  if (visit === null) cache?.offer(reply, body)
  return send(reply, format, body, visit)
}

function send(reply: FastifyReply, format: Offer, body: string, visit: Visit | null): FastifyReply {
  if (visit !== null) return sendPageText(reply, visit, body)
  return reply.type(`${format.type}; charset=utf-8`).send(body)
}

function textIn(format: DataFormat | Offer, content: Content): string {
  if (!('write' in format)) throw new Error(`there is no writer for ${format.type}`)
  return format.write(content)
}

function askedTexts(query: QueryParameters) {
  const text = (name: string) => String(lookup(query, name) ?? '')
  return { subject: text('subject'), predicate: text('predicate'), object: text('object') }
}

/** Names the way in which pages are written: another one makes other bytes of the same data. */
const RELEASE = 'fragments 3'
