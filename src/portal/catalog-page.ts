import type { FastifyReply } from 'fastify'
import type { ServedDataset } from '../catalog/served.ts'
import type { QueryParameters } from '../http/query-string.ts'
import { lookup } from '../model/lookup.ts'
import type { Facet } from '../query/facets.ts'
import { sendSitePage } from '../site/frame.ts'
import { type Html, html } from '../site/html.ts'
import { type LinkParameters, messageKey, type PageContext, pageContextOf } from '../site/page-context.ts'
import { endpointAddress, takeAway } from './dataset/tab.ts'
import { datasetCard, startingReply, startNote } from './parts/cards.ts'
import { BESIDE_FACETS, chosenChips, facetPanel, facetValues, type ValueName } from './parts/facets.ts'
import { hiddenFields, searchForm } from './parts/form-fields.ts'
import { pager } from './parts/pager.ts'
import { catalogSource, orFilterFault, type PageQuerySource, type PageServices } from './query-service.ts'
import {
  apiParameters,
  isEverything,
  NOTHING_SELECTED,
  type PageSelection,
  readSelection,
  selectionParameters,
} from './selection.ts'
import type { SiteServices } from './services.ts'

/** Path of the catalog. */
export const CATALOG_PATH = '/explore/'

const CARDS = 20

/** Maximum number of datasets that are sorted by usage; beyond it, they are sorted by title. */
const MAX_RANKED = 10_000

/** The orders of datasets that the page offers, in ODSQL, with their labels. */
const ORDERS = [
  ['', messageKey('Best known')],
  ['title', messageKey('Title')],
  ['modified desc', messageKey('Last modified')],
  ['records_count desc', messageKey('Most records')],
] as const

/** Best known first, for the API: usage statistics are fields of its catalog. */
const BEST_KNOWN = 'explore.popularity_score desc, title'

/** Labels of facets; others have their own names. */
const FACET_LABELS: Readonly<Record<string, string>> = {
  theme: messageKey('Theme'),
  keyword: messageKey('Keyword'),
  publisher: messageKey('Publisher'),
  license: messageKey('Licence'),
  language: messageKey('Language'),
  features: messageKey('Good for'),
}

const FEATURE_LABELS: Readonly<Record<string, string>> = {
  analyze: messageKey('Charts'),
  timeserie: messageKey('Time series'),
  geo: messageKey('Maps'),
  image: messageKey('Images'),
  calendar: messageKey('Calendars'),
}

/** Answers with the catalog: search, facets, order, cards, and links to feeds and files of the same list. */
export async function answerCatalog(reply: FastifyReply, services: PageServices): Promise<FastifyReply> {
  const { request } = reply
  const { queryService } = services
  const pageContext = pageContextOf(request, services)
  const { t } = pageContext
  const visible = services.catalog.visibleTo(request.principal)
  const progress = visible.startProgress?.() ?? null
  const served = await visible.asDataset()
  const source = catalogSource(served)
  const query = request.query as QueryParameters
  const read = await orFilterFault(async () => readSelection(query))
  const selection = read.answer ?? NOTHING_SELECTED
  const found = await orFilterFault(() => findCards(services, source, selection))
  const problem = read.fault ?? found.fault
  const facets = await queryService.facets(source, problem === null ? selection : NOTHING_SELECTED)
  const byId = new Map(served.entries.map(entry => [entry.dataset.id, entry]))
  const shown = (found.answer?.ids ?? []).flatMap(id => byId.get(id) ?? [])
  const { total = 0, page = 1 } = found.answer ?? {}
  const label = (name: string) => t(lookup(FACET_LABELS, name.replace(/^default\./, '')) ?? name)
  const called = valueNames(pageContext)
  const place = { path: CATALOG_PATH, label: ({ name }: Facet) => label(name), called }
  const values =
    problem === null ? await facetValues(pageContext, queryService, source, selection, query, place) : null
  const hidden = hiddenFields(selectionParameters({ ...selection, words: '', page: 1 }))
  return sendSitePage(startingReply(reply, progress), pageContext, {
    title: t('Datasets'),
    part: 'catalog',
    isWide: true,
    status: problem !== null ? 400 : progress === null ? 200 : 503,
    path: CATALOG_PATH,
    head: feedLink(pageContext, selection),
    body: html`<div class="catalog-head"><h1>${t('Datasets')}</h1>
${searchForm(pageContext, CATALOG_PATH, selection.words, hidden)}
${chosenChips(pageContext, selection, CATALOG_PATH, label, called)}</div>
<div class="with-facets">${facetPanel(pageContext, facets, selection, CATALOG_PATH, place.label, called)}
<div class="panel" id="${BESIDE_FACETS}">${
      values ??
      html`
<div class="bar-line">${problem !== null ? '' : progress === null ? html`<p class="count" role="status">${t.many('{n} dataset', '{n} datasets', total)}</p>` : startNote(pageContext, progress)}${orders(pageContext, selection)}</div>
${problem === null ? '' : html`<div class="fault" role="alert"><p lang="en" dir="auto">${problem.message}</p></div>`}
${problem !== null || (progress !== null && shown.length === 0) ? '' : list(pageContext, selection, shown)}
${pager(pageContext, page, Math.ceil(total / CARDS), to => pageContext.href(CATALOG_PATH, selectionParameters({ ...selection, page: to })))}
${twins(pageContext, selection)}
`
    }</div></div>`,
  })
}

