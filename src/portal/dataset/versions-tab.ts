import {
  type ChangeType,
  changeCounts,
  changedRecords,
  type RecordChange,
} from '../../catalog/changed-records.ts'
import { lookup } from '../../model/lookup.ts'
import type { VersionDifference } from '../../publishing/versions/changes.ts'
import type { Manifest } from '../../publishing/versions/versions.ts'
import { EXPLORE_V21 } from '../../query/dialect.ts'
import { valueJson } from '../../query/execute/json.ts'
import { recordIri } from '../../rdf/iris.ts'
import { type Html, html } from '../../site/html.ts'
import { pager } from '../parts/pager.ts'
import { valueCell } from '../parts/value.ts'
import { doorAddress } from './doors.ts'
import type { Tab, TabContext } from './tab.ts'
import { localPath } from './table.ts'

/** Changed records on a page, and pages that can be asked for. */
const PAGE_RECORDS = 50
const MAX_PAGES = 10_000

const STYLE = { dialect: EXPLORE_V21, timezone: 'UTC' } as const

/** The versions of a dataset that are kept, and what changed between two of them, field by field. */
export const versionsTab: Tab = {
  name: 'versions',
  label: 'Versions',
  isFiltered: false,
  isShown: () => true,
  parameters: ['from', 'to', 'page'],
  render: async context => {
    const { visit, services, entry, query } = context
    const { say } = visit
    const kept = services.catalog.versionsOf(entry.dataset.id, visit.principal)
    const chosen = (name: string) => kept.find(({ version }) => version === lookup(query, name))
    const later = chosen('to') ?? kept[0]
    const earlier = chosen('from') ?? (later === undefined ? undefined : kept[kept.indexOf(later) + 1])
    const difference =
      earlier === undefined || later === undefined ? null : await services.changes.between(earlier, later)
    return {
      body: html`<h2>${say('Versions')}</h2>
${versionList(context, kept)}
${twins(context)}
${difference === null || earlier === undefined || later === undefined ? '' : await changes(context, kept, { earlier, later, difference })}`,
    }
  },
}

