import { isGeo } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import type { AnswerRow } from '../../query/execute/answer.ts'
import { type Html, html } from '../../site/html.ts'
import { queryText } from '../../site/page-context.ts'
import { pager } from '../parts/pager.ts'
import { recordPath } from '../parts/record-path.ts'
import { apiParameters, selectionParameters } from '../selection.ts'
import { noRecords, type Tab, type TabContext } from './tab.ts'
import { type Column, columnCell, columnsOf } from './table-columns.ts'

/** Rows of a page, and the deepest one that a page may show. */
const ROWS = 50
const DEEPEST = 10_000

/** The records of a selection as a table: its heads sort, its pages are links. */
export const tableTab: Tab = {
  name: 'table',
  label: 'Table',
  isFiltered: true,
  isShown: ({ entry }) => entry.content === 'records',
  render: async context => {
    const { visit, entry, selection } = context
    const { say } = visit
    const { rows, total, page, pages } = await pageOfRows(context)
    if (total === 0)
      return {
        body: html`<p class="empty">${noRecords(context)}</p>`,
      }
    const { fields, id } = entry.dataset
    const columns = columnsOf(
      fields,
      rows.map(({ object }) => object),
    )
    const link = (to: number) =>
      visit.href(context.path('table'), selectionParameters({ ...selection, page: to }))
    const from = (page - 1) * ROWS + 1
    return {
      islands: ['table.js'],
      body: html`<div class="scroll records-scroll" tabindex="0" role="region" aria-label="${say('Records')}"><table class="records">
<caption class="hidden">${say('Records')}</caption>
<thead><tr>${columns.map(column => sortHead(context, column))}</tr></thead>
<tbody>${rows.map(row => line(context, columns, row))}</tbody></table></div>
<div class="bar-line"><p class="range">${say('{from} to {to} of {total}', { from, to: from + rows.length - 1, total })}</p>${twins(context, id, page)}</div>
${pager(visit, page, pages, link)}
${total > DEEPEST ? html`<p class="soft">${say('Pages go as far as record {n}; exports have all.', { n: DEEPEST })}</p>` : ''}`,
    }
  },
}

/** The rows of the page that is asked for, or of the last one where there are not as many. */
async function pageOfRows({ inquiry, source, selection, visit }: TabContext) {
  const pageAt = (offset: number) => inquiry.find(source, selection, { limit: ROWS, offset }, visit.language)
  const asked = Math.min(selection.page, DEEPEST / ROWS)
  const found = await pageAt((asked - 1) * ROWS)
  const { total } = found
  const pages = Math.max(1, Math.ceil(Math.min(total, DEEPEST) / ROWS))
  if (asked <= pages) return { rows: found.rows, total, page: asked, pages }
  const { rows } = await pageAt((pages - 1) * ROWS)
  return { rows, total, page: pages, pages }
}

/** A record: its first value is the link to its own page. */
function line({ visit, entry }: TabContext, columns: readonly Column[], { id, object }: AnswerRow): Html {
  const cells = columns.map((column, at) => {
    const { kind, field } = column
    const value = lookup(object, field.name)
    if (at > 0 || id === null) return html`<td class="${kind}">${columnCell(visit, value, column)}</td>`
    const isNothing = value === null || value === undefined
    const name = isNothing ? visit.say('Record') : columnCell(visit, value, column, true)
    return html`<th scope="row" class="${kind}"><a class="record" href="${recordPath(visit, entry, id, object)}">${name}</a></th>`
  })
  return html`<tr>${cells}</tr>
`
}

/** The same page for programs. */
function twins({ visit, selection }: TabContext, dataset: string, page: number): Html {
  const records = `/api/explore/v2.1/catalog/datasets/${encodeURIComponent(dataset)}`
  const asked = apiParameters(selection)
  const offset = page === 1 ? undefined : (page - 1) * ROWS
  const json = `${records}/records${queryText({ ...asked, limit: ROWS, offset })}`
  const csv = `${records}/exports/csv${queryText(asked)}`
  return html`<p class="take-away"><a href="${localPath(json, visit)}" rel="nofollow">${visit.say('This page as JSON')}</a> <a href="${localPath(csv, visit)}" rel="nofollow">${visit.say('All as CSV')}</a></p>`
}

/** The path of an IRI of this portal, below the base address. */
export function localPath(iri: string, { site }: TabContext['visit']): string {
  return new URL(site.base).pathname.replace(/\/+$/, '') + iri
}

/** The head of a column: a link that sorts by it, then the other way round, then not. */
function sortHead({ visit, selection, path }: TabContext, { field, kind, unit }: Column): Html {
  const { name, label, type, multivalued, description } = field
  const title = description === null ? '' : html` title="${description}"`
  const measure = unit === null ? '' : html` <small>${unit}</small>`
  if (isGeo(type) || multivalued)
    return html`<th scope="col" class="${kind}"><span${title}>${label}</span>${measure}</th>`
  const [, by = '', direction = 'asc'] = /^`?([\w.-]+)`?(?:\s+(asc|desc))?$/i.exec(selection.orderBy) ?? []
  const isSorted = by === name
  const isDown = isSorted && direction.toLowerCase() === 'desc'
  const isDownFirst = kind === 'number'
  const written = /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``
  const next = !isSorted
    ? `${written} ${isDownFirst ? 'desc' : 'asc'}`
    : isDown === isDownFirst
      ? `${written} ${isDownFirst ? 'asc' : 'desc'}`
      : ''
  const state = !isSorted ? '' : html` aria-sort="${isDown ? 'descending' : 'ascending'}"`
  const target = visit.href(path('table'), selectionParameters({ ...selection, orderBy: next, page: 1 }))
  const arrow = !isSorted ? '' : isDown ? ' ↓' : ' ↑'
  return html`<th scope="col" class="${kind}"${state}><a href="${target}" rel="nofollow"${title}>${label}<span aria-hidden="true">${arrow}</span></a>${measure}</th>`
}
