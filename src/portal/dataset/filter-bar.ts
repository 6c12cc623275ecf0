import type { ServedDataset } from '../../catalog/served.ts'
import type { Fault } from '../../errors/errors.ts'
import type { FieldStatistics } from '../../model/dataset.ts'
import { type Field, isGeo, isQuantity } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { type Html, html } from '../../site/html.ts'
import { chosenChips } from '../parts/facets.ts'
import { filterFaultText } from '../parts/filter-fault.ts'
import { hiddenFields, languageField, listOptions } from '../parts/form-fields.ts'
import { fieldName, odsqlText, orderParts, selectionParameters } from '../selection.ts'
import type { Tab, TabContext, TabName } from './tab.ts'

const ORDERED: readonly TabName[] = ['table', 'export', 'api']

/** The one filter of all tabs: words, a condition in ODSQL with its error, selected facets, and the number of records. */
export function filterBar(context: TabContext, tab: Tab, fault: Fault | null, total: number | null): Html {
  const { pageContext, selection, path, query, entry } = context
  const { t } = pageContext
  const { fields, id } = entry.dataset
  const label = (name: string) => fields.find(field => field.name === name)?.label ?? name
  const where = selection.where || String(query.where ?? '').trim()
  const isOrdered = ORDERED.includes(tab.name)
  const { order_by: orderBy, ...others } = selectionParameters({
    ...selection,
    words: '',
    where: '',
    page: 1,
  })
  const cached = isOrdered ? others : { ...others, order_by: orderBy }
  const count =
    total === null
      ? ''
      : html`<p class="count" role="status">${t.many('{n} record', '{n} records', total)}</p>`
  const isOpen = where !== '' || fault !== null ? html` open` : ''
  const base = `/explore/dataset/${encodeURIComponent(id)}`
  return html`<form class="filter" action="${pageContext.href(path(tab.name))}" method="get" role="search" autocomplete="off">
${hiddenFields(cached)}${languageField(pageContext)}
<div class="words"><label class="hidden" for="q">${t('Words to look for')}</label>
<input type="search" id="q" name="q" value="${selection.words}" placeholder="${t('Look for words')}" autocomplete="off">
${isOrdered ? orderSelect(context) : ''}<button>${t('Filter')}</button>${count}</div>
<details class="odsql"${isOpen}><summary>${t('Condition in ODSQL')}</summary>
<label class="hidden" for="where">${t('Condition in ODSQL')}</label>
<textarea id="where" name="where" rows="2" spellcheck="false" autocapitalize="off" autocomplete="off" dir="ltr" data-fields="${pageContext.href(`${base}/complete`)}" data-check="${pageContext.href(`${base}/check`)}"${fault === null ? '' : html` aria-invalid="true" aria-describedby="where-fault"`}>
${where}</textarea>
${fault === null ? '' : filterFaultText(fault, 'where', where)}${examples(context, tab)}</details>
${chosenChips(pageContext, selection, path(tab.name), label)}
</form>`
}

/** The orders by a field, ascending and descending; another order of the address is preserved. */
function orderSelect({ pageContext, entry, selection }: TabContext): Html {
  const { t } = pageContext
  const { by, direction } = orderParts(selection.orderBy)
  const written = direction === 'asc' ? by : selection.orderBy
  const orders = entry.dataset.fields
    .filter(({ type }) => !isGeo(type))
    .flatMap(({ name, label }) => [
      [fieldName(name), t('{field}, ascending', { field: label })] as const,
      [`${fieldName(name)} desc`, t('{field}, descending', { field: label })] as const,
    ])
  const isKnown = written === '' || orders.some(([order]) => order === written)
  const own = isKnown ? '' : html`<option value="${selection.orderBy}" selected>${selection.orderBy}</option>`
  return html`<label class="hidden" for="order_by">${t('Order')}</label>
<select id="order_by" name="order_by"><option value="">${t('Order of the source')}</option>${own}${listOptions(orders, written)}</select>
`
}

