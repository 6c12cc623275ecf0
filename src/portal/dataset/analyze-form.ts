import type { Field } from '../../model/field.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { type Axis, axesOf, axisText, measuredFields, seriesFields } from '../chart/axes.ts'
import { aggregateLabel, axisLabel } from '../chart/labels.ts'
import {
  AGGREGATES,
  aggregateText,
  type ChartAggregate,
  type ChartKind,
  type ChartRequest,
  isContinuous,
  KINDS,
  SORTS,
  type Sort,
  TOPS,
} from '../chart/request.ts'
import { hiddenFields, languageField } from '../parts/form-fields.ts'
import { selectionParameters } from '../selection.ts'
import type { TabContext } from './tab.ts'

/** An option with its label in the interface. */
interface Choice {
  readonly value: string
  readonly label: string
}

/** The form of a chart: the groups, the aggregate of each, and how it is drawn. */
export function chartForm(context: TabContext, request: ChartRequest): Html {
  const { pageContext, entry, selection, path, query } = context
  const { t } = pageContext
  const { fields } = entry.dataset
  const cached = hiddenFields(selectionParameters({ ...selection, page: 1, view: {} }))
  const axes = axesOf(fields, entry.statistics)
  const measured = measuredFields(fields)
  const dividing = seriesFields(fields, entry.statistics).filter(
    ({ name }) => name !== request.axis.field.name,
  )
  const whole = isContinuous(request.axis)
  return html`<form class="chart-form" action="${pageContext.href(path('analyze'))}" method="get" autocomplete="off" aria-label="${t('Chart')}">${cached}${languageField(pageContext)}
${choose('x', t('Groups'), axisOptions(pageContext, axes, request.axis))}
${measured.length === 0 ? '' : choose('y', t('Figure'), aggregateOptions(pageContext, measured, request))}
${dividing.length === 0 ? '' : choose('series', t('Divided by'), options([{ value: '', label: t('nothing') }, ...fieldChoices(dividing)], request.series?.name ?? ''))}
${choose('kind', t('Kind'), options(kinds(pageContext), KINDS.find(kind => kind === query.kind) ?? ''))}
${
  whole
    ? ''
    : html`${choose('sort', t('Order'), options(sorts(pageContext), request.sort))}${request.axis.type === 'part' ? '' : choose('top', t('Most groups'), options(tops(pageContext), String(request.top)))}`
}
<button>${t('Draw')}</button></form>`
}

function choose(name: string, label: string, options: Html): Html {
  return html`<label>${label} <select name="${name}">${options}</select></label>
`
}

function options(choices: readonly Choice[], chosen: string): Html {
  return html`${choices.map(
    ({ value, label }) =>
      html`<option value="${value}"${value === chosen ? html` selected` : ''}>${label}</option>`,
  )}`
}

/** Options of axes: fields with several axes are option groups. */
function axisOptions(pageContext: PageContext, axes: readonly Axis[], chosen: Axis): Html {
  const names = [...new Set(axes.map(({ field }) => field.name))]
  return html`${names.map(name => {
    const own = axes.filter(({ field }) => field.name === name)
    const choices = options(
      own.map(axis => ({ value: axisText(axis), label: axisLabel(pageContext, axis) })),
      axisText(chosen),
    )
    return own.length === 1 ? choices : html`<optgroup label="${own[0]?.field.label}">${choices}</optgroup>`
  })}`
}

function fieldChoices(fields: readonly Field[]): readonly Choice[] {
  return fields.map(({ name, label }) => ({ value: name, label }))
}

/** The number of records, and the aggregates of each numeric field. */
function aggregateOptions(
  pageContext: PageContext,
  measured: readonly Field[],
  { aggregate, of }: ChartRequest,
): Html {
  const chosen = aggregateText(aggregate, of)
  const choice = (name: ChartAggregate, field: Field | null) => ({
    value: aggregateText(name, field),
    label: aggregateLabel(pageContext, name, field),
  })
  const groups = measured.map(field => {
    const own = AGGREGATES.filter(name => name !== 'count').map(name => choice(name, field))
    return html`<optgroup label="${field.label}">${options(own, chosen)}</optgroup>`
  })
  return html`${options([choice('count', null)], chosen)}${groups}`
}

function kinds({ t }: PageContext): readonly Choice[] {
  const labels: Readonly<Record<ChartKind, string>> = {
    bar: t('Bars'),
    column: t('Columns'),
    line: t('Line'),
    area: t('Area'),
  }
  return [{ value: '', label: t('What suits') }, ...KINDS.map(value => ({ value, label: labels[value] }))]
}

function tops({ number }: PageContext): readonly Choice[] {
  return TOPS.map(top => ({ value: String(top), label: number(top) }))
}

function sorts({ t }: PageContext): readonly Choice[] {
  const labels: Readonly<Record<Sort, string>> = {
    largest: t('Largest first'),
    smallest: t('Smallest first'),
    axis: t('By name'),
  }
  return SORTS.map(value => ({ value, label: labels[value] }))
}
