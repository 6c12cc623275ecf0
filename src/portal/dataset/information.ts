import type { FieldOrigin, FieldStatistics } from '../../model/dataset.ts'
import { coarsePrecision, type Field, isTemporal } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { recordIri } from '../../rdf/minted-iris.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { richText } from '../parts/rich-text.ts'
import { noneMark, TYPE_NAMES, valueCell } from '../parts/value.ts'
import { NOTHING_SELECTED } from '../selection.ts'
import { languageMark, metaText } from '../services.ts'
import { metadataList } from './information-metadata.ts'
import { endpointAddress, endpointPaths, type Tab, type TabContext, takeAway } from './tab.ts'

const SAMPLES = 3

/** Information on a dataset: the publisher's metadata, its fields, some records, its attachments, its usage. */
export const informationTab: Tab = {
  name: 'information',
  label: 'Information',
  render: async context => {
    const { entry, pageContext } = context
    const { t } = pageContext
    const description = metaText(entry, 'description')
    return {
      body: html`<div class="prose"${description === null ? '' : languageMark(pageContext, entry)}>${description === null ? html`<p class="soft">${t('Its publisher has not described it yet.')}</p>` : richText(description)}</div>
${statisticsTiles(context)}
<h2>${t('About this dataset')}</h2>
${metadataList(context)}
${entry.content === 'records' ? html`<h2>${t('Fields')}</h2>${schemaTable(context)}${await samples(context)}` : ''}
${attachments(context)}
${twins(context)}`,
    }
  },
}

function statisticsTiles({ pageContext, entry, services }: TabContext): Html {
  const { t } = pageContext
  const { dataset, statistics, triples, content, named } = entry
  const used = services.usage(dataset.id) ?? {}
  const shown: readonly (readonly [number, string])[] = [
    ...(content === 'records'
      ? ([
          [statistics.records, t('Records')],
          [dataset.fields.length, t('Fields')],
        ] as const)
      : []),
    [triples, t('Triples')],
    ...(named.length > 0 ? ([[named.length, t('Named graphs')]] as const) : []),
    [Number(used.download_count ?? 0), t('Downloads')],
    [Number(used.api_call_count ?? 0), t('API calls')],
  ]
  const tiles = shown.flatMap(([count, label], at) =>
    count === 0 && at > 0
      ? []
      : [
          html`<div><dt>${label}</dt><dd>${pageContext.number(count)}</dd></div>
`,
        ],
  )
  return html`<dl class="tiles">${tiles}</dl>`
}

/** A few records, one in each column, so that all of their fields are visible. */
async function samples(context: TabContext): Promise<Html> {
  const { pageContext, queryService, source, entry, path } = context
  const { rows } = await queryService.find(
    source,
    NOTHING_SELECTED,
    { limit: SAMPLES, offset: 0 },
    pageContext.language,
  )
  if (rows.length === 0) return html``
  const { id, fields } = entry.dataset
  const heads = rows.map((row, at) => {
    const name = pageContext.t('Record {n}', { n: at + 1 })
    return row.id === null
      ? html`<th scope="col">${name}</th>`
      : html`<th scope="col"><a href="${pageContext.href(recordIri('', id, row.id))}">${name}</a></th>`
  })
  const lines = fields.map(
    field => html`<tr><th scope="row"><span dir="auto">${field.label}</span></th>${rows.map(({ object }) => html`<td>${valueCell(pageContext, lookup(object, field.name), field)}</td>`)}</tr>
`,
  )
  return html`<h2 id="samples">${pageContext.t('Some records')}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="samples"><table class="samples">
<thead><tr><th scope="col">${pageContext.t('Field')}</th>${heads}</tr></thead><tbody>${lines}</tbody></table></div>
<p><a href="${pageContext.href(path('table'))}">${pageContext.t('All records as a table')}</a></p>`
}

function attachments({ pageContext, entry }: TabContext): Html {
  const { id, attachments: files } = entry.dataset
  if (files.length === 0) return html``
  const items = files.map(file => {
    const { href } = endpointAddress(
      pageContext,
      `${endpointPaths(id).attachments}/${encodeURIComponent(file.id)}`,
    )
    return html`<li><a href="${href}" dir="auto">${file.title}</a> <span class="soft">${file.mimetype}</span></li>
`
  })
  return html`<h2>${pageContext.t('Attachments')}</h2><ul>${items}</ul>`
}

function twins({ pageContext, entry }: TabContext): Html {
  const paths = endpointPaths(entry.dataset.id)
  const links = [
    ['JSON', paths.explore, {}],
    ['DCAT', '/api/explore/v2.1/catalog/exports/ttl', { where: `datasetid="${entry.dataset.id}"` }],
    ['VoID', paths.void, { format: 'turtle' }],
  ] as const
  return takeAway(
    pageContext.t('This page as'),
    links.map(([name, path, parameters]) => [name, endpointAddress(pageContext, path, parameters).href]),
  )
}

function schemaTable({ pageContext, entry }: TabContext): Html {
  const { t } = pageContext
  const { dataset, statistics } = entry
  const mark = languageMark(pageContext, entry)
  const origins = new Map(dataset.origins?.map(origin => [origin.field, origin]))
  const rows = dataset.fields.map(field => {
    const known = lookup(statistics.fields, field.name)
    return html`<tr><th scope="row"><span dir="auto"${mark}>${field.label}</span><br><code class="soft">${field.name}</code></th>
<td>${field.multivalued ? t('List of texts') : t(TYPE_NAMES[field.type])}${badgeList(pageContext, field)}</td>
<td class="description">${field.description === null ? noneMark(t('no description')) : html`<span${mark}>${field.description}</span>`}${originText(pageContext, origins.get(field.name))}</td>
<td>${known === undefined ? '' : range(pageContext, field, known)}</td>
<td class="number">${known === undefined ? '' : known.distinct === null ? t('over {n}', { n: 10_000 }) : pageContext.number(known.distinct)}</td>
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
    const precision = coarsePrecision(field)
    if (precision !== null)
      return valueCell(pageContext, String(value).slice(0, precision === 'year' ? 4 : 7), field)
    const day = String(value).slice(0, 10)
    return html`<time datetime="${day}">${pageContext.date(day)}</time>`
  }
  if (min === max) return shown(min)
  return html`${shown(min)}<br>${shown(max)}`
}

/** The share of records without a value; very small and very large shares are not rounded to 0 or 100 %. */
function emptyShare({ number }: PageContext, { nulls }: FieldStatistics, records: number): string {
  if (nulls === 0 || records === 0) return number(0, { style: 'percent' })
  const share = nulls / records
  const maximum = nulls === records ? 1 : Math.min(0.999, Math.max(0.001, share))
  return number(maximum, { style: 'percent', maximumFractionDigits: maximum < 0.1 || maximum > 0.9 ? 1 : 0 })
}