function examples({ pageContext, entry, selection, path }: TabContext, tab: Tab): Html {
  const { t } = pageContext
  const links = filterExamples(entry).map(where => {
    const target = pageContext.href(path(tab.name), selectionParameters({ ...selection, where, page: 1 }))
    return html`<li><a href="${target}" rel="nofollow"><code dir="ltr">${where}</code></a></li>`
  })
  if (links.length === 0) return html``
  return html`<div class="odsql-help"><p id="odsql-help">${t('Conditions can be joined with and, or and not. For example:')}</p><ul aria-labelledby="odsql-help">${links}</ul>
<p><a href="${pageContext.href('/odsql/', { dataset: entry.dataset.id })}">${t('Try ODSQL in the playground')}</a></p></div>`
}

const MAX_EXAMPLES = 3

/** Maximum characters of a value in an example. */
const MAX_LENGTH = 30

interface Known extends FieldStatistics {
  readonly field: Field
  readonly name: string
}

/** Conditions in ODSQL that some records of a dataset meet and others do not, built from its fields, each of a different kind. */
export function filterExamples({ dataset, statistics }: Pick<ServedDataset, 'dataset' | 'statistics'>) {
  const known = dataset.fields.flatMap((field): Known[] => {
    const found = lookup(statistics.fields, field.name)
    return found === undefined || found.present === 0
      ? []
      : [{ ...found, field, name: fieldName(field.name) }]
  })
  // Facets first: they are the fields that users filter by.
  known.sort((a, b) => Number(isFacet(b.field)) - Number(isFacet(a.field)))
  const kinds = [numberExample, textExample, dateExample, wordsExample, presenceExample, pointExample]
  return kinds.flatMap(example => known.map(example).find(text => text !== null) ?? []).slice(0, MAX_EXAMPLES)
}

function isFacet({ annotations }: Field): boolean {
  return annotations.facet !== undefined
}

/** Numbers above the 90th percentile, rounded to one significant digit. */
function numberExample({ field, name, quantiles, distinct }: Known): string | null {
  if (!isQuantity(field) || (distinct !== null && distinct < 10)) return null
  const value = quantiles?.[Math.floor(quantiles.length * 0.9)]
  if (typeof value !== 'number' || value === 0) return null
  return `${name} > ${Number(value.toPrecision(1))}`
}

function textExample({ field, name, quantiles, distinct, present }: Known): string | null {
  if (field.type !== 'text' || distinct === null || distinct < 2 || distinct * 2 > present) return null
  const value = middle(quantiles)
  return value === null ? null : `${name} = ${odsqlText(value)}`
}

function dateExample({ field, name, years, max }: Known): string | null {
  if (field.type !== 'date' && field.type !== 'datetime') return null
  if (years !== undefined && years.length > 1) return `year(${name}) = ${years[Math.floor(years.length / 2)]}`
  return typeof max === 'string' ? `${name} >= date'${max.slice(0, 10)}'` : null
}

function wordsExample({ field, name, quantiles, distinct, present }: Known): string | null {
  if (field.type !== 'text' || (distinct !== null && distinct * 2 <= present)) return null
  const word = middle(quantiles)?.match(/\p{L}{4,}/u)?.[0]
  return word === undefined ? null : `${name} like ${odsqlText(word)}`
}

function presenceExample({ field, name, present, nulls }: Known): string | null {
  return nulls > 0 && present > 0 && field.type !== 'geo_shape' ? `${name} is not null` : null
}

function pointExample({ field, name }: Known): string | null {
  return field.type === 'geo_point_2d' ? `within_distance(${name}, geom'POINT(2.35 48.85)', 500km)` : null
}

function middle(quantiles: Known['quantiles']): string | null {
  const value = quantiles?.[Math.floor(quantiles.length / 2)]
  return typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH ? value : null
}
