import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { ServedDataset } from '../catalog/served.ts'
import { completeList } from '../catalog/visible.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../errors/errors.ts'
import { answerFault, restBody } from '../http/faults.ts'
import { DEFAULT_ZONE, one } from '../http/parameters.ts'
import type { QueryParameters } from '../http/query-string.ts'
import type { Route } from '../http/route-config.ts'
import { fieldNamed } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'
import { ANONYMOUS } from '../model/principal.ts'
import { tokens } from '../model/search.ts'
import { XML_DECLARATION, xmlAttribute, xmlText } from '../model/xml.ts'
import { EXPLORE_V21 } from '../query/dialect.ts'
import { Stopwatch } from '../query/execute/executor.ts'
import { planOdsql } from '../query/pipeline.ts'
import { pageContextOf, type SiteOptions } from '../site/page-context.ts'
import { rootOf } from '../site/signed-in.ts'
import { datasetPath } from './dataset/tab.ts'
import { modifiedOf } from './parts/cards.ts'
import { faultHint, faultReason } from './parts/filter-fault.ts'
import { type PageServices, type QueryService, recordsSource } from './query-service.ts'
import { NOTHING_SELECTED, odsqlText } from './selection.ts'
import { datasetTitle, metaTexts, type SiteServices } from './services.ts'

/** The metadata of the portal for search engines and browsers as a whole. Only public content is listed. */
export const discovery: FastifyPluginAsync<SiteServices> = async (app, services) => {
  const { base, catalog } = services
  const pages = () => listedPages(completeList(catalog.visibleTo(ANONYMOUS)).entries)

  app.get('/robots.txt', (_, reply) => sendText(reply, 'text/plain', robotsText(base)))
  app.get('/sitemap.xml', (_, reply) => sendText(reply, 'application/xml', sitemap(pages(), base)))
  app.get<Route<'part'>>('/sitemap/:part', (request, reply) => {
    const { part } = request.params
    const number = Number(/^(\d{1,6})\.xml$/.exec(part)?.[1] ?? 0)
    const text = number === 0 ? null : sitemapPart(pages(), base, number)
    if (text === null) throw new Fault(NOT_FOUND_RESOURCE, { kind: 'page', id: part.slice(0, 100) })
    return sendText(reply, 'application/xml', text)
  })

  app.get('/opensearch.xml', (request, reply) => {
    const { language, t } = pageContextOf(request, services)
    const text = openSearchDescription(services, language, t('Find datasets'))
    reply.header('vary', 'Accept-Language')
    return sendText(reply, 'application/opensearchdescription+xml', text)
  })
  app.get('/explore/suggestions', (request, reply) => {
    const written = one(request.query as QueryParameters, 'q') ?? ''
    const { entries } = catalog.visibleTo(request.principal).current()
    return reply
      .header('cache-control', 'no-cache')
      .type('application/x-suggestions+json; charset=utf-8')
      .send(JSON.stringify(suggestions(entries, written, services)))
  })
}

function sendText(reply: FastifyReply, type: string, text: string): FastifyReply {
  return reply.header('cache-control', 'public, max-age=3600').type(`${type}; charset=utf-8`).send(text)
}

/** Paths that crawlers must skip: APIs, which have unlimited addresses, and pages of a single user. */
const CLOSED = ['/api/', '/account/', '/oauth2/', '/healthz', '/readyz']

/** Parameters that select a part of what other pages show. */
const SELECTING = ['q', 'where', 'refine', 'exclude', 'order_by']

/** Rules for crawlers (RFC 9309), with the address of the sitemap. */
export function robotsText(base: string): string {
  const root = rootOf({ base })
  const closed = CLOSED.map(path => `Disallow: ${root}${path}`)
  const selecting = SELECTING.flatMap(name => [
    `Disallow: ${root}/explore/*?${name}=`,
    `Disallow: ${root}/explore/*&${name}=`,
  ])
  return ['User-agent: *', ...closed, ...selecting, '', `Sitemap: ${base}/sitemap.xml`, ''].join('\n')
}

