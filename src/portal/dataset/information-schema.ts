import type { FieldOrigin, FieldStatistics } from '../../model/dataset.ts'
import { type Field, type FieldType, isTemporal } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { noneMark, valueCell } from '../parts/value.ts'
import type { TabContext } from './tab.ts'

/** Labels of field types. */
const TYPES: Readonly<Record<FieldType, { readonly label: string }>> = {
  text: { label: 'Text' },
  int: { label: 'Whole number' },
  double: { label: 'Decimal number' },
  boolean: { label: 'Yes or no' },
  date: { label: 'Date' },
  datetime: { label: 'Date and time' },
  geo_point_2d: { label: 'Point on the map' },
  geo_shape: { label: 'Shape on the map' },
}

/** The type of a field in words. */
function fieldTypeText({ t }: PageContext, { type, multivalued }: Field): string {
  return multivalued ? t('List of texts') : t(TYPES[type].label)
}

/** The fields of a dataset: the type and description of each, and statistics of its values. */
export function schemaTable({ pageContext, entry }: TabContext): Html {
  const { t } = pageContext
  const { dataset, statistics } = entry
  const origins = new Map(dataset.origins?.map(origin => [origin.field, origin]))
  const rows = dataset.fields.map(field => {
    const known = lookup(statistics.fields, field.name)
    return html`<tr><th scope="row"><span dir="auto">${field.label}</span><br><code class="soft">${field.name}</code></th>
<td>${fieldTypeText(pageContext, field)}${badgeList(pageContext, field)}</td>
<td class="description">${field.description ?? noneMark(t('no description'))}${originText(pageContext, origins.get(field.name))}</td>
<td>${known === undefined ? '' : range(pageContext, field, known)}</td>
<td class="number">${known === undefined ? '' : distinct(pageContext, known)}</td>
<td class="number">${known === undefined ? '' : emptyShare(pageContext, known, statistics.records)}</td></tr>
`
  })
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${t('Fields')}"><table class="schema">
<thead><tr><th scope="col">${t('Field')}</th><th scope="col">${t('Type')}</th><th scope="col">${t('Description')}</th><th scope="col">${t('From … to')}</th><th scope="col" class="number">${t('Distinct')}</th><th scope="col" class="number">${t('Empty')}</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}

/** The source columns of a field, and the steps that computed it from them. */
function originText({ t }: PageContext, origin: FieldOrigin | undefined): Html {
  if (origin === undefined) return html``
  const names = [...origin.columns, ...origin.steps].map(name => html`<code>${name}</code>`)
  const joined = names.flatMap((name, at) => (at === 0 ? [name] : [html` → `, name]))
  return html`<br><small class="soft">${t('Comes from')} ${joined}</small>`
}

/** The unit of a field, and its annotations. */
function badgeList({ t }: PageContext, { annotations }: Field): Html {
  const unit = annotations.unit?.[0]
  const badges = [
    ...(annotations.id === undefined ? [] : [t('identifier')]),
    ...(annotations.facet === undefined ? [] : [t('facet')]),
  ]
  return html`${unit === undefined ? '' : html` <span class="soft">(${String(unit)})</span>`}${badges.map(badge => html` <span class="badge">${badge}</span>`)}`
}

function range(pageContext: PageContext, field: Field, { min, max }: FieldStatistics): Html {
  if (min === null || max === null) return html``
  const shown = (value: number | string) => {
    if (!isTemporal(field.type))
      return valueCell(pageContext, typeof value === 'string' ? BigInt(value) : value, field)
    const day = String(value).slice(0, 10)
    return html`<time datetime="${day}">${pageContext.date(day)}</time>`
  }
  if (min === max) return shown(min)
  return html`${shown(min)}<br>${shown(max)}`
}

function distinct({ t, number }: PageContext, { distinct }: FieldStatistics): string {
  return distinct === null ? t('over {n}', { n: 10_000 }) : number(distinct)
}

/** The share of records without a value; very small and very large shares are not rounded to 0 or 100 %. */
function emptyShare({ number }: PageContext, { nulls }: FieldStatistics, records: number): string {
  if (nulls === 0 || records === 0) return number(0, { style: 'percent' })
  const share = nulls / records
  const maximum = nulls === records ? 1 : Math.min(0.999, Math.max(0.001, share))
  return number(maximum, { style: 'percent', maximumFractionDigits: maximum < 0.1 || maximum > 0.9 ? 1 : 0 })
}
