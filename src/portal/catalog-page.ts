import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServedDataset } from '../catalog/served.ts'
import type { Fault } from '../errors.ts'
import { type Html, html } from '../http/html.ts'
import type { QueryParameters } from '../http/query-string.ts'
import { sendSitePage } from '../http/site/frame.ts'
import { queryText, type Visit, visitOf } from '../http/site/visit.ts'
import { catalogSource, type Inquiry, isFilterFault } from './ask.ts'
import { datasetCard } from './parts/cards.ts'
import { chosenChips, facetPanel } from './parts/facets.ts'
import { pager } from './parts/pager.ts'
import {
  apiParameters,
  NOTHING_SELECTED,
  readSelection,
  type Selection,
  selectionParameters,
} from './selection.ts'
import type { SiteServices } from './services.ts'

/** Where the catalog is. */
export const CATALOG_PATH = '/explore/'

const CARDS = 20

/** The orders of datasets that the page offers, in ODSQL, and what they are called. */
const ORDERS = [
  ['', 'Best known'],
  ['title', 'Title'],
  ['modified desc', 'Last modified'],
  ['records_count desc', 'Most records'],
] as const

/** What the facets are called; others by their own names. */
const FACET_LABELS: Readonly<Record<string, string>> = {
  theme: 'Theme',
  keyword: 'Keyword',
  publisher: 'Publisher',
  license: 'Licence',
  language: 'Language',
  features: 'Good for',
}

/** Answers with the catalog: search, facets, order, cards, and the same as feeds and files. */
export async function answerCatalog(
  request: FastifyRequest,
  reply: FastifyReply,
  services: SiteServices,
  inquiry: Inquiry,
): Promise<FastifyReply> {
  const visit = visitOf(request, services)
  const { say } = visit
  const seen = services.catalog.seenBy(request.principal)
  const served = await seen.asked()
  const source = catalogSource(served)
  const { selection, fault } = readable(request.query as QueryParameters)
  const asked = { ...selection, orderBy: selection.orderBy === '' ? 'title' : selection.orderBy }
  const found = await findOrFault(() =>
    inquiry.find(source, asked, { select: 'datasetid', limit: CARDS, offset: (selection.page - 1) * CARDS }),
  )
  const problem = fault ?? found.fault
  const facets = await inquiry.facets(source, problem === null ? selection : NOTHING_SELECTED)
  const byId = new Map(served.entries.map(entry => [entry.dataset.id, entry]))
  const shown = (found.answer?.rows ?? []).flatMap(({ id }) => byId.get(id ?? '') ?? [])
  const total = found.answer?.total ?? 0
  const label = (name: string) => say(FACET_LABELS[name.replace(/^default\./, '')] ?? name)
  return sendSitePage(reply, visit, {
    title: say('Datasets'),
    part: 'catalog',
    isWide: true,
    status: problem === null ? 200 : 400,
    head: feedLinks(visit, selection),
    body: html`<div class="catalog-head"><h1>${say('Datasets')}</h1>
${searchForm(visit, selection)}
${chosenChips(visit, selection, CATALOG_PATH, label)}</div>
<div class="with-facets">${facetPanel(visit, facets, selection, CATALOG_PATH, ({ name }) => label(name))}
<div class="panel">
<div class="bar-line"><p class="count" role="status">${say.many('{n} dataset', '{n} datasets', total)}</p>${orders(visit, selection)}</div>
${problem === null ? '' : html`<div class="fault" role="alert"><p>${problem.message}</p></div>`}
${list(visit, shown)}
${pager(visit, selection.page, Math.ceil(total / CARDS), page => visit.href(CATALOG_PATH, selectionParameters({ ...selection, page })))}
${takeAway(visit, selection)}
</div></div>`,
  })
}

function list(visit: Visit, shown: readonly ServedDataset[]): Html {
  if (shown.length === 0)
    return html`<p class="empty">${visit.say('No dataset has all of this. Take something out of the filter.')}</p>`
  return html`<ul class="cards">${shown.map(
    entry => html`<li>${datasetCard(visit, entry)}</li>
`,
  )}</ul>`
}

function readable(query: QueryParameters): { readonly selection: Selection; readonly fault: Fault | null } {
  try {
    return { selection: readSelection(query), fault: null }
  } catch (error) {
    if (!isFilterFault(error)) throw error
    return { selection: NOTHING_SELECTED, fault: error }
  }
}

async function findOrFault<Answer>(
  find: () => Promise<Answer>,
): Promise<{ readonly answer: Answer | null; readonly fault: Fault | null }> {
  try {
    return { answer: await find(), fault: null }
  } catch (error) {
    if (!isFilterFault(error)) throw error
    return { answer: null, fault: error }
  }
}

function searchForm(visit: Visit, selection: Selection): Html {
  const { say } = visit
  const hidden = Object.entries(selectionParameters({ ...selection, words: '', page: 1 })).flatMap(
    ([name, values]) =>
      (Array.isArray(values) ? values : [values ?? '']).map(value =>
        value === '' ? '' : html`<input type="hidden" name="${name}" value="${String(value)}">`,
      ),
  )
  return html`<form class="search" action="${visit.href(CATALOG_PATH)}" method="get" role="search">${hidden}
<label class="hidden" for="q">${say('Words to look for')}</label>
<input type="search" id="q" name="q" value="${selection.words}" placeholder="${say('Find datasets')}">
<button>${say('Search')}</button></form>`
}

function orders(visit: Visit, selection: Selection): Html {
  const links = ORDERS.filter(([order]) => order !== '').map(([order, name]) => {
    const isChosen = order === (selection.orderBy === '' ? 'title' : selection.orderBy)
    const target = visit.href(CATALOG_PATH, selectionParameters({ ...selection, orderBy: order, page: 1 }))
    return html`<li><a href="${target}" rel="nofollow"${isChosen ? html` aria-current="true"` : ''}>${visit.say(name)}</a></li>`
  })
  return html`<nav class="orders" aria-label="${visit.say('Order')}"><ul>${links}</ul></nav>`
}

/** The same list for programs: the parameters of its address are those of the API. */
function takeAway(visit: Visit, selection: Selection): Html {
  const api = `/api/explore/v2.1/catalog`
  const parameters = queryText(apiParameters(selection))
  const links = [
    ['JSON', `${api}/datasets${parameters}`],
    ['CSV', `${api}/exports/csv${parameters}`],
    ['RSS', `${api}/exports/rss${parameters}`],
    ['DCAT', `${api}/exports/ttl${parameters}`],
    ['RDF/XML', `${api}/exports/rdf${parameters}`],
  ] as const
  const root = new URL(visit.site.base).pathname.replace(/\/+$/, '')
  return html`<p class="take-away"><span>${visit.say('This list as')}</span> ${links.map(
    ([name, address]) => html`<a href="${root}${address}" rel="nofollow">${name}</a> `,
  )}</p>`
}

function feedLinks(visit: Visit, selection: Selection): Html {
  const root = new URL(visit.site.base).pathname.replace(/\/+$/, '')
  const address = `${root}/api/explore/v2.1/catalog/exports/rss${queryText(apiParameters(selection))}`
  return html`<link rel="alternate" type="application/rss+xml" title="${visit.site.title}" href="${address}">`
}
