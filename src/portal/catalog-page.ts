import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServedDataset } from '../catalog/served.ts'
import type { Fault } from '../errors/errors.ts'
import type { QueryParameters } from '../http/query-string.ts'
import { lookup } from '../model/lookup.ts'
import type { Answer } from '../query/execute/answer.ts'
import { sendSitePage } from '../site/frame.ts'
import { type Html, html } from '../site/html.ts'
import { queryText, type Visit, visitOf } from '../site/page-context.ts'
import { toSay } from '../site/translator.ts'
import { catalogSource, type Inquiry, isFilterFault, type Source } from './ask.ts'
import { datasetCard } from './parts/cards.ts'
import { chosenChips, facetPanel, type ValueName } from './parts/facets.ts'
import { hiddenFields } from './parts/hidden-fields.ts'
import { languageField } from './parts/language-field.ts'
import { pager } from './parts/pager.ts'
import { startingReply, startNote } from './parts/start-progress.ts'
import {
  apiParameters,
  isEverything,
  NOTHING_SELECTED,
  readSelection,
  type Selection,
  selectionParameters,
} from './selection.ts'
import type { SiteServices } from './services.ts'

/** Where the catalog is. */
export const CATALOG_PATH = '/explore/'

const CARDS = 20

/** Datasets that are put in the order of their use; beyond, by their titles. */
const MOST_RANKED = 10_000

/** The orders of datasets that the page offers, in ODSQL, and what they are called. */
const ORDERS = [
  ['', toSay('Best known')],
  ['title', toSay('Title')],
  ['modified desc', toSay('Last modified')],
  ['records_count desc', toSay('Most records')],
] as const

/** Best known first, for the API: figures of use are fields of its catalog. */
const BEST_KNOWN = 'explore.popularity_score desc, title'

/** What the facets are called; others by their own names. */
const FACET_LABELS: Readonly<Record<string, string>> = {
  theme: toSay('Theme'),
  keyword: toSay('Keyword'),
  publisher: toSay('Publisher'),
  license: toSay('Licence'),
  language: toSay('Language'),
  features: toSay('Good for'),
}

/** What datasets are good for. */
const FEATURE_LABELS: Readonly<Record<string, string>> = {
  analyze: toSay('Charts'),
  timeserie: toSay('Time series'),
  geo: toSay('Maps'),
  image: toSay('Images'),
  calendar: toSay('Calendars'),
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
  const progress = seen.startProgress?.() ?? null
  const served = await seen.asked()
  const source = catalogSource(served)
  const { selection, fault } = readable(request.query as QueryParameters)
  const found = await findOrFault(() => findCards(services, inquiry, source, selection))
  const problem = fault ?? found.fault
  const facets = await inquiry.facets(source, problem === null ? selection : NOTHING_SELECTED)
  const byId = new Map(served.entries.map(entry => [entry.dataset.id, entry]))
  const shown = (found.answer?.ids ?? []).flatMap(id => byId.get(id) ?? [])
  const total = found.answer?.total ?? 0
  const label = (name: string) => say(lookup(FACET_LABELS, name.replace(/^default\./, '')) ?? name)
  const called = valueNames(visit)
  return sendSitePage(startingReply(reply, progress), visit, {
    title: say('Datasets'),
    part: 'catalog',
    isWide: true,
    status: problem !== null ? 400 : progress === null ? 200 : 503,
    path: CATALOG_PATH,
    head: feedLink(visit, selection),
    body: html`<div class="catalog-head"><h1>${say('Datasets')}</h1>
${searchForm(visit, selection)}
${chosenChips(visit, selection, CATALOG_PATH, label, called)}</div>
<div class="with-facets">${facetPanel(visit, facets, selection, CATALOG_PATH, ({ name }) => label(name), called)}
<div class="panel">
<div class="bar-line">${progress === null ? html`<p class="count" role="status">${say.many('{n} dataset', '{n} datasets', total)}</p>` : startNote(visit, progress)}${orders(visit, selection)}</div>
${problem === null ? '' : html`<div class="fault" role="alert"><p>${problem.message}</p></div>`}
${progress !== null && shown.length === 0 ? '' : list(visit, selection, shown)}
${pager(visit, selection.page, Math.ceil(total / CARDS), page => visit.href(CATALOG_PATH, selectionParameters({ ...selection, page })))}
${takeAway(visit, selection)}
</div></div>`,
  })
}

