import type { ServedDataset } from '../../catalog/served.ts'
import { DEFAULT_ZONE } from '../../http/parameters.ts'
import type { ResourceRule } from '../../mapping/ir.ts'
import { subjectReport } from '../../mapping/report.ts'
import { compileTerm } from '../../mapping/terms.ts'
import { coarsePrecision, type Field, isGeo, isNumeric, isQuantity, isTemporal } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { oncePerObject } from '../../model/memoised.ts'
import type { Value } from '../../model/value.ts'
import type { AnswerRow } from '../../query/execute/answer.ts'
import { recordIri } from '../../rdf/minted-iris.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { rootOf } from '../../site/signed-in.ts'
import { pager } from '../parts/pager.ts'
import { valueCell } from '../parts/value.ts'
import { apiParameters, fieldName, orderParts, selectionParameters } from '../selection.ts'
import { languageMark } from '../services.ts'
import { endpointAddress, endpointPaths, noRecords, type Tab, type TabContext } from './tab.ts'

/** The deepest record that a page may show: a multiple of the rows of all pages. */
const DEEPEST = 10_000
/** Rows of a page: fewer of wide tables, so that a page stays within the cells that a browser shows without delay. */
const ROWS = [50, 20, 10] as const
const MAX_CELLS = 12_000

function rowsOf({ entry }: Pick<TabContext, 'entry'>): number {
  const columns = entry.dataset.fields.length
  return ROWS.find(rows => rows * columns <= MAX_CELLS) ?? 10
}

/** The records of a selection as a table: its column headers sort, its pages are links. */
export const tableTab: Tab = {
  name: 'table',
  label: 'Table',
  isFiltered: true,
  isShown: ({ entry }) => entry.content === 'records',
  render: async context => {
    const { pageContext, entry, selection } = context
    const { t } = pageContext
    const { rows, total, page, pages } = await pageOfRows(context)
    if (total === 0)
      return {
        body: html`<p class="empty">${noRecords(context)}</p>`,
      }
    const { fields, id } = entry.dataset
    const columns = shownColumnsOf(
      fields,
      rows.map(({ object }) => object),
    )
    const link = (to: number) =>
      pageContext.href(context.path('table'), selectionParameters({ ...selection, page: to }))
    const from = (page - 1) * rowsOf(context) + 1
    return {
      islands: ['table.js'],
      body: html`<div class="scroll records-scroll" tabindex="0" role="region" aria-label="${t('Records')}"><table class="records">
<caption class="hidden">${t('Records')}</caption>
<thead><tr>${columns.map(column => sortHead(context, column))}</tr></thead>
<tbody>${rows.map(row => line(context, columns, row))}</tbody></table></div>
<div class="bar-line"><p class="range">${t('{from} to {to} of {total}', { from, to: from + rows.length - 1, total })}</p>${twins(context, id, page)}</div>
${pager(pageContext, page, pages, link)}
${total > DEEPEST ? html`<p class="soft">${t('Pages end at record {n}; exports have all records.', { n: DEEPEST })}</p>` : ''}`,
    }
  },
}

/** The rows of the requested page, or of the last one if there are fewer. */
async function pageOfRows(context: TabContext) {
  const { queryService, source, selection, pageContext } = context
  const limit = rowsOf(context)
  const pageAt = (page: number) =>
    queryService.find(source, selection, { limit, offset: (page - 1) * limit }, pageContext.language)
  const requested = Math.min(selection.page, DEEPEST / limit)
  const found = await pageAt(requested)
  const { total } = found
  const pages = Math.max(1, Math.ceil(Math.min(total, DEEPEST) / limit))
  if (requested <= pages) return { rows: found.rows, total, page: requested, pages }
  const { rows } = await pageAt(pages)
  return { rows, total, page: pages, pages }
}

/** A record: its first value is the link to its own page. */
function line(
  { pageContext, entry }: TabContext,
  columns: readonly ShownColumn[],
  { id, object }: AnswerRow,
): Html {
  const cells = columns.map((column, at) => {
    const { kind, field, decimals } = column
    const value = lookup(object, field.name)
    if (at > 0 || id === null)
      return html`<td class="${kind}">${valueCell(pageContext, value, field, { decimals })}</td>`
    const isNothing = value === null || value === undefined
    const style = { decimals, isInLink: true }
    const name = isNothing ? pageContext.t('Record') : valueCell(pageContext, value, field, style)
    return html`<th scope="row" class="${kind}"><a class="record" href="${recordPath(pageContext, entry, id, object)}">${name}</a></th>`
  })
  return html`<tr>${cells}</tr>
`
}

function twins(context: TabContext, dataset: string, page: number): Html {
  const { pageContext, selection } = context
  const limit = rowsOf(context)
  const requested = apiParameters(selection)
  const offset = page === 1 ? undefined : (page - 1) * limit
  const paths = endpointPaths(dataset)
  const json = endpointAddress(pageContext, paths.records, { ...requested, limit, offset }).href
  const csv = endpointAddress(pageContext, `${paths.exports}/csv`, requested).href
  return html`<p class="take-away"><a href="${json}" rel="nofollow">${pageContext.t('This page as JSON')}</a> <a href="${csv}" rel="nofollow">${pageContext.t('All as CSV')}</a></p>`
}