const SUGGESTED = 10

/** Describes to browsers how the catalog is searched, so that it can be one of their search engines (OpenSearch 1.1). */
function openSearchDescription(
  { base, title, description }: SiteOptions,
  language: string,
  text: string,
): string {
  const address = (type: string, path: string, rel = 'results') =>
    `<Url rel="${rel}" type="${type}" template="${xmlAttribute(base + path)}"/>\n`
  return [
    XML_DECLARATION,
    '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">\n',
    // The specification allows sixteen characters.
    `<ShortName>${xmlText(Array.from(title).slice(0, 16).join('').trim())}</ShortName>\n`,
    `<LongName>${xmlText(Array.from(title).slice(0, 48).join('').trim())}</LongName>\n`,
    `<Description>${xmlText(description === '' ? text : description)}</Description>\n`,
    address('text/html', `/explore/?q={searchTerms}`),
    address('application/x-suggestions+json', '/explore/suggestions?q={searchTerms}', 'suggestions'),
    address('application/opensearchdescription+xml', '/opensearch.xml', 'self'),
    `<Language>${xmlText(language)}</Language>\n`,
    '<InputEncoding>UTF-8</InputEncoding>\n',
    '</OpenSearchDescription>\n',
  ].join('')
}

/** The titles of datasets whose words begin with what was written so far, in the format of OpenSearch Suggestions 1.1. */
function suggestions(
  entries: readonly ServedDataset[],
  written: string,
  { base }: Pick<SiteOptions, 'base'>,
): readonly [string, readonly string[], readonly string[], readonly string[]] {
  const begun = tokens(written.slice(0, 200))
  const found = entries
    .map(entry => ({ entry, title: datasetTitle(entry) }))
    .filter(({ entry, title }) => {
      const words = tokens([title, entry.dataset.id, ...metaTexts(entry, 'keyword')].join(' '))
      return begun.length > 0 && begun.every(part => words.some(word => word.startsWith(part)))
    })
    .slice(0, SUGGESTED)
  return [
    written,
    found.map(({ title }) => title),
    found.map(({ entry }) => metaTexts(entry, 'publisher').join(', ')),
    found.map(({ entry }) => base + datasetPath(entry.dataset.id)),
  ]
}

/** Maximum number of offered values, and maximum characters of one. */
const MAX_VALUES = 20
const MAX_VALUE_LENGTH = 200

/**
 * Completions for editors of ODSQL: the fields of a dataset, values of a field that begin with a text, and the errors of a
 * condition.
 */
export const completion: FastifyPluginAsync<PageServices> = async (app, services) => {
  const options = { errorHandler: answerFault(restBody) }

  app.get<Route<'dataset'>>('/explore/dataset/:dataset/complete', options, async (request, reply) => {
    const entry = services.catalog.visibleTo(request.principal).dataset(request.params.dataset)
    const query = request.query as QueryParameters
    const name = one(query, 'field')
    reply.header('cache-control', 'no-cache')
    if (name === undefined) {
      const fields = entry.dataset.fields.map(({ name, type, label, description }) => {
        return { name, type, label, description }
      })
      return { fields }
    }
    return { values: await valuesOf(entry, name, one(query, 'prefix') ?? '', services.queryService) }
  })

  app.get<Route<'dataset'>>('/explore/dataset/:dataset/check', options, async (request, reply) => {
    const { dataset } = services.catalog.visibleTo(request.principal).dataset(request.params.dataset)
    const query = request.query as QueryParameters
    const context = {
      dataset,
      technical: true,
      timezone: DEFAULT_ZONE,
      language: 'en',
      dialect: EXPLORE_V21,
      now: services.now(),
    } as const
    reply.header('cache-control', 'no-cache')
    try {
      const where = [one(query, 'where') ?? '']
      const orderBy = one(query, 'order_by') ?? ''
      planOdsql({ where, orderBy, limit: 0, offset: 0 }, context, new Stopwatch(services.clock))
      return { fault: null }
    } catch (error) {
      if (!(error instanceof Fault) || error.status !== 400) throw error
      const { from, to } = error.place
      return { fault: { message: faultReason(error), hint: faultHint(error), from, to } }
    }
  })
}