/** The datasets of a page. How often they are used changes with each call, so that order is made of what was kept. */
async function findCards(
  { usage }: Pick<SiteServices, 'usage'>,
  inquiry: Inquiry,
  source: Source,
  selection: Selection,
): Promise<{ readonly ids: readonly string[]; readonly total: number }> {
  const offset = (selection.page - 1) * CARDS
  const idsOf = ({ rows }: Answer) => rows.flatMap(({ id }) => id ?? [])
  if (selection.orderBy !== '') {
    const answer = await inquiry.find(source, selection, { select: 'datasetid', limit: CARDS, offset })
    return { ids: idsOf(answer), total: answer.total }
  }
  const titled = { ...selection, orderBy: 'title' }
  const answer = await inquiry.find(source, titled, { select: 'datasetid', limit: MOST_RANKED, offset: 0 })
  const ranked = idsOf(answer)
    .map(id => ({ id, score: Number(usage(id)?.popularity_score ?? 0) }))
    .sort((a, b) => b.score - a.score)
  return { ids: ranked.slice(offset, offset + CARDS).map(({ id }) => id), total: answer.total }
}

/** What values of facets are called: languages in the language of the page. */
function valueNames({ say, language }: Visit): ValueName {
  const languages = new Intl.DisplayNames([language], { type: 'language', fallback: 'code' })
  return (facet, value) => {
    if (facet === 'features') return say(lookup(FEATURE_LABELS, value) ?? value)
    return /language$/.test(facet) && /^[a-z]{2,3}$/.test(value) ? (languages.of(value) ?? value) : value
  }
}

function list(visit: Visit, selection: Selection, shown: readonly ServedDataset[]): Html {
  const { say, href } = visit
  if (shown.length === 0)
    return isEverything(selection)
      ? html`<p class="empty">${say('No dataset is published yet.')}</p>`
      : html`<div class="empty"><p>${say('No dataset has all of this. Take something out of the filter.')}</p>
<p><a href="${href(CATALOG_PATH)}">${say('All datasets')}</a></p></div>`
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
  const hidden = hiddenFields(selectionParameters({ ...selection, words: '', page: 1 }))
  return html`<form class="search" action="${visit.href(CATALOG_PATH)}" method="get" role="search">${hidden}${languageField(visit)}
<label class="hidden" for="q">${say('Words to look for')}</label>
<input type="search" id="q" name="q" value="${selection.words}" placeholder="${say('Find datasets')}">
<button>${say('Search')}</button></form>`
}

function orders(visit: Visit, selection: Selection): Html {
  const links = ORDERS.map(([order, name]) => {
    const isChosen = order === selection.orderBy
    const target = visit.href(CATALOG_PATH, selectionParameters({ ...selection, orderBy: order, page: 1 }))
    return html`<li><a href="${target}" rel="nofollow"${isChosen ? html` aria-current="true"` : ''}>${visit.say(name)}</a></li>`
  })
  return html`<nav class="orders" aria-label="${visit.say('Order')}"><ul>${links}</ul></nav>`
}

/** The same list for programs: the parameters of its address are those of the API. */
function takeAway(visit: Visit, selection: Selection): Html {
  const api = `/api/explore/v2.1/catalog`
  const orderBy = selection.orderBy === '' ? BEST_KNOWN : selection.orderBy
  const parameters = queryText(apiParameters({ ...selection, orderBy }))
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

/** Tells the head of a page of the feed of a list of datasets, what changed last first. */
export function feedLink(visit: Visit, selection: Selection): Html {
  const root = new URL(visit.site.base).pathname.replace(/\/+$/, '')
  const latest = { ...selection, orderBy: 'modified desc' }
  const address = `${root}/api/explore/v2.1/catalog/exports/rss${queryText(apiParameters(latest))}`
  return html`<link rel="alternate" type="application/rss+xml" title="${visit.site.title}" href="${address}">`
}