/** The head of a column: a link that sorts by it in one direction, then in the other, then not. */
function sortHead(
  { pageContext, selection, path, entry }: TabContext,
  { field, kind, unit }: ShownColumn,
): Html {
  const { name, label, type, multivalued, description, annotations } = field
  const title = description === null ? '' : html` title="${description}"`
  const own = html`${languageMark(pageContext, entry)}${title}`
  const measure = unit === null ? '' : html` <small>${unit}</small>`
  if (isGeo(type) || multivalued)
    return html`<th scope="col" class="${kind}"><span${own}>${label}</span>${measure}</th>`
  const written = fieldName(name)
  const { by, direction } = orderParts(selection.orderBy)
  const isSorted = by === written || by === `\`${name}\``
  const isDown = isSorted && direction === 'desc'
  // The latest years and the largest numbers first.
  const isDownFirst = isNumeric(type) && annotations.id === undefined
  const next = !isSorted
    ? `${written} ${isDownFirst ? 'desc' : 'asc'}`
    : isDown === isDownFirst
      ? `${written} ${isDownFirst ? 'asc' : 'desc'}`
      : ''
  const state = !isSorted ? '' : html` aria-sort="${isDown ? 'descending' : 'ascending'}"`
  const target = pageContext.href(
    path('table'),
    selectionParameters({ ...selection, orderBy: next, page: 1 }),
  )
  const arrow = !isSorted ? '' : isDown ? ' ↓' : ' ↑'
  return html`<th scope="col" class="${kind}"${state}><a href="${target}" rel="nofollow"${own}>${label}<span aria-hidden="true">${arrow}</span></a>${measure}</th>`
}

/**
 * The address of the page of a record: that of the resource which the mapping generates, else that of the record by the
 * direct mapping.
 *
 * @param object the record in an answer of a query
 */
function recordPath(
  { site, href }: Pick<PageContext, 'site' | 'href'>,
  entry: ServedDataset,
  id: string,
  object: Readonly<Record<string, unknown>>,
): string {
  const named = namerOf(entry)(id, object)
  const isOwn = named?.startsWith(`${site.base}/ld/`) === true
  const path = isOwn ? named.slice(site.base.length) : recordIri('', entry.dataset.id, id)
  return /[?#]/.test(path) ? rootOf(site) + path : href(path)
}

type Namer = (id: string, object: Readonly<Record<string, unknown>>) => string | null

/** Names records by the first resource of their mapping that none of its resources links to. */
const namerOf = oncePerObject(({ mapping, dataset }: ServedDataset): Namer => {
  const resources = mapping?.mapping.resources ?? []
  const main = resources.find(rule => !isLinkedTo(rule, resources)) ?? resources[0]
  if (main === undefined) return () => null
  const { fields } = dataset
  const write = compileTerm(main.subject, fields, { canonical: true, blank: label => `_:${label}` }, main.key)
  return (id, object) => {
    // Answers write dates and shapes differently: a subject that uses them has no value here.
    const values = fields.map(
      ({ name, type }): Value =>
        type === 'text' || type === 'int' || type === 'double' || type === 'boolean'
          ? ((lookup(object, name) as Value | undefined) ?? null)
          : null,
    )
    const subjectText = write({ id, position: 0, values }, subjectReport(main))
    const subject = typeof subjectText === 'string' ? subjectText : subjectText?.[0]
    return subject?.startsWith('<') === true && !subject.includes('\\') ? subject.slice(1, -1) : null
  }
})

function isLinkedTo({ key }: ResourceRule, resources: readonly ResourceRule[]): boolean {
  return resources.some(
    other =>
      other.key !== key &&
      other.statements.some(({ object }) => object.type === 'link' && object.resource === key),
  )
}

interface ShownColumn {
  readonly field: Field
  /** Numbers, dates and points stay on one line; columns of long texts are wide. */
  readonly kind: 'number' | 'line' | 'text' | 'long'
  /** Unit of its values, or the time zone of moments; null if unknown. */
  readonly unit: string | null
  /** Decimals of all its numbers, so that their decimal points are aligned. */
  readonly decimals: number
}

type RecordObject = Readonly<Record<string, unknown>>

/** Characters of a text from which on its column is wide, and up to which it stays on one line. */
const LONG = 40
const SHORT = 14
const MAX_DECIMALS = 3

/** The columns of a page of records. */
export function shownColumnsOf(
  fields: readonly Field[],
  records: readonly RecordObject[],
): readonly ShownColumn[] {
  return fields.map(field => {
    const values = records.map(record => lookup(record, field.name))
    const isMoment = field.type === 'datetime' && coarsePrecision(field) === null
    const unit = field.annotations.unit?.[0] ?? (isMoment ? DEFAULT_ZONE : undefined)
    return {
      field,
      kind: kindOf(field, values),
      unit: unit === undefined ? null : String(unit),
      decimals: field.type === 'double' ? decimalsOf(values) : 0,
    }
  })
}

function kindOf(field: Field, values: readonly unknown[]): ShownColumn['kind'] {
  if (isQuantity(field)) return 'number'
  if (isTemporal(field.type) || isGeo(field.type) || field.type !== 'text') return 'line'
  const lengths = values.map(value => (value === null || value === undefined ? 0 : String(value).length))
  const maxLength = Math.max(0, ...lengths)
  if (maxLength <= SHORT && !values.some(value => String(value).includes('\n'))) return 'line'
  const given = lengths.filter(length => length > 0)
  return given.reduce((sum, length) => sum + length, 0) / given.length > LONG ? 'long' : 'text'
}

function decimalsOf(values: readonly unknown[]): number {
  const lengths = values.map(value => /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0)
  const max = Math.max(0, ...lengths)
  return max <= MAX_DECIMALS ? max : 0
}
