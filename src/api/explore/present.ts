import type { CatalogEntry } from '../../catalog/catalog-dataset.ts'
import { completeMetas, featuresOf } from '../../catalog/catalog-dataset.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Field } from '../../model/field.ts'
import { instantText, zoneOffset } from '../../model/time.ts'
import type { DatasetRecord, Value } from '../../model/value.ts'
import type { Selection } from '../../query/plan.ts'

export interface Link {
  readonly rel: string
  readonly href: string
}

/** Where the API is, for its links. */
export interface Place {
  /** `{base}/api/explore/v2.0`. */
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
  record: DatasetRecord,
  select: readonly Selection[],
  context: { readonly place: Place; readonly entry: CatalogEntry; readonly timezone: string },
): unknown {
  const { place, entry, timezone } = context
  const { dataset } = entry
  const home = `${place.root}/catalog/datasets/${dataset.id}`
  return {
    links: [
      { rel: 'self', href: `${home}/records/${record.id}` },
      { rel: 'datasets', href: `${place.root}/catalog/datasets` },
      { rel: 'dataset', href: home },
    ],
    record: {
      id: record.id,
      timestamp: entry.published,
      size: [...JSON.stringify(record.values)].length,
      fields: presentFields(record, dataset.fields, select, timezone),
    },
  }
}

/** A dataset in its wrapper (query API, "Dataset wrapper and dataset"). */
export function presentDataset(entry: CatalogEntry, place: Place): unknown {
  const { dataset, statistics } = entry
  const home = `${place.root}/catalog/datasets/${dataset.id}`
  return {
    links: [
      { rel: 'self', href: home },
      { rel: 'catalog', href: `${place.root}/catalog/datasets` },
      { rel: 'records', href: `${home}/records` },
    ],
    dataset: {
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
    },
  }
}

function presentFields(
  record: DatasetRecord,
  fields: readonly Field[],
  select: readonly Selection[],
  timezone: string,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const { key, field } of select)
    shown[key] = presentValue(record.values[fields.indexOf(field)] ?? null, field, timezone)
  return shown
}

/** A value as JSON: a shape as a feature, a moment with its offset in the time zone asked for. */
export function presentValue(value: Value, field: Field, timezone: string): unknown {
  if (value === null) return null
  if (field.type === 'geo_shape') return { type: 'Feature', geometry: value, properties: {} }
  if (field.type === 'datetime' && typeof value === 'string') return zonedText(value, timezone)
  return value
}

/** A canonical moment as ISO 8601 with the offset that a zone has at it: `2026-06-27T06:00:00+02:00`. */
export function zonedText(moment: string, timezone: string): string {
  const digits = moment.slice(19, -1)
  if (timezone === 'UTC') return `${moment.slice(0, -1)}+00:00`
  const epoch = Date.parse(`${moment.slice(0, 19)}Z`)
  const offset = zoneOffset(timezone, epoch)
  const minutes = Math.round(Math.abs(offset) / 60_000)
  const sign = offset < 0 ? '-' : '+'
  const clock = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  return `${instantText((epoch + offset) / 1000, '').slice(0, 19)}${digits}${sign}${clock}`
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
