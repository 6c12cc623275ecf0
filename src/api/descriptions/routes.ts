import { text as wholeText } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { CatalogEntry } from '../../catalog/catalog-dataset.ts'
import { exampleQueries, queryPrefixes } from '../../catalog/example-queries.ts'
import type { GraphStatistics } from '../../catalog/graph-statistics.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import type { StatisticsFiles } from '../../catalog/statistics-files.ts'
import { completeList, type DatasetSource } from '../../catalog/visible.ts'
import {
  datasetDescription,
  datasetFragmentsAddress,
  descriptionAddress,
  portalDescriptionAddress,
  portalDocument,
  sparqlAddress,
  voidDocument,
} from '../../catalog/void.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { BY_CALLER, entityTag, isFresh, varyBy } from '../../http/conditional.ts'
import { answerFault, PROBLEM_TYPE, problemBody } from '../../http/faults.ts'
import { JSON_TYPE, prettyJson } from '../../http/json.ts'
import { answerVersions, type VersionSource } from '../../http/memento.ts'
import type { Route } from '../../http/route-config.ts'
import { configureRoutes } from '../../http/route-config.ts'
import { titleOf } from '../../model/metadata.ts'
import type { Principal } from '../../model/principal.ts'
import { inTurns } from '../../runtime/work-client.ts'
import { type SitePage, sendSitePage } from '../../site/frame.ts'
import { html } from '../../site/html.ts'
import { type PageContext, pageContextOf, type SiteOptions } from '../../site/page-context.ts'
import { addShapes, descriptionFormat, isPageRequested, writeDescription } from './formats.ts'

export interface DescriptionsOptions extends SiteOptions {
  /** Folder of the portal, which has the example queries. */
  readonly portal: string
  readonly catalog: DatasetSource
  /** Faults: NotFoundResource for an unknown id, Gone, Unauthorised, ForbiddenAccess. */
  readonly dataset: (id: string, principal: Principal, version: string | null) => ServedDataset
  readonly versions?: VersionSource
  readonly statisticsFiles: Pick<StatisticsFiles, 'of'>
  /** Milliseconds after which an answer is sent without statistics that are not ready, 5,000 by default. */
  readonly timeout?: number
}

const QUERY_TYPE = 'application/sparql-query; charset=utf-8'

/**
 * Descriptions of the datasets (W3C Interest Group Note VoID): all at `/.well-known/void` (section 7.2) and `/api/void`, one
 * at `/api/void/{dataset}`, each with an HTML page; its example queries and prefixes at `/api/void/{dataset}/queries`.
 */
export const descriptions: FastifyPluginAsync<DescriptionsOptions> = async (app, options) => {
  const { base, catalog, portal } = options
  app.setErrorHandler(answerFault(problemBody, PROBLEM_TYPE))
  configureRoutes(app, { endpoint: 'descriptions', apiType: 'other' })
  if (options.versions !== undefined) answerVersions(app, options.versions)

  for (const [address, config] of [
    ['/.well-known/void', { apiType: null }],
    ['/api/void', {}],
  ] as const)
    app.get<Route>(address, { config }, async (request, reply) => {
      const { entries } = completeList(catalog.visibleTo(request.principal))
      if (isPageRequested(request.query, request.headers.accept)) {
        const pageContext = pageContextOf(request, options)
        varyBy(reply, 'Accept', ...BY_CALLER)
        return sendSitePage(reply, pageContext, descriptionPage(pageContext, entries))
      }
      const links = [
        `<${portalDescriptionAddress(base)}>; rel="canonical"`,
        ...entries.map(({ dataset }) => `<${descriptionAddress(base, dataset.id)}>; rel="item"`).slice(0, 50),
      ]
      return answer(request, reply.header('link', links.join(', ')), entries, options, function* (described) {
        yield portalDocument(base, options.title, described)
        for (const { entry, ...parts } of described) yield datasetDescription(entry, { base, ...parts })
      })
    })

  app.get<Route<'dataset'>>('/api/void/:dataset', async (request, reply) => {
    const entry = options.dataset(request.params.dataset, request.principal, request.version)
    const { id } = entry.dataset
    if (isPageRequested(request.query, request.headers.accept)) {
      const { href } = pageContextOf(request, options)
      varyBy(reply, 'Accept', ...BY_CALLER)
      return reply.redirect(href(datasetPath(id), { version: request.version ?? undefined }), 303)
    }
    const links = [
      `<${descriptionAddress(base, id)}>; rel="canonical"`,
      `<${portalDescriptionAddress(base)}>; rel="collection"`,
      `<${descriptionAddress(base, id)}/queries>; rel="related"; type="application/json"`,
    ]
    return answer(request, reply.header('link', links.join(', ')), [entry], options, function* (described) {
      for (const { entry, ...parts } of described) yield voidDocument(entry, { base, ...parts })
    })
  })

  addShapes(app, options)

  app.get<Route<'dataset'>>('/api/void/:dataset/queries', async (request, reply) => {
    const { dataset, prefixes } = options.dataset(request.params.dataset, request.principal, request.version)
    const { id } = dataset
    const address = descriptionAddress(base, id)
    const body = prettyJson({
      dataset: id,
      endpoint: sparqlAddress(base, id),
      fragments: datasetFragmentsAddress(base, id),
      prefixes: queryPrefixes(base, id, prefixes),
      queries: (await exampleQueries(portal, id, base)).map(query => ({
        ...query,
        address: `${address}/queries/${encodeURIComponent(query.name)}`,
        endpoint: sparqlAddress(base, query.federatesWith.length > 0 ? undefined : id),
      })),
    })
    if (isFresh(request, reply, entityTag(body))) return reply.code(304).send()
    return reply.type(JSON_TYPE).send(body)
  })

  app.get<Route<'dataset' | 'name'>>('/api/void/:dataset/queries/:name', async (request, reply) => {
    const { id } = options.dataset(request.params.dataset, request.principal, request.version).dataset
    const { name } = request.params
    const found = (await exampleQueries(portal, id, base)).find(query => query.name === name)
    if (found === undefined) throw new Fault(NOT_FOUND_RESOURCE, { kind: 'query', id: name.slice(0, 100) })
    if (isFresh(request, reply, entityTag(found.query))) return reply.code(304).send()
    return reply.type(QUERY_TYPE).send(found.query)
  })
}

