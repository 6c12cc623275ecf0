import {
  type ChangeType,
  changeCounts,
  changedRecords,
  type RecordChange,
} from '../../catalog/changed-records.ts'
import { lookup } from '../../model/lookup.ts'
import type { VersionDifference } from '../../publishing/versions/changes.ts'
import type { VersionManifest } from '../../publishing/versions/versions.ts'
import { recordIri } from '../../rdf/minted-iris.ts'
import { type Html, html } from '../../site/html.ts'
import { languageField, listOptions } from '../parts/form-fields.ts'
import { pager } from '../parts/pager.ts'
import { recordCell } from '../parts/value.ts'
import { endpointAddress, type Tab, type TabContext, takeAway } from './tab.ts'

/** Changed records on a page, and maximum number of pages. */
const PAGE_RECORDS = 50
const MAX_PAGES = 10_000

/** The retained versions of a dataset, and the changes between two of them, field by field. */
export const versionsTab: Tab = {
  name: 'versions',
  label: 'Versions',
  parameters: ['from', 'to', 'page'],
  render: async context => {
    const { pageContext, services, entry, query } = context
    const { t } = pageContext
    const cached = services.catalog.versionsOf(entry.dataset.id, pageContext.principal)
    const chosen = (name: string) => cached.find(({ version }) => version === lookup(query, name))
    const later = chosen('to') ?? cached[0]
    const earlier = chosen('from') ?? (later === undefined ? undefined : cached[cached.indexOf(later) + 1])
    const difference =
      earlier === undefined || later === undefined ? null : await services.changes.between(earlier, later)
    return {
      body: html`<h2>${t('Versions')}</h2>
${versionList(context, cached)}
${twins(context)}
${difference === null || earlier === undefined || later === undefined ? '' : await changes(context, cached, { earlier, later, difference })}`,
    }
  },
}

function versionList({ pageContext, path }: TabContext, cached: readonly VersionManifest[]): Html {
  const { t } = pageContext
  if (cached.length === 0) return html`<p class="empty">${t('No version is kept here.')}</p>`
  const rows = cached.map(
    ({ version, published, statistics, restored }, at) =>
      html`<tr><th scope="row"><a href="${pageContext.href(path('versions'), { to: version })}"><time datetime="${published}">${pageContext.date(published, 'zoned')}</time></a></th>
<td class="number">${pageContext.number(statistics.records)}</td><td><code>${version}</code></td><td>${at === 0 ? t('in force') : ''}${restored === undefined ? '' : html` ${t('restored from {version}', { version: restored.version })}`}</td></tr>
`,
  )
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${t('Versions')}"><table>
<thead><tr><th scope="col">${t('Published')}</th><th scope="col" class="number">${t('Records')}</th><th scope="col">${t('Version')}</th><th scope="col">${t('State')}</th></tr></thead><tbody>${rows}</tbody></table></div>`
}

function twins({ pageContext, entry }: TabContext): Html {
  const home = `/api/versions/${encodeURIComponent(entry.dataset.id)}`
  const link = (name: string, path: string) => [name, endpointAddress(pageContext, path).href] as const
  return takeAway(pageContext.t('This page as'), [
    link('JSON', home),
    link('Atom', `${home}/feed`),
    link('LDES', `${home}/ldes`),
    link('TimeMap', `${home}/timemap`),
  ])
}

interface Compared {
  readonly earlier: VersionManifest
  readonly later: VersionManifest
  readonly difference: VersionDifference
}

async function changes(
  context: TabContext,
  cached: readonly VersionManifest[],
  { earlier, later, difference }: Compared,
): Promise<Html> {
  const { pageContext, entry, path, query } = context
  const { t } = pageContext
  const counts = changeCounts(difference)
  const total = counts.changed + counts.added + counts.removed
  const pages = Math.min(MAX_PAGES, Math.max(1, Math.ceil(total / PAGE_RECORDS)))
  const page = Math.min(pages, Math.max(1, Math.floor(Number(lookup(query, 'page') ?? 1)) || 1))
  const pair = { from: earlier.version, to: later.version }
  const shown = entry.content === 'rdf' ? [] : await recordsOf(context, { earlier, later, difference }, page)
  const rows = shown.map(change => changeRows(context, change, later.version))
  return html`<h2 id="changes">${t('Changes')}</h2>
<form method="get" action="${pageContext.href(path('versions'))}" class="line">${languageField(pageContext)}
${choice(context, cached, 'from', t('From'), earlier)}${choice(context, cached, 'to', t('To'), later)}<button>${t('Compare')}</button></form>
<p>${t('changed')}: ${pageContext.number(counts.changed)}, ${t('added')}: ${pageContext.number(counts.added)}, ${t('removed')}: ${pageContext.number(counts.removed)}</p>
${
  total === 0
    ? html`<p class="empty">${t('The records of these versions are the same.')}</p>`
    : rows.length === 0
      ? ''
      : html`<div class="scroll" tabindex="0" role="region" aria-labelledby="changes"><table>
<thead><tr><th scope="col">${t('Record')}</th><th scope="col">${t('Field')}</th><th scope="col">${t('Before')}</th><th scope="col">${t('After')}</th></tr></thead>${rows}</table></div>
${pager(pageContext, page, pages, to => pageContext.href(path('versions'), { ...pair, page: to }))}`
}`

  async function recordsOf({ services: { catalog, store } }: TabContext, compared: Compared, number: number) {
    const { id } = entry.dataset
    const old = await catalog.retained.opened(id, compared.earlier.version)
    try {
      const now = await catalog.retained.opened(id, compared.later.version)
      try {
        const at = { offset: (number - 1) * PAGE_RECORDS, limit: PAGE_RECORDS }
        const types: readonly ChangeType[] = ['changed', 'added', 'removed']
        return await changedRecords(store, [old.entry, now.entry], compared.difference, types, at)
      } finally {
        now.release()
      }
    } finally {
      old.release()
    }
  }
}

function choice(
  { pageContext }: TabContext,
  cached: readonly VersionManifest[],
  name: string,
  label: string,
  chosen: VersionManifest,
): Html {
  const options = cached.map(
    ({ version, published }) => [version, `${pageContext.date(published, 'zoned')} (${version})`] as const,
  )
  return html`<label>${label} <select name="${name}">${listOptions(options, chosen.version)}</select></label> `
}

/** A record with a row for each field that differs. */
function changeRows(
  { pageContext, entry }: TabContext,
  { type, id, fields }: RecordChange,
  version: string,
): Html {
  const { t } = pageContext
  const names: Readonly<Record<ChangeType, string>> = {
    changed: t('changed'),
    added: t('added'),
    removed: t('removed'),
  }
  const address = pageContext.href(recordIri('', entry.dataset.id, id), { version })
  const link =
    type === 'removed'
      ? html`<code>${id.slice(0, 8)}</code>`
      : html`<a href="${address}"><code>${id.slice(0, 8)}</code></a>`
  const head = html`<th scope="rowgroup" rowspan="${Math.max(1, fields.length)}">${link}<br><span class="soft">${names[type]}</span></th>`
  if (fields.length === 0) return html`<tbody><tr>${head}<td></td><td></td><td></td></tr></tbody>`
  const rows = fields.map(({ field, before, after }, at) => {
    const cell = (value: typeof before) => html`<td>${recordCell(pageContext, value, field)}</td>`
    return html`<tr>${at === 0 ? head : ''}<td>${field.label}</td>${cell(before)}${cell(after)}</tr>
`
  })
  return html`<tbody>${rows}</tbody>`
}
