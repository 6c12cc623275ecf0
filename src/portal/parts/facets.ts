import { one } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { FacetValue } from '../../query/execute/facets.ts'
import type { Facet } from '../../query/facets.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import {
  MAX_PANEL_VALUES,
  type PageQuerySource,
  type QueryService,
  type ShownFacet,
} from '../query-service.ts'
import { NOTHING_SELECTED, type PageSelection, selectionParameters, toggled } from '../selection.ts'
import { hiddenFields, languageField } from './form-fields.ts'
import { pager } from './pager.ts'
import { shortText } from './value.ts'

/** Number of values of a facet that are visible; the others are collapsed. */
const SHOWN = 8

/** The id of what is beside the facets of a page. */
export const BESIDE_FACETS = 'beside'

/** Returns the label of a value of a facet. */
export type ValueName = (facet: string, value: string) => string

/**
 * The facets of a list with the counts of their values: each value is a link that selects or deselects it. On
 * narrow screens they are collapsed, without scripts.
 *
 * @param path of the page, below the base address
 * @param label returns the label of a facet
 * @param called returns the label of a value; the value itself by default
 */
export function facetPanel(
  pageContext: PageContext,
  shown: readonly ShownFacet[],
  selection: PageSelection,
  path: string,
  label: (facet: Facet) => string,
  called: ValueName = (_, name) => name,
): Html {
  const groups = shown.flatMap(({ facet, values }) => {
    const named = (name: string) => called(facet.name, name)
    const rows = values.flatMap(value => valueRows(pageContext, facet, value, selection, path, 0, named))
    if (rows.length === 0) return []
    const [first, rest] = [rows.slice(0, SHOWN), rows.slice(SHOWN)]
    const all = { ...selectionParameters(selection), values: facet.name }
    const more =
      rest.length === 0
        ? ''
        : rows.length > MAX_PANEL_VALUES
          ? html`<p class="more"><a href="${pageContext.href(path, all)}" rel="nofollow">${pageContext.t('All values')}</a></p>`
          : html`<details><summary>${pageContext.t.many('{n} more', '{n} more', rest.length)}</summary><ul>${rest}</ul></details>`
    return [html`<section class="facet"><h3>${label(facet)}</h3><ul>${first}</ul>${more}</section>`]
  })
  return groups.length === 0
    ? html``
    : html`<aside class="facets" aria-labelledby="facets-name"><h2 class="hidden" id="facets-name">${pageContext.t('Filters')}</h2>
<a class="skip" href="#${BESIDE_FACETS}">${pageContext.t('Skip the filters')}</a>
<input type="checkbox" id="facets-shown" class="hidden"><label for="facets-shown">${pageContext.t('Show filters')}</label>
<div class="facet-list">${groups}</div></aside>`
}

/** A value as a link that selects or deselects it, and the values below it. */
export function valueRows(
  pageContext: PageContext,
  facet: Facet,
  value: FacetValue,
  selection: PageSelection,
  path: string,
  depth: number,
  called: (name: string) => string,
): readonly Html[] {
  if (value.state === 'excluded' || depth > 5) return []
  const isChosen = value.state === 'refined'
  const target = pageContext.href(
    path,
    selectionParameters(toggled(selection, { facet: facet.name, value: value.value })),
  )
  const row = html`<li${depth === 0 ? '' : html` class="level-${depth}"`}><a href="${target}" rel="nofollow"${isChosen ? html` aria-current="true"` : ''}><span>${shortText(called(value.name))}</span> <data value="${value.count}">${pageContext.number(value.count)}</data></a></li>`
  return [
    row,
    ...(value.facets ?? []).flatMap(below =>
      valueRows(pageContext, facet, below, selection, path, depth + 1, called),
    ),
  ]
}

/** The selected facet values and words, each a link that removes it. */
export function chosenChips(
  pageContext: PageContext,
  selection: PageSelection,
  path: string,
  label: (facet: string) => string,
  called: ValueName = (_, name) => name,
): Html {
  const { words, where, refine, exclude } = selection
  const chip = (text: string, without: PageSelection) =>
    html`<li><a class="chip" href="${pageContext.href(path, selectionParameters({ ...without, page: 1 }))}" rel="nofollow"><span>${shortText(text)}</span><span class="cross" aria-hidden="true">×</span><span class="hidden"> ${pageContext.t('remove')}</span></a></li>`
  const chips = [
    ...(words === '' ? [] : [chip(`“${words}”`, { ...selection, words: '' })]),
    ...(where === '' ? [] : [chip(where, { ...selection, where: '' })]),
    ...refine.map((each, at) =>
      chip(`${label(each.facet)}: ${called(each.facet, each.value)}`, {
        ...selection,
        refine: refine.filter((_, other) => other !== at),
      }),
    ),
    ...exclude.map((each, at) =>
      chip(`${label(each.facet)} ≠ ${called(each.facet, each.value)}`, {
        ...selection,
        exclude: exclude.filter((_, other) => other !== at),
      }),
    ),
  ]
  if (chips.length === 0) return html``
  const { orderBy, view = {} } = selection
  const all = pageContext.href(path, selectionParameters({ ...NOTHING_SELECTED, orderBy, view }))
  const clear = chips.length > 1 ? html`<li><a href="${all}">${pageContext.t('Clear all')}</a></li>` : ''
  return html`<ul class="chips" aria-label="${pageContext.t('What is chosen')}">${chips}${clear}</ul>`
}

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
