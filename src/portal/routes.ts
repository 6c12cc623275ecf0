import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { Fault, NOT_FOUND_RESOURCE } from '../errors/errors.ts'
import { acceptsCoding, type Coding } from '../http/content-coding.ts'
import { configureRoutes } from '../http/route-config.ts'
import { lookup } from '../model/lookup.ts'
import { memoised } from '../model/memoised.ts'
import type { Desk } from '../publishing/management/desk.ts'
import { ASSETS_PATH, builtAssets } from '../site/assets.ts'
import { answerPageFault } from '../site/fault-page.ts'
import { sendSitePage } from '../site/frame.ts'
import { html } from '../site/html.ts'
import { pageContextOf } from '../site/page-context.ts'
import { answerCatalog, CATALOG_PATH, feedLink } from './catalog-page.ts'
import { mapShapes } from './dataset/map-tab.ts'
import { mappingEditor } from './dataset/mapping-routes.ts'
import { answerDataset } from './dataset/page.ts'
import { deskPages } from './desk/routes.ts'
import { answerDevelopers } from './developers.ts'
import { completion, discovery } from './discovery.ts'
import { datasetCard, modifiedOf, startingReply, startNote } from './parts/cards.ts'
import { languageField } from './parts/form-fields.ts'
import { answerOdsqlPage } from './playground/odsql-page.ts'
import { answerSparqlPage } from './playground/sparql-page.ts'
import { catalogSource, type PageServices, QueryService } from './query-service.ts'
import { NOTHING_SELECTED, selectionParameters } from './selection.ts'
import type { SiteServices } from './services.ts'
import { catalogData } from './structured-data.ts'

/** The HTML pages of the portal: the catalog, datasets, playgrounds. */
export const site: FastifyPluginAsync<SiteServices & { readonly desk: Desk }> = async (app, options) => {
  const services = { ...options, queryService: new QueryService(options) }
  app.setErrorHandler(answerPageFault(services))
  await app.register(assets)
  await app.register(playgrounds, services)
  await app.register(discovery, services)
  app.get('/', (_, reply) => answerHome(reply, services))
  await app.register(completion, services)
  await app.register(mappingEditor, services)
  await app.register(mapShapes, services)
  await app.register(deskPages, services)
  app.get('/developers', (_, reply) => answerDevelopers(reply, services))
  app.get('/explore', (_, reply) => answerCatalog(reply, services))
  for (const path of ['/explore/dataset/:dataset', '/explore/dataset/:dataset/:tab'])
    app.get<{ Params: { dataset: string; tab?: string } }>(path, (request, reply) => {
      const { dataset, tab = 'information' } = request.params
      return answerDataset(reply, services, dataset, tab)
    })
}

/** The playgrounds: SPARQL, which the browser runs, and ODSQL with all of its stages. */
export const playgrounds: FastifyPluginAsync<SiteServices> = async (app, services) => {
  app.get('/sparql', (_, reply) => answerSparqlPage(reply, services))
  app.get('/odsql', answerOdsqlPage(services))
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  wasm: 'application/wasm',
}

/** Maximum bytes of a file that is compressed at the highest level; larger ones would take seconds. */
const SMALL = 300_000

/**
 * The built files for browsers: their names contain hashes of their contents, so that they are cached forever, and
 * compressed once.
 */
const assets: FastifyPluginAsync = async app => {
  configureRoutes(app, { endpoint: 'assets', access: 'everybody' }, [ASSETS_PATH.slice(0, -1)])
  const compressed = new Map<string, Promise<Buffer>>()
  const { files } = builtAssets()
  app.get<{ Params: { file: string } }>(`${ASSETS_PATH}:file`, async (request, reply) => {
    const { file } = request.params
    const type = /^[\w-]+(?:\.part)?\.[A-Z0-9]{8}\.(\w+)$/.exec(file)?.[1]
    const content = files.get(file)
    if (type === undefined || content === undefined)
      throw new Fault(NOT_FOUND_RESOURCE, { kind: 'file', id: file.slice(0, 100) })
    reply
      .type(lookup(TYPES, type) ?? 'application/octet-stream')
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('vary', 'Accept-Encoding')
    const coding = codingOf(request.headers['accept-encoding'])
    if (coding === null) return reply.send(content)
    const encoded = memoised(compressed, `${coding} ${file}`, () => compress(content, coding))
    return reply.header('content-encoding', coding).send(await encoded)
  })
}