/**
 * The datasets of a page, or of the last one if there are fewer. Usage changes with each call, so that order is computed from
 * cached datasets.
 */
async function findCards(
  { usage, queryService }: PageServices,
  source: PageQuerySource,
  selection: PageSelection,
): Promise<{ readonly ids: readonly string[]; readonly total: number; readonly page: number }> {
  const isRanked = selection.orderBy === ''
  const ordered = isRanked ? { ...selection, orderBy: 'title' } : selection
  const pageAt = async (page: number) => {
    const offset = (page - 1) * CARDS
    const clauses = isRanked ? { limit: MAX_RANKED, offset: 0 } : { limit: CARDS, offset }
    const { rows, total } = await queryService.find(source, ordered, { select: 'datasetid', ...clauses })
    const found = rows.flatMap(({ id }) => id ?? [])
    const ids = isRanked ? ranked(found, usage).slice(offset, offset + CARDS) : found
    return { ids, total, page }
  }
  const requested = await pageAt(selection.page)
  const pages = Math.max(1, Math.ceil(requested.total / CARDS))
  return selection.page <= pages ? requested : pageAt(pages)
}

function ranked(ids: readonly string[], usage: SiteServices['usage']): readonly string[] {
  return ids
    .map(id => ({ id, score: Number(usage(id)?.popularity_score ?? 0) }))
    .sort((a, b) => b.score - a.score)
    .map(({ id }) => id)
}

/** Labels of facet values: languages in the language of the page. */
function valueNames({ t, language }: PageContext): ValueName {
  const languages = new Intl.DisplayNames([language], { type: 'language', fallback: 'code' })
  return (facet, value) => {
    if (facet === 'features') return t(lookup(FEATURE_LABELS, value) ?? value)
    return /language$/.test(facet) && /^[a-z]{2,3}$/.test(value) ? (languages.of(value) ?? value) : value
  }
}

function list(pageContext: PageContext, selection: PageSelection, shown: readonly ServedDataset[]): Html {
  const { t, href } = pageContext
  if (shown.length === 0)
    return isEverything(selection)
      ? html`<p class="empty">${t('No dataset is published yet.')}</p>`
      : html`<div class="empty"><p>${t('No dataset matches all of this. Remove something from the filter.')}</p>
<p><a href="${href(CATALOG_PATH)}">${t('All datasets')}</a></p></div>`
  return html`<ul class="cards">${shown.map(
    entry => html`<li>${datasetCard(pageContext, entry)}</li>
`,
  )}</ul>`
}

function orders(pageContext: PageContext, selection: PageSelection): Html {
  const links = ORDERS.map(([order, name]) => {
    const isChosen = order === selection.orderBy
    const target = pageContext.href(
      CATALOG_PATH,
      selectionParameters({ ...selection, orderBy: order, page: 1 }),
    )
    return html`<li><a href="${target}" rel="nofollow"${isChosen ? html` aria-current="true"` : ''}>${pageContext.t(name)}</a></li>`
  })
  return html`<nav class="orders" aria-label="${pageContext.t('Order')}"><ul>${links}</ul></nav>`
}

/** Links to the same list in machine-readable formats: the parameters are those of the API. */
function twins(pageContext: PageContext, selection: PageSelection): Html {
  const orderBy = selection.orderBy === '' ? BEST_KNOWN : selection.orderBy
  const parameters = apiParameters({ ...selection, orderBy })
  const link = (name: string, path: string) => [name, catalogAddress(pageContext, path, parameters)] as const
  return takeAway(pageContext.t('This list as'), [
    link('JSON', 'datasets'),
    link('CSV', 'exports/csv'),
    link('RSS', 'exports/rss'),
    link('DCAT', 'exports/ttl'),
    link('RDF/XML', 'exports/rdf'),
  ])
}

function catalogAddress(pageContext: PageContext, path: string, parameters: LinkParameters): string {
  return endpointAddress(pageContext, `/api/explore/v2.1/catalog/${path}`, parameters).href
}

/** A link to the feed of a list of datasets, the last changed first. */
export function feedLink(pageContext: PageContext, selection: PageSelection): Html {
  const latest = apiParameters({ ...selection, orderBy: 'modified desc' })
  const address = catalogAddress(pageContext, 'exports/rss', latest)
  return html`<link rel="alternate" type="application/rss+xml" title="${pageContext.site.title}" href="${address}">`
}
