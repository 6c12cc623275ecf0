import { type Html, html } from '../../http/html.ts'
import { isGeo } from '../../model/field.ts'
import { recordIri } from '../../rdf/iris.ts'
import { pager } from '../parts/pager.ts'
import { isNumber, valueCell } from '../parts/value.ts'
import { selectionParameters } from '../selection.ts'
import type { Tab, TabContext } from './tab.ts'

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
    const { visit, inquiry, source, entry, selection } = context
    const { say } = visit
    const offset = Math.min((selection.page - 1) * ROWS, DEEPEST - ROWS)
    const { rows, total } = await inquiry.find(source, selection, { limit: ROWS, offset }, visit.language)
    if (total === 0)
      return {
        body: html`<p class="empty">${say('No record has all of this. Take something out of the filter.')}</p>`,
      }
    const { fields, id } = entry.dataset
    const head = fields.map(field =>
      sortHead(context, field.name, field.label, isNumber(field), isGeo(field.type)),
    )
    const lines = rows.map(({ id: record, object }) => {
      const cells = fields.map((field, at) => {
        const cell = valueCell(visit, object[field.name], field)
        return html`<td${isNumber(field) ? html` class="number"` : ''}>${at === 0 && record !== null ? html`<a class="record" href="${localPath(recordIri('', id, record), visit)}">${cell}</a>` : cell}</td>`
      })
      return html`<tr>${cells}</tr>
`
    })
    const pages = Math.ceil(Math.min(total, DEEPEST) / ROWS)
    const link = (page: number) =>
      visit.href(context.path('table'), selectionParameters({ ...selection, page }))
    const last = offset + rows.length
    return {
      body: html`<div class="scroll" tabindex="0" role="region" aria-label="${say('Records')}"><table class="records">
<caption class="hidden">${say('Records')}</caption>
<thead><tr>${head}</tr></thead>
<tbody>${lines}</tbody></table></div>
<p class="range">${say('{from} to {to} of {total}', { from: offset + 1, to: last, total })}</p>
${pager(visit, Math.floor(offset / ROWS) + 1, pages, link)}
${total > DEEPEST ? html`<p class="soft">${say('Pages go as far as record {n}; exports have all.', { n: DEEPEST })}</p>` : ''}`,
    }
  },
}

/** The path of an IRI of this portal, below the base address. */
export function localPath(iri: string, { site }: TabContext['visit']): string {
  return new URL(site.base).pathname.replace(/\/+$/, '') + iri
}

/** The head of a column: a link that sorts by it, upwards first, then downwards, then not. */
function sortHead(
  context: TabContext,
  name: string,
  label: string,
  isRight: boolean,
  isGeometry: boolean,
): Html {
  const { visit, selection } = context
  const [, by = '', direction = 'asc'] = /^`?([\w.-]+)`?(?:\s+(asc|desc))?$/i.exec(selection.orderBy) ?? []
  const isSorted = by === name
  const isDown = isSorted && direction.toLowerCase() === 'desc'
  const className = isRight ? html` class="number"` : ''
  if (isGeometry) return html`<th scope="col"${className}>${label}</th>`
  const written = /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``
  const next = !isSorted
    ? `${written} ${isRight ? 'desc' : 'asc'}`
    : isDown === isRight
      ? `${written} ${isRight ? 'asc' : 'desc'}`
      : ''
  const state = !isSorted ? '' : html` aria-sort="${isDown ? 'descending' : 'ascending'}"`
  const target = visit.href(
    context.path('table'),
    selectionParameters({ ...selection, orderBy: next, page: 1 }),
  )
  return html`<th scope="col"${className}${state}><a href="${target}" rel="nofollow">${label}<span aria-hidden="true">${!isSorted ? '' : isDown ? ' ↓' : ' ↑'}</span></a></th>`
}
