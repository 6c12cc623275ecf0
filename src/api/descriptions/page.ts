import type { CatalogEntry } from '../../catalog/catalog-dataset.ts'
import { datasetFragmentsAddress, sparqlAddress } from '../../catalog/void.ts'
import type { SitePage } from '../../site/frame.ts'
import { html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'

/** What the page of all descriptions needs of a dataset. */
export interface DescribedEntry extends CatalogEntry {
  readonly triples: number
}

/** The page about the graph of a dataset: the same statistics, with queries and the mapping. */
export function datasetPath(id: string): string {
  return `/explore/dataset/${encodeURIComponent(id)}/linked-data/`
}

/** The description of a portal as HTML: its datasets, their sizes and their endpoints. */
export function descriptionPage(pageContext: PageContext, entries: readonly DescribedEntry[]): SitePage {
  const { t, href, number, site } = pageContext
  const path = (address: string) => new URL(address).pathname
  const rows = entries.map(({ dataset: { id, metas }, triples }) => {
    const title = typeof metas.default?.title === 'string' ? metas.default.title : id
    return html`<tr><th scope="row"><a href="${href(datasetPath(id))}">${title}</a></th><td class="number">${number(triples)}</td>
<td><a href="${path(sparqlAddress(site.base, id))}">SPARQL</a></td><td><a href="${path(datasetFragmentsAddress(site.base, id))}">${t('Triple pattern fragments')}</a></td></tr>
`
  })
  const formats = [
    ['Turtle', 'turtle'],
    ['JSON-LD', 'jsonld'],
    ['N-Triples', 'ntriples'],
    ['RDF/XML', 'rdfxml'],
  ] as const
  const own = path(`${site.base}/.well-known/void`)
  return {
    title: t('Description (VoID)'),
    part: 'developers',
    isWide: true,
    isIndexed: false,
    body: html`<h1>${t('Description (VoID)')}</h1>
<p>${t('Datasets and their triples')}</p>
<section class="scroll" tabindex="0" aria-label="${t('Datasets')}"><table class="terms"><thead><tr><th scope="col">${t('Dataset')}</th><th scope="col" class="number">${t('Triples')}</th><th scope="col">${t('SPARQL endpoint')}</th><th scope="col">${t('Triple pattern fragments')}</th></tr></thead><tbody>
${rows}</tbody></table></section>
<p class="take-away">${formats.map(([name, format]) => html`<a href="${own}?format=${format}" rel="nofollow">${name}</a> `)}
<a href="${path(sparqlAddress(site.base))}">${t('SPARQL endpoint')}</a></p>`,
  }
}
