import { type Html, html } from '../../site/html.ts'
import type { ChartData } from '../chart/data.ts'
import { aggregateLabel, axisLabel } from '../chart/labels.ts'
import type { TabContext } from './tab.ts'

/** Rows that a page shows; files have all. */
const ROWS = 200

/** The numbers of a chart as a table. */
export function valuesTable({ pageContext }: TabContext, data: ChartData): Html {
  const { t } = pageContext
  const { request, slots, series, values, unplaced } = data
  const heads =
    request.series === null ? [aggregateLabel(pageContext, request.aggregate, request.of)] : series
  const row = (label: string, line: readonly (number | null)[]) =>
    html`<tr><th scope="row">${label}</th>${heads.map((_, at) => html`<td class="number">${formatted(line[at] ?? null)}</td>`)}</tr>
`
  const formatted = (value: number | null) =>
    value === null
      ? html`<span class="none" aria-label="${t('no value')}">–</span>`
      : html`<data value="${value}">${pageContext.number(value, { maximumFractionDigits: request.aggregate === 'avg' ? 2 : 6 })}</data>`
  const rest = slots.length - ROWS
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${t('The numbers')}"><table class="figures-table">
<caption class="hidden">${aggregateLabel(pageContext, request.aggregate, request.of)}</caption>
<thead><tr><th scope="col">${axisLabel(pageContext, request.axis)}</th>${heads.map(head => html`<th scope="col" class="number">${head}</th>`)}</tr></thead>
<tbody>${slots.slice(0, ROWS).map(({ label }, at) => row(label, values[at] ?? []))}${unplaced === null ? '' : row(t('no value'), unplaced)}</tbody></table></div>
${rest > 0 ? html`<p class="soft">${t.many('{n} more row is in the file.', '{n} more rows are in the file.', rest)}</p>` : ''}`
}
