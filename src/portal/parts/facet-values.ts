import { one } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { FacetValue } from '../../query/execute/facets.ts'
import type { Facet } from '../../query/facets.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import type { PageQuerySource, QueryService } from '../query-service.ts'
import { type PageSelection, selectionParameters } from '../selection.ts'
import { type ValueName, valueRows } from './facets.ts'
import { hiddenFields, languageField } from './form-fields.ts'
import { pager } from './pager.ts'

/** Values of a page, and the maximum number of listed values. */
const VALUES = 200
const MAX_VALUES = 50_000

/** Where a list of values is, and the labels in it. */
export interface ValueListPlace {
  /** Path of the page, below the base address. */
  readonly path: string
  readonly label: (facet: Facet) => string
  /** Returns the label of a value; the value itself by default. */
  readonly called?: ValueName
}

/**
 * All values of the facet that the parameter `values` of an address names, in pages, with a search (`values_q`) in them: each
 * value is a link that selects or deselects it. Null where the address names no facet of the source.
 */
export async function facetValues(
  pageContext: PageContext,
  queryService: QueryService,
  source: PageQuerySource,
  selection: PageSelection,
  query: QueryParameters,
  { path, label, called = (_, name) => name }: ValueListPlace,
): Promise<Html | null> {
  const facet = source.facets.find(({ name }) => name === one(query, 'values'))
  if (facet === undefined) return null
  const { t } = pageContext
  const [shown] = await queryService.facets(source, selection, [{ ...facet, limit: MAX_VALUES }])
  const values = shown?.values ?? []
  const words = (one(query, 'values_q') ?? '').trim().slice(0, 100)
  const named = (name: string) => called(facet.name, name)
  const found = values.filter(value => value.state !== 'excluded' && hasWords(value, folded(words), named))
  const pages = Math.max(1, Math.ceil(found.length / VALUES))
  const page = Math.min(pages, Math.max(1, Math.floor(Number(one(query, 'values_page') ?? 1)) || 1))
  const rows = found
    .slice((page - 1) * VALUES, page * VALUES)
    .flatMap(value => valueRows(pageContext, facet, value, selection, path, 0, named))
  const parameters = { ...selectionParameters(selection), values: facet.name }
  const target = (to: number) =>
    pageContext.href(path, { ...parameters, values_q: words, values_page: to === 1 ? undefined : to })
  return html`<section class="facet all-values"><h2 class="first">${label(facet)}</h2>
<p class="bar-line"><span role="status">${t.many('{n} value', '{n} values', found.length)}</span> <a href="${pageContext.href(path, selectionParameters(selection))}">${t('Close the list')}</a></p>
<form class="search" action="${pageContext.href(path)}" method="get" role="search" aria-label="${label(facet)}">${hiddenFields(parameters)}${languageField(pageContext)}
<label class="hidden" for="values_q">${t('Words to look for')}</label>
<input type="search" id="values_q" name="values_q" value="${words}" placeholder="${t('Look for words')}" autocomplete="off">
<button>${t('Search')}</button></form>
${rows.length === 0 ? html`<p class="empty">${t('No value has these words.')}</p>` : html`<ul>${rows}</ul>`}
${values.length < MAX_VALUES ? '' : html`<p class="soft">${t('Only the first {n} values are listed.', { n: MAX_VALUES })}</p>`}
${pager(pageContext, page, pages, target)}</section>`
}

/** True for a value whose label, or that of a value below it, contains the words. */
function hasWords(value: FacetValue, words: string, called: (name: string) => string): boolean {
  if (folded(called(value.name)).includes(words)) return true
  return value.state !== 'excluded' && (value.facets ?? []).some(each => hasWords(each, words, called))
}

function folded(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}