/** The most frequent values of a text field with words that begin with those of a text. */
async function valuesOf(
  entry: ServedDataset,
  name: string,
  prefix: string,
  queryService: QueryService,
): Promise<readonly { readonly value: string; readonly count: number }[]> {
  const { dataset, statistics } = entry
  const field = fieldNamed(dataset.fields, name)
  if (field?.type !== 'text') return []
  // For a field with very many values, a query without a prefix is not worth the time.
  const hasMany = lookup(statistics.fields, name)?.distinct === null
  const words = prefix.trim().slice(0, 100)
  if (hasMany && words.length < 2) return []
  const quoted = `\`${name}\``
  const label = name === 'n' ? 'm' : 'n'
  const { rows } = await queryService.find(recordsSource(entry), NOTHING_SELECTED, {
    select: `count(*) as ${label}`,
    where: /[\p{L}\p{N}]/u.test(words) ? [`suggest(${quoted}, ${odsqlText(words)})`] : [],
    groupBy: quoted,
    orderBy: `${label} desc`,
    limit: MAX_VALUES,
    offset: 0,
  })
  return rows.flatMap(({ object }) => {
    const value = lookup(object, name)
    return typeof value === 'string' && value.length <= MAX_VALUE_LENGTH
      ? [{ value, count: Number(object[label]) }]
      : []
  })
}

/** Maximum addresses of one file (sitemaps.org, "Sitemap file limits"). */
const MAX = 50_000
const SPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9'

interface ListedPage {
  readonly path: string
  /** When its content was last modified; absent if unknown. */
  readonly modified?: string
}

/** The pages in the sitemap: those of the portal, and the views of public datasets with their own content without any selection. */
function listedPages(entries: readonly ServedDataset[]): readonly ListedPage[] {
  const portal = ['/', '/explore/', '/sparql/', '/developers/'].map(path => ({ path }))
  const datasets = entries.flatMap(entry => {
    const tabs = [
      'information',
      ...(entry.content === 'records' ? (['table'] as const) : []),
      ...(entry.triples > 0 ? (['linked-data'] as const) : []),
    ] as const
    const modified = modifiedOf(entry)
    return tabs.map(tab => ({ path: datasetPath(entry.dataset.id, tab), modified }))
  })
  return [...portal, ...datasets]
}

/** The whole list, or, if it is too long, the index of its parts. */
export function sitemap(pages: readonly ListedPage[], base: string): string {
  if (pages.length <= MAX) return sitemapPart(pages, base, 1) ?? ''
  const parts = Array.from(
    { length: Math.ceil(pages.length / MAX) },
    (_, at) => `<sitemap><loc>${xmlText(`${base}/sitemap/${at + 1}.xml`)}</loc></sitemap>\n`,
  )
  return `${XML_DECLARATION}<sitemapindex xmlns="${SPACE}">\n${parts.join('')}</sitemapindex>\n`
}

/** A part of the list, from 1 on; null if the number is out of range. */
export function sitemapPart(pages: readonly ListedPage[], base: string, part: number): string | null {
  const listed = pages.slice((part - 1) * MAX, part * MAX)
  if (listed.length === 0) return null
  const items = listed.map(({ path, modified }) => {
    const changed = modified === undefined ? '' : `<lastmod>${xmlText(modified)}</lastmod>`
    return `<url><loc>${xmlText(base + path)}</loc>${changed}</url>\n`
  })
  return `${XML_DECLARATION}<urlset xmlns="${SPACE}">\n${items.join('')}</urlset>\n`
}
