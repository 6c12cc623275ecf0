import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { descriptionAddress, portalDescriptionAddress } from '../../catalog/void.ts'
import { Fault } from '../../errors/errors.ts'
import type { AnswerCache } from '../../http/answer-cache.ts'
import { BY_CALLER } from '../../http/conditional.ts'
import { namesCredentials } from '../../http/credentials.ts'
import { answerFault, PROBLEM_TYPE, problemBody } from '../../http/faults.ts'
import { negotiate, type Representation } from '../../http/negotiate.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import { configureRoutes } from '../../http/route-config.ts'
import { answerVersions, type VersionSource } from '../../http/versions.ts'
import { lookup } from '../../model/lookup.ts'
import type { Principal } from '../../model/principal.ts'
import { datasetIri } from '../../rdf/iris.ts'
import { pageText } from '../../site/frame.ts'
import { pageContextOf, type SiteOptions } from '../../site/page-context.ts'
import type { Store } from '../../store/store.ts'
import { foreignParameters, fragmentIri, fragmentsAddress, pageIri } from './address.ts'
import { answerKnown, describeBy, type FragmentContext, send } from './answer.ts'
import { findPage } from './find.ts'
import { type ListedDataset, listPage, listTriples } from './list.ts'
import { metadataGraph, pageMetadata, TRIPLE_PLACES } from './metadata.ts'
import { fragmentPage } from './page.ts'
import { PATTERN_PARAMETERS, parseRequest } from './pattern.ts'
import { addQuadRoutes, type QuadsOptions } from './quad-routes.ts'
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
  /** Bodies that were answered before. */
  readonly answers: AnswerCache
  /** All datasets that somebody may see, and the version of all of them together. */
  readonly datasets?: (principal: Principal) => {
    readonly version: string
    readonly entries: readonly ListedDataset[]
  }
  /** Where answers are cached that are given again before they come here. */
  readonly cache?: Pick<ResponseCache, 'cacheable'>
  /** What quad pattern fragments need; there are none without it. */
  readonly quads?: QuadsOptions
}

interface Route {
  readonly Params: { readonly dataset: string }
  readonly Querystring: QueryParameters
}

const OFFERS: readonly (DataFormat | Representation)[] = [...DATA_FORMATS, HTML]

/**
 * Triple pattern fragments at `/api/tpf/{dataset}` (Fragments 1) and the list of
 * all datasets at `/api/tpf`; quad pattern fragments beside them.
 */
export const fragments: FastifyPluginAsync<FragmentsOptions> = async (app, options) => {
  app.setErrorHandler(answerFault(problemBody, PROBLEM_TYPE))
  configureRoutes(app, { endpoint: 'fragments', apiType: 'tpf' })
  if (options.versions !== undefined) answerVersions(app, options.versions)
  app.get<Route>('/api/tpf/:dataset', (request, reply) =>
    answerPage(request, reply, options, options.answers),
  )
  const { datasets, quads } = options
  if (quads !== undefined) addQuadRoutes(app, { ...options, quads })
  if (datasets !== undefined)
    app.get<Route>('/api/tpf', (request, reply) => answerList(request, reply, options, datasets))
}

async function answerPage(
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  options: FragmentsOptions,
  cached: AnswerCache,
): Promise<FastifyReply> {
  const { base, pageSize, store, dataset: find } = options
  const dataset = find(request.params.dataset, request.principal, request.version)
  const format = chooseFormat(request)
  const pageContext = 'write' in format ? null : pageContextOf(request, options)
  const requested = parseRequest(request.query)
  describeBy(reply, descriptionAddress(base, dataset.id))
  const target = request.raw.url ?? request.url
  // A credential of the address stands in the controls of the page, which is nobody else's then.
  const memory = namesCredentials(request.query) ? undefined : cached
  const parts = [dataset.version, target, String(pageSize)]
  const known = answerKnown(request, reply, { ...options, format, pageContext, parts, answers: memory })
  if (known !== null) return known
  const { page } = requested
  const span = { offset: (page - 1) * pageSize, limit: pageSize }
  const { pattern, bindings } = requested
  const { triples, count } = await findPage(store, [dataset.graph], pattern, bindings, span)
  const here = pageIri(base, target)
  const foreign = foreignParameters(here, PATTERN_PARAMETERS)
  const whole = fragmentIri(here)
  const isStart = Object.values(pattern).every(({ type }) => type === 'variable')
  const description = {
    base,
    dataset,
    address: fragmentsAddress(base, dataset.id),
    places: TRIPLE_PLACES,
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
    pageContext !== null
      ? pageText(
          pageContext,
          fragmentPage(
            { ...description, pageContext, requested: requestedTexts(request.query), about },
            content,
          ),
        )
      : textIn(format, content)
  memory?.keep(reply, body)
  return send(reply, format, body, pageContext)
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
  const pageContext = 'write' in format ? null : pageContextOf(request, options)
  describeBy(reply, portalDescriptionAddress(base))
  const target = request.raw.url ?? request.url
  const parts = ['list', version, target]
  const known = answerKnown(request, reply, { format, pageContext, parts, vary: BY_CALLER })
  if (known !== null) return known
  const body =
    pageContext !== null
      ? pageText(
          pageContext,
          listPage(pageContext, entries, foreignParameters(pageIri(base, target), PATTERN_PARAMETERS)),
        )
      : textIn(format, { metadata: [], graph: null, data: listTriples(base, entries) })
  return send(reply, format, body, pageContext)
}

function chooseFormat(request: FragmentContext): DataFormat | Representation {
  const format = negotiate(request.headers.accept, OFFERS)
  if (format !== null) return format
  throw new Fault('NotAcceptable', { available: OFFERS.map(({ type }) => type).join(', ') })
}

function textIn(format: DataFormat | Representation, content: Content): string {
  if (!('write' in format)) throw new Error(`there is no writer for ${format.type}`)
  return format.write(content)
}

function requestedTexts(query: QueryParameters) {
  const text = (name: string) => String(lookup(query, name) ?? '')
  return { subject: text('subject'), predicate: text('predicate'), object: text('object') }
}
