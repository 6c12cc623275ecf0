import type { CatalogEntry } from '../../catalog/catalog-dataset.ts'
import { completeMetas, featuresOf } from '../../catalog/catalog-dataset.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { AnswerRow } from '../../records/answer.ts'

export interface Link {
  readonly rel: string
  readonly href: string
}

/** Where the API is, for its links. */
export interface Place {
  /** `{base}/api/explore/v2.0` or `v2.1`. */
  readonly root: string
}

/** The links of a page: self, first, last and, where more remains, next (query API, "Link object"). */
export function pageLinks(
  href: string,
  query: QueryParameters,
  page: { readonly offset: number; readonly limit: number; readonly total: number },
): readonly Link[] {
  const { offset, limit, total } = page
  const at = (start: number) => `${href}?${queryText(query, { limit: String(limit), offset: String(start) })}`
  const last = limit === 0 || total === 0 ? 0 : Math.floor((total - 1) / limit) * limit
  return [
    { rel: 'self', href: at(offset) },
    { rel: 'first', href: at(0) },
    { rel: 'last', href: at(last) },
    ...(limit > 0 && offset + limit < total ? [{ rel: 'next', href: at(offset + limit) }] : []),
  ]
}

/** A record in its wrapper (query API, "Record"). */
export function presentRecord(
  row: AnswerRow,
  { place, entry }: { readonly place: Place; readonly entry: CatalogEntry },
): unknown {
  const home = `${place.root}/catalog/datasets/${entry.dataset.id}`
  return {
    links: [
      { rel: 'self', href: `${home}/records/${row.id ?? ''}` },
      { rel: 'datasets', href: `${place.root}/catalog/datasets` },
      { rel: 'dataset', href: home },
    ],
    record: { id: row.id, timestamp: entry.published, size: row.size, fields: row.object },
  }
}

/** A dataset in its wrapper (query API, "Dataset wrapper and dataset"), or what was selected of it. */
export function presentDataset(
  entry: CatalogEntry,
  place: Place,
  selected?: Record<string, unknown>,
): unknown {
  const home = `${place.root}/catalog/datasets/${entry.dataset.id}`
  return {
    links: [
      { rel: 'self', href: home },
      { rel: 'catalog', href: `${place.root}/catalog/datasets` },
      { rel: 'records', href: `${home}/records` },
    ],
    dataset: selected ?? describeDataset(entry, place),
  }
}

/** A dataset without wrapper, as the later generation gives it; the order of keys is that of the live service. */
export function presentFlatDataset(entry: CatalogEntry, place: Place): unknown {
  const { fields, dataset_id, dataset_uid, has_records, features, attachments, data_visible, metas } =
    describeDataset(entry, place)
  return {
    visibility: 'domain',
    fields,
    dataset_id,
    dataset_uid,
    has_records,
    features,
    attachments,
    alternative_exports: [],
    data_visible,
    metas,
  }
}

function describeDataset(entry: CatalogEntry, place: Place) {
  const { dataset, statistics } = entry
  const home = `${place.root}/catalog/datasets/${dataset.id}`
  return {
    dataset_id: dataset.id,
    dataset_uid: dataset.uid,
    attachments: dataset.attachments.map(({ id, title, mimetype }) => ({
      id,
      title,
      mimetype,
      url: `${home}/attachments/${encodeURIComponent(id)}`,
    })),
    has_records: statistics.records > 0,
    data_visible: true,
    fields: dataset.fields.map(({ name, label, type, annotations, description }) => ({
      name,
      label,
      type,
      annotations,
      description,
    })),
    metas: completeMetas(entry),
    features: featuresOf(dataset),
  }
}

function queryText(query: QueryParameters, more: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    key in more || key === 'apikey'
      ? []
      : (Array.isArray(value) ? value : [value]).map(item => [key, item] as const),
  )
  return [...pairs, ...Object.entries(more)]
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
    .join('&')
}
