import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { descriptionAddress, portalDescriptionAddress } from '../../catalog/void.ts'
import { BY_CALLER } from '../../http/conditional.ts'
import { answerVersions, type VersionSource } from '../../http/memento.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import { configureRoutes, type Route } from '../../http/route-config.ts'
import type { Principal } from '../../model/principal.ts'
import { iriText, literalText } from '../../rdf/ntriples.ts'
import { DCTERMS, HYDRA, RDF, VOID, XSD } from '../../rdf/vocab.ts'
import { answerPageOrProblem } from '../../site/fault-page.ts'
import { pageText, type SitePage } from '../../site/frame.ts'
import { html } from '../../site/html.ts'
import { type PageContext, pageContextOf } from '../../site/page-context.ts'
import type { Store } from '../../store/store.ts'
import {
  answerFragment,
  answerKnown,
  chooseFormat,
  describeBy,
  type FragmentAnswerOptions,
  type FragmentSource,
  OFFERS,
  send,
  textIn,
} from './answer.ts'
import { findPage } from './find.ts'
import { findQuads, MAX_COUNTS, type PartCounts, type QuadGraphs } from './find-quads.ts'
import {
  foreignParameters,
  fragmentsAddress,
  listAddress,
  pageIri,
  portalQuadsAddress,
  QUAD_PLACES,
  TRIPLE_PLACES,
} from './metadata.ts'
import { dataBlock, fragmentTermText } from './page.ts'
import { PATTERN_PARAMETERS } from './pattern.ts'
import { type Content, expandedDocument } from './write.ts'

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

/**
 * Triple pattern fragments at `/api/tpf/{dataset}` (Fragments 1) and the list of
 * all datasets at `/api/tpf`, with quad pattern fragments if these are configured.
 */
export const fragments: FastifyPluginAsync<FragmentsOptions> = async (app, options) => {
  app.setErrorHandler(answerPageOrProblem(options, OFFERS))
  configureRoutes(app, { endpoint: 'fragments', apiType: 'tpf' })
  if (options.versions !== undefined) answerVersions(app, options.versions)
  app.get<Route<'dataset'>>('/api/tpf/:dataset', async (request, reply) =>
    answerFragment(request, reply, options, sourceOf(request, options)),
  )
  const { datasets, quads } = options
  if (quads !== undefined) addQuadRoutes(app, { ...options, quads })
  if (datasets !== undefined)
    app.get<Route>('/api/tpf', (request, reply) => answerList(request, reply, options, datasets))
}