function codingOf(accepted: string | undefined): Coding | null {
  if (accepted === undefined) return null
  return acceptsCoding(accepted, 'br') ? 'br' : acceptsCoding(accepted, 'gzip') ? 'gzip' : null
}

function compress(content: Buffer, coding: Coding): Promise<Buffer> {
  const isSmall = content.length <= SMALL
  if (coding === 'gzip') return promisify(gzip)(content, { level: isSmall ? 9 : 6 })
  const quality = isSmall ? 11 : 6
  return promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })
}

const CARDS = 6

/** Answers with the home page: a description of the portal, a search, its themes, the latest changes. */
async function answerHome(reply: FastifyReply, services: PageServices): Promise<FastifyReply> {
  const { request } = reply
  const pageContext = pageContextOf(request, services)
  const { t, href } = pageContext
  const visible = services.catalog.visibleTo(request.principal)
  const progress = visible.startProgress?.() ?? null
  const served = await visible.asDataset()
  const source = catalogSource(served)
  const themes = (await services.queryService.facets(source, NOTHING_SELECTED)).find(
    ({ facet }) => facet.name === 'theme',
  )
  const latest = [...served.entries].sort((a, b) => (modifiedOf(a) < modifiedOf(b) ? 1 : -1)).slice(0, CARDS)
  const records = served.entries.reduce((sum, { statistics }) => sum + statistics.records, 0)
  const triples = served.entries.reduce((sum, entry) => sum + entry.triples, 0)
  const counts = [
    t.many('{n} dataset', '{n} datasets', served.entries.length),
    t.many('{n} record', '{n} records', records),
    t.many('{n} triple', '{n} triples', triples),
  ]
  const links = (themes?.values ?? []).flatMap(value => {
    if (value.state === 'excluded') return []
    const refine = [{ facet: 'theme', value: value.value }]
    const target = href(CATALOG_PATH, selectionParameters({ ...NOTHING_SELECTED, refine }))
    return [
      html`<li><a href="${target}"><span>${value.name}</span> <data value="${value.count}">${pageContext.number(value.count)}</data></a></li>`,
    ]
  })
  return sendSitePage(startingReply(reply, progress), pageContext, {
    title: '',
    status: progress === null ? 200 : 503,
    part: 'home',
    isWide: true,
    head: html`${feedLink(pageContext, NOTHING_SELECTED)}
${catalogData(services, served.entries)}
`,
    body: html`<section class="hero"><h1>${services.title}</h1>
${services.description === '' ? '' : html`<p>${services.description}</p>`}
<form class="search" action="${href(CATALOG_PATH)}" method="get" role="search">${languageField(pageContext)}<label class="hidden" for="q">${t('Words to look for')}</label>
<input type="search" id="q" name="q" placeholder="${t('Find datasets')}"><button>${t('Search')}</button></form>
${progress === null ? '' : startNote(pageContext, progress)}${latest.length === 0 ? '' : html`<p class="figures">${counts.map(count => html`<span>${count}</span> `)}</p>`}</section>
${links.length === 0 ? '' : html`<section><h2>${t('Themes')}</h2><ul class="themes">${links}</ul></section>`}
${
  latest.length === 0
    ? progress === null
      ? html`<p class="empty">${t('No dataset is published yet.')}</p>`
      : ''
    : html`<section><h2>${t('Last modified')}</h2><ul class="cards">${latest.map(
        entry => html`<li>${datasetCard(pageContext, entry, 'h3')}</li>
`,
      )}</ul><p><a href="${href(CATALOG_PATH)}">${t('All datasets')}</a></p></section>`
}`,
  })
}
