import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { ServedDataset } from '../catalog/served.ts'
import { completeList } from '../catalog/visible.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../errors/errors.ts'
import { one } from '../http/parameters.ts'
import type { QueryParameters } from '../http/query-string.ts'
import { ANONYMOUS } from '../model/principal.ts'
import { tokens } from '../model/search.ts'
import { XML_DECLARATION, xmlAttribute, xmlText } from '../model/xml.ts'
import { pageContextOf, type SiteOptions } from '../site/page-context.ts'
import { datasetTitle, metaTexts, type SiteServices } from './services.ts'
import { listedPages, listedTabs, sitemap, sitemapPart } from './sitemap.ts'

interface PartRoute {
  readonly Params: { readonly part: string }
}

/** The metadata of the portal for search engines and browsers as a whole. Only public content is listed. */
export const discovery: FastifyPluginAsync<SiteServices> = async (app, services) => {
  const { base, catalog } = services
  const pages = () => listedPages(completeList(catalog.visibleTo(ANONYMOUS)).entries, listedTabs)

  app.get('/robots.txt', (_, reply) => sendText(reply, 'text/plain', robotsText(base)))
  app.get('/sitemap.xml', (_, reply) => sendText(reply, 'application/xml', sitemap(pages(), base)))
  app.get<PartRoute>('/sitemap/:part', (request, reply) => {
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
  const root = new URL(base).pathname.replace(/\/+$/, '')
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
    found.map(({ entry }) => `${base}/explore/dataset/${encodeURIComponent(entry.dataset.id)}/`),
  ]
}
