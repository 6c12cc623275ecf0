import { lookup } from '../../model/lookup.ts'
import { recordIri } from '../../rdf/minted-iris.ts'
import { type Html, html } from '../../site/html.ts'
import { richText } from '../parts/rich-text.ts'
import { valueCell } from '../parts/value.ts'
import { NOTHING_SELECTED } from '../selection.ts'
import { metaText } from '../services.ts'
import { endpointAddress, endpointPaths } from './endpoints.ts'
import { metadataList } from './information-metadata.ts'
import { schemaTable } from './information-schema.ts'
import type { Tab, TabContext } from './tab.ts'
import { tablePath } from './table.ts'

/** Number of sample records. */
const SAMPLES = 3

/** Information on a dataset: the publisher's metadata, its fields, some records, its attachments, its usage. */
export const informationTab: Tab = {
  name: 'information',
  label: 'Information',
  isFiltered: false,
  isShown: () => true,
  render: async context => {
    const { entry, pageContext } = context
    const { t } = pageContext
    const description = metaText(entry, 'description')
    return {
      body: html`<div class="prose">${description === null ? html`<p class="soft">${t('Its publisher has not described it yet.')}</p>` : richText(description)}</div>
${statisticsTiles(context)}
<h2>${t('About this dataset')}</h2>
${metadataList(context)}
${entry.content === 'records' ? html`<h2>${t('Fields')}</h2>${schemaTable(context)}${await samples(context)}` : ''}
${attachments(context)}
${twins(context)}`,
    }
  },
}

/** Key statistics: the size of the dataset, and its use. */
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
      : html`<th scope="col"><a href="${tablePath(recordIri('', id, row.id), pageContext)}">${name}</a></th>`
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

/** Links to the same content for programs. */
function twins({ pageContext, entry }: TabContext): Html {
  const paths = endpointPaths(entry.dataset.id)
  const links = [
    ['JSON', paths.explore, {}],
    ['DCAT', '/api/explore/v2.1/catalog/exports/ttl', { where: `datasetid="${entry.dataset.id}"` }],
    ['VoID', paths.void, { format: 'turtle' }],
  ] as const
  return html`<p class="take-away"><span>${pageContext.t('This page as')}</span> ${links.map(
    ([name, path, parameters]) =>
      html`<a href="${endpointAddress(pageContext, path, parameters).href}" rel="nofollow">${name}</a> `,
  )}</p>`
}
