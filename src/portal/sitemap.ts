import type { ServedDataset } from '../catalog/served.ts'
import { XML_DECLARATION, xmlText } from '../model/xml.ts'
import type { Tab } from './dataset/tab.ts'
import { TABS } from './dataset/tabs.ts'
import { modifiedOf } from './parts/cards.ts'

/** Maximum addresses of one file (sitemaps.org, "Sitemap file limits"). */
const MAX = 50_000
const SPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9'

interface ListedPage {
  readonly path: string
  /** When its content was last modified; absent if unknown. */
  readonly modified?: string
}

/** The pages in the sitemap: those of the portal, and the views of public datasets. */
export function listedPages(
  entries: readonly ServedDataset[],
  tabsOf: (entry: ServedDataset) => readonly Pick<Tab, 'name'>[],
): readonly ListedPage[] {
  const portal = ['/', '/explore/', '/sparql/', '/developers/'].map(path => ({ path }))
  const datasets = entries.flatMap(entry => {
    const modified = modifiedOf(entry)
    return tabsOf(entry).map(({ name }) => ({ path: tabPath(entry.dataset.id, name), modified }))
  })
  return [...portal, ...datasets]
}

/** The canonical path of a view of a dataset. */
export function tabPath(dataset: string, tab: Tab['name']): string {
  const home = `/explore/dataset/${encodeURIComponent(dataset)}/`
  return tab === 'information' ? home : `${home}${tab}/`
}

/** The views of a dataset with their own content without any selection. */
export function listedTabs(entry: ServedDataset): readonly Tab[] {
  return TABS.filter(
    ({ name }) =>
      name === 'information' ||
      (name === 'table' && entry.content === 'records') ||
      (name === 'linked-data' && entry.triples > 0),
  )
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