function sourceOf(
  { params, principal, version }: FastifyRequest<Route<'dataset'>>,
  { base, pageSize, store, cache, dataset: find }: FragmentsOptions,
): FragmentSource {
  const dataset = find(params.dataset, principal, version)
  return {
    id: dataset.id,
    dataset,
    address: fragmentsAddress(base, dataset.id),
    describedBy: descriptionAddress(base, dataset.id),
    places: TRIPLE_PLACES,
    find: async ({ pattern, bindings, page }) => {
      const span = { offset: (page - 1) * pageSize, limit: pageSize }
      const { triples, count } = await findPage(store, [dataset.graph], pattern, bindings, span)
      return { parts: [{ name: null, triples }], count }
    },
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
      : textIn(format, listContent(base, entries))
  return send(reply, format, body, pageContext)
}

interface ListedDataset {
  readonly id: string
  readonly title: string
  readonly description: string | null
  readonly triples: number
}

/** All datasets with fragments: members of one collection, each with its address and size. */
function listContent(base: string, datasets: readonly ListedDataset[]): Content {
  const lines: string[] = []
  const t = (subject: string, predicate: string, object: string) =>
    lines.push(`${subject} <${predicate}> ${object} .\n`)
  const all = iriText(`${listAddress(base)}#dataset`)
  t(all, RDF.type, `<${VOID.Dataset}>`)
  t(all, RDF.type, `<${HYDRA.Collection}>`)
  t(all, DCTERMS.title, literalText('Triple pattern fragments of all datasets'))
  for (const { id, title, description, triples } of datasets) {
    const address = fragmentsAddress(base, id)
    const one = iriText(`${address}#dataset`)
    t(all, HYDRA.member, one)
    t(all, VOID.subset, one)
    t(one, RDF.type, `<${VOID.Dataset}>`)
    t(one, RDF.type, `<${HYDRA.Collection}>`)
    t(one, VOID.subset, iriText(address))
    t(one, DCTERMS.title, literalText(title))
    t(one, DCTERMS.identifier, literalText(id))
    if (description !== null) t(one, DCTERMS.description, literalText(description))
    t(one, VOID.uriLookupEndpoint, iriText(`${address}?subject=`))
    t(one, VOID.triples, literalText(String(triples), XSD.integer))
  }
  return { metadata: [], graph: null, parts: [{ name: null, triples: lines.join('') }] }
}

/**
 * The list as an HTML page.
 *
 * @param foreign parameters that links keep, as in the address
 */
function listPage(
  pageContext: PageContext,
  datasets: readonly ListedDataset[],
  foreign: readonly string[],
): SitePage {
  const { t, site } = pageContext
  const query = foreign.length === 0 ? '' : `?${foreign.join('&')}`
  const rows = datasets.map(
    ({ id, title, description, triples }) =>
      html`<tr><td><a href="${fragmentsAddress(site.base, id)}${query}">${title}</a></td><td>${shortText(fragmentTermText(description))}</td><td class="number">${pageContext.number(triples)}</td></tr>
`,
  )
  return {
    title: t('Triple pattern fragments'),
    part: 'developers',
    isWide: true,
    head: dataBlock(expandedDocument(listContent(site.base, datasets))),
    body: html`<h1>${t('Triple pattern fragments')}</h1>
<p>${t.many('{n} dataset whose triples can be asked for one pattern at a time.', '{n} datasets whose triples can be asked for one pattern at a time.', datasets.length)}</p>
<section class="scroll" tabindex="0" aria-label="${t('Datasets')}"><table><thead><tr><th scope="col">${t('Dataset')}</th><th scope="col">${t('Description')}</th><th scope="col" class="number">${t('Triples')}</th></tr></thead><tbody>
${rows}</tbody></table></section>`,
  }
}

const MAX_LENGTH = 240

function shortText(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1).replace(/\s+\S*$/, '')}…`
}

/** An RDF dataset whose quads are requested: a dataset of the portal, or all of them. */
export interface QuadDataset {
  readonly title: string
  readonly description: string | null
  /** Identifies all the data of its answers. */
  readonly version: string
  readonly graphs: QuadGraphs
}

/** What quad pattern fragments need. */
export interface QuadsOptions {
  /** Faults: NotFoundResource for an unknown id, Gone for one that was withdrawn, Unauthorised, ForbiddenAccess. */
  readonly dataset: (id: string, principal: Principal, version: string | null) => QuadDataset
  /** All datasets that are visible to a principal as one, each a graph. */
  readonly portal: (principal: Principal) => QuadDataset
}

interface QuadContext extends FragmentAnswerOptions {
  readonly store: Store
  readonly quads: QuadsOptions
  readonly cache?: Pick<ResponseCache, 'cacheable'>
}

interface QuadRoute {
  readonly Params: { readonly dataset?: string }
  readonly Querystring: QueryParameters
}

/**
 * Quad pattern fragments: `/api/qpf/{dataset}` with the named graphs of a dataset, and `/api/qpf` with each dataset that the
 * caller may see as a graph. They are as triple pattern fragments, with `graph` as the fourth parameter and mapping, and the
 * name of the default graph (https://linkeddatafragments.org/specification/quad-pattern-fragments/).
 */
export function addQuadRoutes(app: FastifyInstance, context: QuadContext): void {
  const counts: PartCounts = new LRUCache({ max: MAX_COUNTS })
  for (const path of ['/api/qpf', '/api/qpf/:dataset'])
    app.get<QuadRoute>(path, async (request, reply) =>
      answerFragment(request, reply, context, quadSourceOf(request, context, counts)),
    )
}

function quadSourceOf(
  { params: { dataset: id }, principal, version }: FastifyRequest<QuadRoute>,
  { base, pageSize, store, quads, cache }: QuadContext,
  counts: PartCounts,
): FragmentSource {
  const dataset = id === undefined ? quads.portal(principal) : quads.dataset(id, principal, version)
  const portal = portalQuadsAddress(base)
  const address = id === undefined ? portal : `${portal}/${encodeURIComponent(id)}`
  return {
    id: id ?? null,
    dataset,
    address,
    describedBy: id === undefined ? portalDescriptionAddress(base) : descriptionAddress(base, id),
    places: QUAD_PLACES,
    find: async requested => {
      const { pattern, graph, bindings } = requested
      const key = JSON.stringify([address, dataset.version, pattern, graph, bindings])
      return findQuads(store, dataset.graphs, requested, pageSize, counts, key)
    },
    ...(id === undefined ? { vary: BY_CALLER } : { cache }),
  }
}
