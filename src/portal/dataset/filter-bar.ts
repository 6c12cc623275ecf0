import type { Fault } from '../../errors/errors.ts'
import { isGeo } from '../../model/field.ts'
import { type Html, html } from '../../site/html.ts'
import { chosenChips } from '../parts/facets.ts'
import { filterFaultText } from '../parts/filter-fault.ts'
import { hiddenFields, languageField } from '../parts/form-fields.ts'
import { fieldName, selectionParameters } from '../selection.ts'
import { filterExamples } from './filter-examples.ts'
import type { Tab, TabContext, TabName } from './tab.ts'

/** Tabs whose records have an order. */
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
  const written = selection.orderBy.replace(/\s+asc$/i, '')
  const orders = entry.dataset.fields
    .filter(({ type }) => !isGeo(type))
    .flatMap(({ name, label }) => [
      { order: fieldName(name), text: t('{field}, ascending', { field: label }) },
      { order: `${fieldName(name)} desc`, text: t('{field}, descending', { field: label }) },
    ])
  const isKnown = written === '' || orders.some(({ order }) => order === written)
  const own = isKnown ? '' : html`<option value="${selection.orderBy}" selected>${selection.orderBy}</option>`
  const options = orders.map(
    ({ order, text }) =>
      html`<option value="${order}"${order === written ? html` selected` : ''}>${text}</option>`,
  )
  return html`<label class="hidden" for="order_by">${t('Order')}</label>
<select id="order_by" name="order_by"><option value="">${t('Order of the source')}</option>${own}${options}</select>
`
}

/** Example conditions as links that apply them. */
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
