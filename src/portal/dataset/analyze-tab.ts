import { type Field, isQuantity } from '../../model/field.ts'
import { shownDigits } from '../../model/number.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { MAX_SERIES } from '../chart/clauses.ts'
import { type ChartData, queryChart } from '../chart/data.ts'
import { drawChart } from '../chart/draw.ts'
import { aggregateLabel, axisLabel } from '../chart/labels.ts'
import {
  AGGREGATES,
  type Axis,
  aggregateText,
  axesOf,
  axisText,
  CHART_PARAMETERS,
  type ChartAggregate,
  type ChartKind,
  type ChartRequest,
  isContinuous,
  KINDS,
  readChart,
  type Sort,
  seriesFields,
  TOPS,
} from '../chart/request.ts'
import { hiddenFields, languageField, listOptions } from '../parts/form-fields.ts'
import { noneMark, shortText } from '../parts/value.ts'
import { apiParameters, selectionParameters } from '../selection.ts'
import { endpointAddress, endpointPaths, noRecords, type Tab, type TabContext } from './tab.ts'

/** Charts of the groups of a selection: drawn on the server, with their numbers and the API call that returns them. */
export const analyzeTab: Tab = {
  name: 'analyze',
  label: 'Analyze',
  isFiltered: true,
  parameters: CHART_PARAMETERS,
  isShown: ({ entry }) =>
    entry.content === 'records' && readChart({}, entry.dataset.fields, entry.statistics) !== null,
  render: async context => {
    const { pageContext, queryService, source, entry, selection, query } = context
    const { t } = pageContext
    const request = readChart(query, entry.dataset.fields, entry.statistics)
    if (request === null) return { body: html`` }
    const data = await queryChart(queryService, source, selection, request, pageContext)
    const form = chartForm(context, request)
    if (data.slots.length === 0) {
      const reason =
        data.groups === 0
          ? noRecords(context)
          : t('None of these records has a value for this axis. Choose another one.')
      return { islands: ['analyze.js'], body: html`${form}<p class="empty">${reason}</p>` }
    }
    const title = `${aggregateLabel(pageContext, request.aggregate, request.of)} · ${axisLabel(pageContext, request.axis)}`
    const { axis, aggregate, of, series, kind, sort, top } = request
    const key = [
      axisText(axis),
      aggregateText(aggregate, of),
      series?.name,
      kind,
      sort,
      top,
      pageContext.language,
    ]
    const chart = await queryService.drawing(source, selection, key, () => drawChart(pageContext, data))
    return {
      islands: ['analyze.js'],
      body: html`${form}
<figure class="chart-figure"><figcaption><h2>${title}</h2>${remarks(context, data)}${legend(data)}</figcaption>
${chart}</figure>
${call(context, data)}
<h2>${t('The numbers')}</h2>
${valuesTable(context, data)}`,
    }
  },
}

function remarks(
  { pageContext: { t } }: TabContext,
  { request, slots, groups, seriesValues, series, unplaced }: ChartData,
): Html {
  const { axis } = request
  const shown = slots.length
  const sort = isContinuous(axis) ? 'axis' : request.sort
  const total = groups - (unplaced === null ? 0 : 1)
  const left =
    total <= shown
      ? ''
      : sort === 'largest'
        ? t('The {n} largest of {total} groups are shown.', { n: shown, total })
        : sort === 'smallest'
          ? t('The {n} smallest of {total} groups are shown.', { n: shown, total })
          : t('The first {n} of {total} groups are shown.', { n: shown, total })
  const divided =
    seriesValues > MAX_SERIES
      ? t('Of {total} values of {field}, the {n} most frequent are shown.', {
          total: seriesValues,
          field: request.series?.label ?? '',
          n: series.length,
        })
      : ''
  return html`${left === '' ? '' : html`<p class="soft">${left}</p>`}${divided === '' ? '' : html`<p class="soft">${divided}</p>`}`
}

function legend({ series, request }: ChartData): Html {
  if (request.series === null) return html``
  return html`<ul class="legend" aria-label="${request.series.label}">${series.map(
    (name, at) => html`<li><span class="swatch series-${at + 1}" aria-hidden="true"></span>${name}</li>`,
  )}</ul>`
}

/** Maximum characters of a condition in an address. */
const MAX_IN_ADDRESS = 2000

/** The API call that returns the numbers of the chart, and a link to the same as a file. */
function call(context: TabContext, { clauses }: ChartData): Html {
  const { pageContext, entry, selection } = context
  const { select, groupBy, orderBy, limit } = clauses
  const own = apiParameters({ ...selection, orderBy })
  const shown = clauses.where.filter(({ length }) => length <= MAX_IN_ADDRESS)
  const parameters = { select, group_by: groupBy, ...own, where: [...own.where, ...shown], limit }
  const paths = endpointPaths(entry.dataset.id)
  const json = endpointAddress(pageContext, paths.records, parameters).href
  const csv = endpointAddress(pageContext, `${paths.exports}/csv`, parameters).href
  return html`<div class="call"><h2>${pageContext.t('The call that answers this')}</h2>
<pre tabindex="0" dir="ltr"><code>${new URL(pageContext.site.base).origin}${json}</code></pre>
<p class="take-away"><a href="${json}" rel="nofollow">JSON</a> <a href="${csv}" rel="nofollow">CSV</a></p></div>`
}

