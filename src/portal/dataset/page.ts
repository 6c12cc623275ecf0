import type { FastifyReply } from 'fastify'
import { Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { lookup } from '../../model/lookup.ts'
import type { Facet } from '../../query/facets.ts'
import { sendSitePage } from '../../site/frame.ts'
import { type Html, html } from '../../site/html.ts'
import { pageContextOf } from '../../site/page-context.ts'
import { BESIDE_FACETS, facetPanel, facetValues } from '../parts/facets.ts'
import { plainText } from '../parts/rich-text.ts'
import { isFilterFault, type PageServices, recordsSource } from '../query-service.ts'
import { NOTHING_SELECTED, type PageSelection, readSelection, selectionParameters } from '../selection.ts'
import { datasetTitle, languageMark, metaText } from '../services.ts'
import { datasetData } from '../structured-data.ts'
import { analyzeTab } from './analyze-tab.ts'
import { apiTab } from './api-tab.ts'
import { exportTab } from './export-tab.ts'
import { filterBar } from './filter-bar.ts'
import { informationTab } from './information.ts'
import { linkedDataTab } from './linked-data.ts'
import { mapTab } from './map-tab.ts'
import { mappingTab } from './mapping-tab.ts'
import { datasetPath, type Tab, type TabContext, type TabName } from './tab.ts'
import { tableTab } from './table.ts'
import { versionsTab } from './versions-tab.ts'

/** The views of a dataset, in their order. */
const TABS: readonly Tab[] = [
  informationTab,
  tableTab,
  mapTab,
  analyzeTab,
  exportTab,
  apiTab,
  linkedDataTab,
  mappingTab(null),
  versionsTab,
]

/**
 * Answers with a tab of a dataset. Faults: NotFoundResource, Unauthorised, ForbiddenAccess, those of the store.
 *
 * @param postedTab the tab, if it is built for this request from a posted form
 */
export async function answerDataset(
  reply: FastifyReply,
  services: PageServices,
  id: string,
  name: string,
  postedTab?: Tab,
): Promise<FastifyReply> {
  const { request } = reply
  const { queryService } = services
  const entry = services.catalog.visibleTo(request.principal).dataset(id)
  const pageContext = pageContextOf(request, services)
  const query = request.query as QueryParameters
  const path = (tab: TabName) => `/explore/dataset/${encodeURIComponent(id)}/${tab}/`
  const shown = TABS.filter(tab => tab.isShown?.({ entry, pageContext }) !== false)
  const found = shown.find(each => each.name === name)
  const tab = found === undefined ? undefined : (postedTab ?? found)
  if (tab === undefined) throw new Fault(NOT_FOUND_RESOURCE, { kind: 'page', id: name.slice(0, 100) })
  const context = { pageContext, services, queryService, entry, source: recordsSource(entry), query, path }
  const isFiltered = tab.isFiltered === true && entry.content === 'records'
  const { selection, fault, content, total } = await renderTab(tab, context, isFiltered)
  const facets = isFiltered
    ? await facetsBeside(context, fault === null ? selection : NOTHING_SELECTED, tab)
    : html``
  const description = plainText(metaText(entry, 'description') ?? '')
  return sendSitePage(reply, pageContext, {
    title:
      tab.name === 'information'
        ? datasetTitle(entry)
        : `${datasetTitle(entry)}: ${pageContext.t(tab.label)}`,
    description,
    part: 'catalog',
    isWide: true,
    status: fault === null ? (content.status ?? 200) : 400,
    islands: [...(content.islands ?? []), ...(isFiltered ? ['filter.js'] : [])],
    path: datasetPath(id, tab.name),
    head: html`${content.head ?? ''}${tab.name === 'information' ? datasetData(services, entry) : ''}
`,
    ...(content.imageSources === undefined ? {} : { imageSources: content.imageSources }),
    body: html`<div class="dataset-head"><nav class="crumbs" aria-label="${pageContext.t('Where you are')}"><a href="${pageContext.href('/explore/')}">${pageContext.t('Datasets')}</a></nav>
<h1${languageMark(pageContext, entry)}>${datasetTitle(entry)}</h1>
${tabBar(shown, tab, { ...context, selection })}</div>
${isFiltered ? filterBar({ ...context, selection }, tab, fault, total) : ''}
<div class="${isFiltered ? 'with-facets' : tab.isWide === true ? 'whole' : 'reading'}">${facets}<div class="panel" id="${BESIDE_FACETS}">${fault === null ? '' : faultInstead(pageContext, isFiltered, fault)}${content.body}</div></div>`,
  })
}

interface Rendered {
  readonly selection: PageSelection
  /** The fault of the filter; null if it is valid. */
  readonly fault: Fault | null
  readonly content: Awaited<ReturnType<Tab['render']>>
  /** Number of selected records; null if unknown. */
  readonly total: number | null
}

/** An invalid filter is reported on the page, which shows no records then. */
async function renderTab(
  tab: Tab,
  context: Omit<TabContext, 'selection'>,
  isFiltered: boolean,
): Promise<Rendered> {
  let selection = NOTHING_SELECTED
  try {
    selection = { ...readSelection(context.query), view: viewOf(tab, context.query) }
    const total = isFiltered ? await context.queryService.count(context.source, selection) : null
    const values = isFiltered ? await allValues({ ...context, selection }, tab) : null
    const content = values === null ? await tab.render({ ...context, selection }) : { body: values }
    return { selection, fault: null, content, total }
  } catch (error) {
    if (!isFilterFault(error)) throw error
    return { selection, fault: error, content: { body: html`` }, total: null }
  }
}

function viewOf({ parameters = [] }: Tab, query: QueryParameters): Readonly<Record<string, string>> {
  return Object.fromEntries(
    parameters.flatMap(name => {
      const value = lookup(query, name)
      return typeof value === 'string' && value !== '' ? [[name, value]] : []
    }),
  )
}

/** The content of a tab in case of a fault: the filter bar, if the page has one, shows the message. */
function faultInstead({ t }: TabContext['pageContext'], isFiltered: boolean, { message }: Fault): Html {
  return isFiltered
    ? html`<p class="empty">${t('Nothing is shown until the filter can be read.')}</p>`
    : html`<div class="fault" role="alert"><p lang="en" dir="auto">${message}</p></div>`
}

/** The values of a facet in place of the tab, if the address requests them. */
function allValues({ pageContext, queryService, source, selection, query, path }: TabContext, tab: Tab) {
  const place = { path: path(tab.name), label: ({ field }: Facet) => field.label }
  return facetValues(pageContext, queryService, source, selection, query, place)
}

async function facetsBeside(
  context: Omit<TabContext, 'selection'>,
  selection: PageSelection,
  tab: Tab,
): Promise<Html> {
  const { pageContext, queryService, source, path } = context
  const shown = await queryService.facets(source, selection)
  return facetPanel(pageContext, shown, selection, path(tab.name), ({ field }) => field.label)
}

function tabBar(shown: readonly Tab[], current: Tab, { pageContext, path, selection }: TabContext): Html {
  const cached = selectionParameters({ ...selection, page: 1, view: {} })
  const links = shown.map(tab => {
    const here = tab.name === current.name ? html` aria-current="page"` : ''
    return html`<li><a href="${pageContext.href(path(tab.name), cached)}"${here}>${pageContext.t(tab.label)}</a></li>`
  })
  return html`<nav class="tabs" aria-label="${pageContext.t('Views of the dataset')}"><ul>${links}</ul></nav>`
}