function versionList({ visit, path }: TabContext, kept: readonly Manifest[]): Html {
  const { say } = visit
  if (kept.length === 0) return html`<p class="empty">${say('No version is kept here.')}</p>`
  const rows = kept.map(
    ({ version, published, statistics, restored }, at) =>
      html`<tr><th scope="row"><a href="${visit.href(path('versions'), { to: version })}"><time datetime="${published}">${visit.date(published, 'moment')}</time></a></th>
<td class="number">${visit.number(statistics.records)}</td><td><code>${version}</code></td><td>${at === 0 ? say('in force') : ''}${restored === undefined ? '' : html` ${say('restored from {version}', { version: restored.version })}`}</td></tr>
`,
  )
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${say('Versions')}"><table>
<thead><tr><th scope="col">${say('Published')}</th><th scope="col">${say('Records')}</th><th scope="col">${say('Version')}</th><th scope="col">${say('State')}</th></tr></thead><tbody>${rows}</tbody></table></div>`
}

/** The same for programs. */
function twins({ visit, entry }: TabContext): Html {
  const home = `/api/versions/${encodeURIComponent(entry.dataset.id)}`
  const links = [
    ['JSON', home],
    ['Atom', `${home}/feed`],
    ['LDES', `${home}/ldes`],
    ['TimeMap', `${home}/timemap`],
  ] as const
  return html`<p class="take-away"><span>${visit.say('This page as')}</span> ${links.map(
    ([name, path]) => html`<a href="${doorAddress(visit, path).href}" rel="nofollow">${name}</a> `,
  )}</p>`
}

interface Compared {
  readonly earlier: Manifest
  readonly later: Manifest
  readonly difference: VersionDifference
}

async function changes(
  context: TabContext,
  kept: readonly Manifest[],
  { earlier, later, difference }: Compared,
): Promise<Html> {
  const { visit, entry, path, query } = context
  const { say } = visit
  const counts = changeCounts(difference)
  const total = counts.changed + counts.added + counts.removed
  const page = Math.min(MAX_PAGES, Math.max(1, Math.floor(Number(lookup(query, 'page') ?? 1)) || 1))
  const pages = Math.min(MAX_PAGES, Math.ceil(total / PAGE_RECORDS))
  const pair = { from: earlier.version, to: later.version }
  const shown = entry.content === 'rdf' ? [] : await recordsOf(context, { earlier, later, difference }, page)
  const rows = shown.map(change => changeRows(context, change, later.version))
  return html`<h2 id="changes">${say('Changes')}</h2>
<form method="get" action="${visit.href(path('versions'))}" class="line">${visit.namedLanguage === undefined ? '' : html`<input type="hidden" name="lang" value="${visit.namedLanguage}">`}
${choice(context, kept, 'from', say('From'), earlier)}${choice(context, kept, 'to', say('To'), later)}<button>${say('Compare')}</button></form>
<p>${say('changed')}: ${visit.number(counts.changed)}, ${say('added')}: ${visit.number(counts.added)}, ${say('removed')}: ${visit.number(counts.removed)}</p>
${
  total === 0
    ? html`<p class="empty">${say('The records of these versions are the same.')}</p>`
    : rows.length === 0
      ? ''
      : html`<div class="scroll" tabindex="0" role="region" aria-labelledby="changes"><table>
<thead><tr><th scope="col">${say('Record')}</th><th scope="col">${say('Field')}</th><th scope="col">${say('Before')}</th><th scope="col">${say('After')}</th></tr></thead>${rows}</table></div>
${pager(visit, page, pages, to => visit.href(path('versions'), { ...pair, page: to }))}`
}`

  async function recordsOf({ services: { catalog, store } }: TabContext, compared: Compared, number: number) {
    const { id } = entry.dataset
    const [old, now] = await Promise.all(
      [compared.earlier, compared.later].map(({ version }) => catalog.kept.opened(id, version)),
    )
    if (old === undefined || now === undefined) return []
    try {
      const at = { offset: (number - 1) * PAGE_RECORDS, limit: PAGE_RECORDS }
      const types: readonly ChangeType[] = ['changed', 'added', 'removed']
      return await changedRecords(store, [old.entry, now.entry], compared.difference, types, at)
    } finally {
      old.release()
      now.release()
    }
  }
}

function choice(
  { visit }: TabContext,
  kept: readonly Manifest[],
  name: string,
  label: string,
  chosen: Manifest,
): Html {
  const options = kept.map(
    ({ version, published }) =>
      html`<option value="${version}"${version === chosen.version ? html` selected` : ''}>${visit.date(published, 'moment')} (${version})</option>`,
  )
  return html`<label>${label} <select name="${name}">${options}</select></label> `
}

/** A record with a row for each field that differs. */
function changeRows({ visit, entry }: TabContext, { type, id, fields }: RecordChange, version: string): Html {
  const { say } = visit
  const names: Readonly<Record<ChangeType, string>> = {
    changed: say('changed'),
    added: say('added'),
    removed: say('removed'),
  }
  const address = localPath(recordIri('', entry.dataset.id, id), visit)
  const link =
    type === 'removed'
      ? html`<code>${id.slice(0, 8)}</code>`
      : html`<a href="${address}${address.includes('?') ? '&' : '?'}version=${encodeURIComponent(version)}"><code>${id.slice(0, 8)}</code></a>`
  const head = html`<th scope="rowgroup" rowspan="${Math.max(1, fields.length)}">${link}<br><span class="soft">${names[type]}</span></th>`
  if (fields.length === 0) return html`<tbody><tr>${head}<td></td><td></td><td></td></tr></tbody>`
  const rows = fields.map(({ field, before, after }, at) => {
    const cells = [before, after].map(value => valueCell(visit, valueJson(value, field.type, STYLE), field))
    return html`<tr>${at === 0 ? head : ''}<td>${field.label}</td><td>${cells[0] ?? ''}</td><td>${cells[1] ?? ''}</td></tr>
`
  })
  return html`<tbody>${rows}</tbody>`
}