interface DescribedDataset {
  readonly entry: ServedDataset
  readonly statistics: GraphStatistics | null
  readonly queries: Awaited<ReturnType<typeof exampleQueries>>
}

/** Sends a document in the requested format. One whose statistics are still being computed is not cacheable. */
async function answer(
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  entries: readonly ServedDataset[],
  options: DescriptionsOptions,
  triples: (described: readonly DescribedDataset[]) => Iterable<string>,
): Promise<FastifyReply> {
  const { base, portal, statisticsFiles, timeout = 5000 } = options
  const format = descriptionFormat(request.query, request.headers.accept)
  const late = new AbortController()
  const end = ignoreRejection(
    sleep(timeout, undefined, { signal: late.signal }),
    'ended when no longer needed',
  )
  const described = await Promise.all(
    entries.map(async entry => ({
      entry,
      statistics: await Promise.race([statisticsFiles.of(entry), end]),
      queries: await exampleQueries(portal, entry.dataset.id, base),
    })),
  )
  late.abort()
  const isWhole = described.every(({ statistics: graphStatistics }) => graphStatistics !== undefined)
  const known = described.map(each => ({ ...each, statistics: each.statistics ?? null }))
  const text = await wholeText(inTurns(triples(known)))
  const isKnown = isFresh(request, reply, isWhole ? entityTag(text) : null, format.type)
  if (isWhole) {
    reply.header('cache-control', 'public, max-age=60, stale-while-revalidate=600')
    varyBy(reply, ...BY_CALLER)
  }
  if (isKnown) return reply.code(304).send()
  return reply.type(`${format.type}; charset=utf-8`).send(await writeDescription(format, text))
}

interface DescribedEntry extends CatalogEntry {
  readonly triples: number
}

/** The page about the graph of a dataset: the same statistics, with queries and the mapping. */
function datasetPath(id: string): string {
  return `/explore/dataset/${encodeURIComponent(id)}/linked-data/`
}

/** The description of a portal as HTML: its datasets, their sizes and their endpoints. */
function descriptionPage(pageContext: PageContext, entries: readonly DescribedEntry[]): SitePage {
  const { t, href, number, site } = pageContext
  const path = (address: string) => new URL(address).pathname
  const rows = entries.map(({ dataset, triples }) => {
    const { id } = dataset
    return html`<tr><th scope="row"><a href="${href(datasetPath(id))}">${titleOf(dataset)}</a></th><td class="number">${number(triples)}</td>
<td><a href="${path(sparqlAddress(site.base, id))}">SPARQL</a></td><td><a href="${path(datasetFragmentsAddress(site.base, id))}">${t('Triple pattern fragments')}</a></td></tr>
`
  })
  const formats = [
    ['Turtle', 'turtle'],
    ['JSON-LD', 'jsonld'],
    ['N-Triples', 'ntriples'],
    ['RDF/XML', 'rdfxml'],
  ] as const
  const own = path(`${site.base}/.well-known/void`)
  return {
    title: t('Description (VoID)'),
    part: 'developers',
    isWide: true,
    isIndexed: false,
    body: html`<h1>${t('Description (VoID)')}</h1>
<p>${t('Datasets and their triples')}</p>
<section class="scroll" tabindex="0" aria-label="${t('Datasets')}"><table class="terms"><thead><tr><th scope="col">${t('Dataset')}</th><th scope="col" class="number">${t('Triples')}</th><th scope="col">${t('SPARQL endpoint')}</th><th scope="col">${t('Triple pattern fragments')}</th></tr></thead><tbody>
${rows}</tbody></table></section>
<p class="take-away">${formats.map(([name, format]) => html`<a href="${own}?format=${format}" rel="nofollow">${name}</a> `)}
<a href="${path(sparqlAddress(site.base))}">${t('SPARQL endpoint')}</a></p>`,
  }
}
