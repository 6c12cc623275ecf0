import type { ServedDataset } from '../../catalog/served.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { type Html, html } from '../../site/html.ts'
import { type LinkParameters, type PageContext, queryText } from '../../site/page-context.ts'
import { rootOf } from '../../site/signed-in.ts'
import type { PageQuerySource, QueryService } from '../query-service.ts'
import type { PageSelection } from '../selection.ts'
import type { SiteServices } from '../services.ts'

/** The input of a tab of a dataset. */
export interface TabContext {
  readonly pageContext: PageContext
  readonly services: SiteServices
  readonly queryService: QueryService
  readonly entry: ServedDataset
  readonly source: PageQuerySource
  /** The records that all tabs show; everything if the filter is invalid. */
  readonly selection: PageSelection
  /** All parameters of the address: a tab may have its own. */
  readonly query: QueryParameters
  readonly path: (tab: TabName) => string
}

export type TabName =
  | 'information'
  | 'table'
  | 'map'
  | 'analyze'
  | 'export'
  | 'api'
  | 'linked-data'
  | 'mapping'
  | 'versions'

/** One view of a dataset. */
export interface Tab {
  readonly name: TabName
  /** In English: it is translated for display. */
  readonly label: string
  /** Whether a dataset has it; every dataset by default. */
  readonly isShown?: (context: Pick<TabContext, 'entry' | 'pageContext'>) => boolean
  /** True if it shows the records that the filter bar selects. */
  readonly isFiltered?: boolean
  /** True if it uses the whole width, as those with a filter do. */
  readonly isWide?: boolean
  /** Its own parameters, which the filter and the links of the tab keep. */
  readonly parameters?: readonly string[]
  /** Faults of a filter are reported by the filter bar. */
  readonly render: (context: TabContext) => Promise<TabContent>
}

export interface TabContent {
  readonly body: Html
  readonly head?: Html
  /** Scripts of the tab: names of built files. */
  readonly islands?: readonly string[]
  readonly imageSources?: readonly string[]
  /** 200 by default. */
  readonly status?: number
}

/** The reason why a tab shows no record: the dataset has none, or the filter matches none. */
export function noRecords({ pageContext: { t }, entry }: Pick<TabContext, 'pageContext' | 'entry'>): string {
  return entry.statistics.records === 0
    ? t('The dataset has no records.')
    : t('No record matches all of this. Remove something from the filter.')
}

/** The address of a path for programs, as a page links to it and in full; unlike those of pages it contains no language. */
export function endpointAddress({ site }: PageContext, path: string, parameters: LinkParameters = {}) {
  const end = path + queryText(parameters)
  return { href: rootOf(site) + end, address: site.base + end }
}

/** The canonical path of a view of a dataset. */
export function datasetPath(dataset: string, tab: TabName = 'information'): string {
  const home = `/explore/dataset/${encodeURIComponent(dataset)}/`
  return tab === 'information' ? home : `${home}${tab}/`
}

/** Links to what a page shows, for programs. */
export function takeAway(label: string, links: readonly (readonly [name: string, href: string])[]): Html {
  return html`<p class="take-away"><span>${label}</span> ${links.map(
    ([name, href]) => html`<a href="${href}" rel="nofollow">${name}</a> `,
  )}</p>`
}

/** The paths of the endpoints of a dataset, below the base address. */
export function endpointPaths(dataset: string) {
  const id = encodeURIComponent(dataset)
  const explore = `/api/explore/v2.1/catalog/datasets/${id}`
  return {
    explore,
    records: `${explore}/records`,
    exports: `${explore}/exports`,
    attachments: `${explore}/attachments`,
    console: `${explore}/console`,
    openapi: `${explore}/swagger.json`,
    odata: `/api/odata/${id}`,
    fragments: `/api/tpf/${id}`,
    sparql: `/api/sparql/${id}`,
    void: `/api/void/${id}`,
    queries: `/api/void/${id}/queries`,
    shapes: `/api/shapes/${id}`,
    document: `/ld/resources/${id}`,
  } as const
}
