import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendSitePage } from '../site/frame.ts'
import { html } from '../site/html.ts'
import { pageContextOf } from '../site/page-context.ts'
import { CATALOG_PATH, feedLink } from './catalog-page.ts'
import { datasetCard, modifiedOf } from './parts/cards.ts'
import { languageField } from './parts/form-fields.ts'
import { startingReply, startNote } from './parts/start-progress.ts'
import { catalogSource, type QueryService } from './query-service.ts'
import { NOTHING_SELECTED, selectionParameters } from './selection.ts'
import type { SiteServices } from './services.ts'
import { catalogData } from './structured-data.ts'

const CARDS = 6

/** Answers with the home page: a description of the portal, a search, its themes, the latest changes. */
export async function answerHome(
  request: FastifyRequest,
  reply: FastifyReply,
  services: SiteServices,
  queryService: QueryService,
): Promise<FastifyReply> {
  const pageContext = pageContextOf(request, services)
  const { t, href } = pageContext
  const visible = services.catalog.visibleTo(request.principal)
  const progress = visible.startProgress?.() ?? null
  const served = await visible.asDataset()
  const source = catalogSource(served)
  const themes = (await queryService.facets(source, NOTHING_SELECTED)).find(
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