/** Maximum rows on a page; files contain all. */
const ROWS = 200

/** The numbers of a chart as a table. */
export function valuesTable({ pageContext }: TabContext, data: ChartData): Html {
  const { t } = pageContext
  const { request, slots, series, values, unplaced } = data
  const heads =
    request.series === null ? [aggregateLabel(pageContext, request.aggregate, request.of)] : series
  const row = (label: string, line: readonly (number | null)[]) =>
    html`<tr><th scope="row">${shortText(label)}</th>${heads.map((_, at) => html`<td class="number">${formatted(line[at] ?? null)}</td>`)}</tr>
`
  const formatted = (value: number | null) =>
    value === null
      ? noneMark(t('no value'))
      : html`<data value="${value}">${pageContext.number(value, shownDigits(value, request.aggregate === 'avg' ? 3 : 6))}</data>`
  const rest = slots.length - ROWS
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${t('The numbers')}"><table class="figures-table">
<caption class="hidden">${aggregateLabel(pageContext, request.aggregate, request.of)}</caption>
<thead><tr><th scope="col">${axisLabel(pageContext, request.axis)}</th>${heads.map(head => html`<th scope="col" class="number">${head}</th>`)}</tr></thead>
<tbody>${slots.slice(0, ROWS).map(({ label }, at) => row(label, values[at] ?? []))}${unplaced === null ? '' : row(t('no value'), unplaced)}</tbody></table></div>
${rest > 0 ? html`<p class="soft">${t.many('{n} more row is in the file.', '{n} more rows are in the file.', rest)}</p>` : ''}`
}

function chartForm(context: TabContext, request: ChartRequest): Html {
  const { pageContext, entry, selection, path, query } = context
  const { t } = pageContext
  const { fields } = entry.dataset
  const cached = hiddenFields(selectionParameters({ ...selection, page: 1, view: {} }))
  const axes = axesOf(fields, entry.statistics)
  const measured = fields.filter(isQuantity)
  const dividing = seriesFields(fields, entry.statistics).filter(
    ({ name }) => name !== request.axis.field.name,
  )
  const whole = isContinuous(request.axis)
  const kinds: Readonly<Record<ChartKind | '', string>> = {
    '': t('What suits'),
    bar: t('Bars'),
    column: t('Columns'),
    line: t('Line'),
    area: t('Area'),
  }
  const sorts: Readonly<Record<Sort, string>> = {
    largest: t('Largest first'),
    smallest: t('Smallest first'),
    axis: t('By name'),
  }
  return html`<form class="chart-form" action="${pageContext.href(path('analyze'))}" method="get" autocomplete="off" aria-label="${t('Chart')}">${cached}${languageField(pageContext)}
${choose('x', t('Groups'), axisOptions(pageContext, axes, request.axis))}
${measured.length === 0 ? '' : choose('y', t('Figure'), aggregateOptions(pageContext, measured, request))}
${dividing.length === 0 ? '' : choose('series', t('Divided by'), listOptions([['', t('nothing')], ...dividing.map(({ name, label }) => [name, label] as const)], request.series?.name ?? ''))}
${choose('kind', t('Kind'), listOptions(Object.entries(kinds), KINDS.find(kind => kind === query.kind) ?? ''))}
${
  whole
    ? ''
    : html`${choose('sort', t('Order'), listOptions(Object.entries(sorts), request.sort))}${
        request.axis.type === 'part'
          ? ''
          : choose(
              'top',
              t('Most groups'),
              listOptions(
                TOPS.map(top => [String(top), pageContext.number(top)]),
                String(request.top),
              ),
            )
      }`
}
<button>${t('Draw')}</button></form>`
}

function choose(name: string, label: string, options: Html): Html {
  return html`<label>${label} <select name="${name}">${options}</select></label>
`
}

/** Options of axes: fields with several axes are option groups. */
function axisOptions(pageContext: PageContext, axes: readonly Axis[], chosen: Axis): Html {
  const names = [...new Set(axes.map(({ field }) => field.name))]
  return html`${names.map(name => {
    const own = axes.filter(({ field }) => field.name === name)
    const choices = listOptions(
      own.map(axis => [axisText(axis), axisLabel(pageContext, axis)]),
      axisText(chosen),
    )
    return own.length === 1 ? choices : html`<optgroup label="${own[0]?.field.label}">${choices}</optgroup>`
  })}`
}

function aggregateOptions(
  pageContext: PageContext,
  measured: readonly Field[],
  { aggregate, of }: ChartRequest,
): Html {
  const chosen = aggregateText(aggregate, of)
  const choice = (name: ChartAggregate, field: Field | null) =>
    [aggregateText(name, field), aggregateLabel(pageContext, name, field)] as const
  const groups = measured.map(field => {
    const own = AGGREGATES.filter(name => name !== 'count').map(name => choice(name, field))
    return html`<optgroup label="${field.label}">${listOptions(own, chosen)}</optgroup>`
  })
  return html`${listOptions([choice('count', null)], chosen)}${groups}`
}
