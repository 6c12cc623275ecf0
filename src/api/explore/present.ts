import {
  type CatalogEntry,
  completeMetas,
  featuresOf,
  MOMENT_METAS,
  momentMeta,
} from '../../catalog/catalog-dataset.ts'
import { GROUPED_PAGE, PAGE, pagingNames } from '../../http/parameters.ts'
import { isSecret, type QueryParameters } from '../../http/query-string.ts'
import { parseSelect } from '../../language/odsql/parse.ts'
import type { Annotations } from '../../model/field.ts'
import { lookup, setMember } from '../../model/lookup.ts'
import type { Metas } from '../../model/metadata.ts'
import type { Dialect } from '../../query/dialect.ts'
import type { AnswerRow } from '../../query/execute/answer.ts'
import { zonedText } from '../../query/execute/record-json.ts'
import type { Query } from '../../query/plan.ts'

export interface PageLink {
  readonly rel: string
  readonly href: string
}

/** The source of datasets that a path begins with (REST 7.1); the network has two names. */
export type SourceName = 'catalog' | 'monitoring' | NetworkName
export type NetworkName = 'network' | 'opendatasoft'

/** Address and generation of the API, for its links and dates. */
export interface AnswerPlace {
  /** `{base}/api/explore/v2.0`, `v2.1` or `{base}/api/v2`. */
  readonly root: string
  readonly dialect: Dialect
  readonly source: SourceName
}

/** How datasets and records are presented in the answer to a request. */
export interface Presentation {
  readonly place: AnswerPlace
  /** IANA name of the time zone of dates. */
  readonly timezone: string
  /** False if links are left out: the later generation returns them only on request. */
  readonly links: boolean
  /** Usage statistics of a dataset: downloads and calls. */
  readonly appMetas: Metas[string] | null
}

/**
 * The links of a page: self, first, last and, where more remains, next (REST 4.6), all of them within the rows that pages may reach
 * (REST 3.2). Aggregates without groups are one row, of however many records.
 */
export function pageLinks(
  href: string,
  query: QueryParameters,
  plan: Query,
  page: { readonly offset: number; readonly limit: number; readonly total: number },
): readonly PageLink[] {
  const { offset, limit } = page
  const { window } = plan.type === 'groups' ? GROUPED_PAGE : PAGE
  const total = plan.type === 'groups' && plan.keys.length === 0 ? 1 : Math.min(page.total, window)
  const names = pagingNames(query)
  const at = (first: number) =>
    `${href}?${queryText(query, { [names.limit]: String(Math.min(limit, window - first)), [names.offset]: String(first) })}`
  const last = limit === 0 || total === 0 ? 0 : Math.floor((total - 1) / limit) * limit
  return [
    { rel: 'self', href: at(offset) },
    { rel: 'first', href: at(0) },
    { rel: 'last', href: at(last) },
    ...(limit > 0 && offset + limit < total ? [{ rel: 'next', href: at(offset + limit) }] : []),
  ]
}

/** The links of a record; the Explore API has fewer names for what they lead to (REST 4.6). */
function recordLinks(
  id: string,
  dataset: string,
  { root, dialect, source }: AnswerPlace,
): readonly PageLink[] {
  const home = `${root}/${source}/datasets/${dataset}`
  const isSearch = dialect.name === 'search-v2'
  return [
    { rel: 'self', href: `${home}/records/${id}` },
    { rel: isSearch ? 'datasets' : 'catalog', href: `${root}/${source}/datasets` },
    { rel: 'dataset', href: home },
  ]
}

/** The links of a dataset: to itself, the catalog, its records, files and attachments (REST 4.6). */
function datasetLinks(id: string, { root, dialect, source }: AnswerPlace): readonly PageLink[] {
  const home = `${root}/${source}/datasets/${id}`
  const isSearch = dialect.name === 'search-v2'
  const part = (rel: string, href: string): PageLink => ({ rel: isSearch ? rel : 'dataset', href })
  return [
    { rel: 'self', href: home },
    { rel: isSearch ? 'datasets' : 'catalog', href: `${root}/${source}/datasets` },
    part('records', `${home}/records`),
    part('exports', `${home}/exports`),
    part('attachments', `${home}/attachments`),
  ]
}

/**
 * A row of an answer to `/records`: a record, or a group of them unchanged. Aggregates of all records are placed, in the
 * Search API v2, where its clients read selected fields.
 */
export function presentRow(
  row: AnswerRow,
  plan: Query,
  entry: CatalogEntry,
  presentation: Presentation,
): unknown {
  if (row.id !== null) return presentRecord(row, entry, presentation)
  const isWhole = plan.type === 'groups' && plan.keys.length === 0
  return isWhole && presentation.place.dialect.name === 'search-v2'
    ? { links: [], record: { fields: row.object } }
    : row.object
}

/** A record in the form of its generation: in a wrapper, or flat (REST 1.2). */
export function presentRecord(
  row: AnswerRow,
  entry: CatalogEntry,
  { place, links, timezone }: Presentation,
): unknown {
  const timestamp = zonedText(new Date(entry.published).toISOString(), timezone)
  const { id } = entry.dataset
  if (place.dialect.name === 'explore-v2.1') {
    if (!links) return row.object
    const about = { _id: row.id, _timestamp: timestamp, _size: row.size }
    return { _links: recordLinks(row.id ?? '', id, place), ...about, ...row.object }
  }
  return {
    links: recordLinks(row.id ?? '', id, place),
    record: { id: row.id, timestamp, size: row.size, fields: row.object },
  }
}

