import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { descriptionAddress, portalDescriptionAddress } from '../../catalog/void.ts'
import { BY_CALLER } from '../../http/conditional.ts'
import { answerFault, PROBLEM_TYPE, problemBody } from '../../http/faults.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import { configureRoutes } from '../../http/route-config.ts'
import { answerVersions, type VersionSource } from '../../http/versions.ts'
import type { Principal } from '../../model/principal.ts'
import { pageText } from '../../site/frame.ts'
import { pageContextOf } from '../../site/page-context.ts'
import type { Store } from '../../store/store.ts'
import { foreignParameters, fragmentsAddress, pageIri } from './address.ts'
import {
  answerFragment,
  answerKnown,
  chooseFormat,
  describeBy,
  type FragmentAnswerOptions,
  type FragmentSource,
  type Offer,
  send,
  textIn,
} from './answer.ts'
import { findPage } from './find.ts'
import { type ListedDataset, listPage, listTriples } from './list.ts'
import { TRIPLE_PLACES } from './metadata.ts'
import { fragmentPage } from './page.ts'
import { PATTERN_PARAMETERS } from './pattern.ts'
import { addQuadRoutes, type QuadsOptions } from './quad-routes.ts'
import { type Content, DATA_FORMATS, HTML } from './write.ts'

/** What fragments need of a dataset. */
export interface FragmentDataset {
  readonly id: string
  readonly title: string
  readonly description: string | null
  readonly version: string
  /** Graph whose triples are served. */
  readonly graph: string
}

export interface FragmentsOptions extends FragmentAnswerOptions {
  readonly store: Store
  /** Faults: NotFoundResource for an unknown id, Gone for one that was withdrawn, Unauthorised, ForbiddenAccess. */
  readonly dataset: (id: string, principal: Principal, version: string | null) => FragmentDataset
  /** Earlier versions of datasets. */
  readonly versions?: VersionSource
  /** All datasets that are visible to a principal, and the version of all of them together. */
  readonly datasets?: (principal: Principal) => {
    readonly version: string
    readonly entries: readonly ListedDataset[]
  }
  /** Cache of whole answers, which is consulted before the routes. */
  readonly cache?: Pick<ResponseCache, 'cacheable'>
  /** What quad pattern fragments need; there are none without it. */
  readonly quads?: QuadsOptions
}

interface Route {
  readonly Params: { readonly dataset: string }
  readonly Querystring: QueryParameters
}

const OFFERS: readonly Offer<Content>[] = [...DATA_FORMATS, HTML]

/**
 * Triple pattern fragments at `/api/tpf/{dataset}` (Fragments 1) and the list of
 * all datasets at `/api/tpf`, with quad pattern fragments if these are configured.
 */
export const fragments: FastifyPluginAsync<FragmentsOptions> = async (app, options) => {
  app.setErrorHandler(answerFault(problemBody, PROBLEM_TYPE))
  configureRoutes(app, { endpoint: 'fragments', apiType: 'tpf' })
  if (options.versions !== undefined) answerVersions(app, options.versions)
  app.get<Route>('/api/tpf/:dataset', async (request, reply) =>
    answerFragment(request, reply, options, sourceOf(request, options)),
  )
  const { datasets, quads } = options
  if (quads !== undefined) addQuadRoutes(app, { ...options, quads })
  if (datasets !== undefined)
    app.get<Route>('/api/tpf', (request, reply) => answerList(request, reply, options, datasets))
}

function sourceOf(
  { params, principal, version }: FastifyRequest<Route>,
  { base, pageSize, store, cache, dataset: find }: FragmentsOptions,
): FragmentSource<Pick<Content, 'data'>> {
  const dataset = find(params.dataset, principal, version)
  return {
    dataset,
    address: fragmentsAddress(base, dataset.id),
    describedBy: descriptionAddress(base, dataset.id),
    places: TRIPLE_PLACES,
    offers: OFFERS,
    find: async ({ pattern, bindings, page }) => {
      const span = { offset: (page - 1) * pageSize, limit: pageSize }
      const { triples, count } = await findPage(store, [dataset.graph], pattern, bindings, span)
      return { found: { data: triples }, count }
    },
    page: (view, content) => fragmentPage(view, dataset.id, content),
    cache,
  }
}

async function answerList(
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  options: FragmentsOptions,
  datasets: NonNullable<FragmentsOptions['datasets']>,
): Promise<FastifyReply> {
  const { base } = options
  const { version, entries } = datasets(request.principal)
  const format = chooseFormat(request, OFFERS)
  const pageContext = format.write === undefined ? pageContextOf(request, options) : null
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