/** What was selected of a dataset: the values from the store, and the parts that are added to them. */
export interface SelectedDataset {
  readonly object: Readonly<Record<string, unknown>>
  readonly shown: readonly ShownPart[]
}

/** A dataset in the form of its generation (REST 1.2), or what was selected of it. */
export function presentDataset(
  entry: CatalogEntry,
  presentation: Presentation,
  selected?: SelectedDataset,
): unknown {
  const { place } = presentation
  const dataset = datasetObject(entry, presentation, selected)
  const links = datasetLinks(entry.dataset.id, place)
  if (place.dialect.name === 'explore-v2.1')
    return presentation.links ? { _links: links, ...dataset } : dataset
  return { links, dataset }
}

/** A dataset without a wrapper, or what was selected of it. */
export function datasetObject(
  entry: CatalogEntry,
  presentation: Presentation,
  selected?: SelectedDataset,
): Readonly<Record<string, unknown>> {
  const whole: Readonly<Record<string, unknown>> = describeDataset(entry, presentation)
  if (selected === undefined) return whole
  const parts = selected.shown.map(name => [name, whole[name]] as const)
  return { ...selected.object, ...Object.fromEntries(parts) }
}

/**
 * A dataset in the answers to `/query`: the templates of its metadata are siblings of its other parts, where the
 * plugin for QGIS reads `default.title`.
 */
export function queriedDataset(
  entry: CatalogEntry,
  presentation: Presentation,
  selected?: SelectedDataset,
): unknown {
  if (selected !== undefined) return datasetObject(entry, presentation, selected)
  const { metas, ...whole } = describeDataset(entry, presentation)
  return { ...metas, ...whole, metas }
}

/** The order of keys is that of the live service. */
function describeDataset(entry: CatalogEntry, presentation: Presentation) {
  const { dataset, statistics } = entry
  const { root, dialect, source } = presentation.place
  const isFlat = dialect.name === 'explore-v2.1'
  const home = `${root}/${source}/datasets/${dataset.id}`
  const visibility = dataset.visibility === 'public' ? 'domain' : 'restricted'
  return {
    ...(hasPart(dialect, 'visibility') ? { visibility } : {}),
    fields: dataset.fields.map(({ name, label, type, annotations, description }) => ({
      name,
      label,
      type,
      annotations: isFlat ? plainAnnotations(annotations) : annotations,
      description,
    })),
    dataset_id: dataset.id,
    dataset_uid: dataset.uid,
    has_records: statistics.records > 0,
    features: featuresOf(entry),
    attachments: dataset.attachments.map(({ id, title, mimetype }) => ({
      id,
      title,
      mimetype,
      url: `${home}/attachments/${encodeURIComponent(id)}`,
    })),
    ...(hasPart(dialect, 'alternative_exports') ? { alternative_exports: [] } : {}),
    data_visible: true,
    metas: presentMetas(completeMetas(entry), presentation),
  }
}

function presentMetas(metas: Metas, { timezone, appMetas }: Presentation): Metas {
  const known = { ...metas.default }
  for (const name of MOMENT_METAS) {
    const value = lookup(known, name) ?? null
    if (typeof value !== 'string') continue
    // Versions and portals of the network may have texts that are no moments.
    const moment = momentMeta(value)
    setMember(known, name, moment === null ? null : zonedText(moment, timezone))
  }
  return { ...metas, default: known, ...(appMetas === null ? {} : { explore: appMetas }) }
}

/** A flag becomes true, and a single argument is not wrapped in a list (REST 2.12). */
function plainAnnotations(annotations: Annotations): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(annotations).map(([key, values]) => {
      if (values.length === 0) return [key, true]
      return [key, values.length === 1 ? values[0] : values]
    }),
  )
}

function queryText(query: QueryParameters, more: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    Object.hasOwn(more, key) || isSecret(key)
      ? []
      : (Array.isArray(value) ? value : [value]).map(item => [key, item] as const),
  )
  return [...pairs, ...Object.entries(more)]
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
    .join('&')
}

/** Parts of a dataset that are not queried from the store; the last exists only in the latest generation. */
const SHOWN = ['fields', 'attachments', 'data_visible', 'visibility', 'alternative_exports'] as const
export type ShownPart = (typeof SHOWN)[number]

/**
 * The parts that a generation has (REST 2.13).
 */
const PARTS: Readonly<Record<Dialect['name'], readonly ShownPart[]>> = {
  'search-v2': SHOWN.filter(part => part !== 'alternative_exports'),
  'explore-v2.0': SHOWN.filter(part => part !== 'alternative_exports' && part !== 'visibility'),
  'explore-v2.1': SHOWN,
}

/** True if a generation describes datasets with a part. */
function hasPart({ name }: Dialect, part: ShownPart): boolean {
  return PARTS[name].includes(part)
}

/**
 * Parts a select clause of the catalog: the items for the store, and the parts of a dataset that are added to its answer.
 * `select=dataset_id, fields` is an example of the live documents.
 */
export function splitSelect(select: string | undefined, dialect: Dialect) {
  const parts = PARTS[dialect.name]
  const mentions = select !== undefined && parts.some(name => select.includes(name))
  const shown: ShownPart[] = []
  if (!mentions) return { requested: select, shown }
  const requested: string[] = []
  for (const { expression, label, span } of parseSelect(select)) {
    const name = expression?.type === 'field' && label === null ? expression.name : ''
    const part = parts.find(known => known === name)
    if (part === undefined) requested.push(select.slice(span.from, span.to))
    else shown.push(part)
  }
  return { requested: requested.length === 0 ? undefined : requested.join(', '), shown }
}
