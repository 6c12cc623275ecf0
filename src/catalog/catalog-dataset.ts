import type { Dataset, DatasetStatistics } from '../model/dataset.ts'
import { type Field, field, fieldNamed, isGeo, isTemporal } from '../model/field.ts'
import { toGeoShape } from '../model/geometry.ts'
import { lookup } from '../model/lookup.ts'
import type { Metas, MetaValue } from '../model/metadata.ts'
import { TEMPLATES } from '../model/templates.ts'
import { canonicalMoment } from '../model/time.ts'
import type { DatasetRecord, Value } from '../model/value.ts'
import { datasetExtent, extentMetas } from '../publishing/statistics.ts'

/** Id of the catalog as a queryable dataset. No dataset can have it: dataset ids begin with a letter or digit. */
export const CATALOG_ID = '_catalog'

/** The metadata of a template as fields that queries may name even if no dataset has them (REST 2.8). */
function metaFields(template: string, isIncluded = (_: string): boolean => true): readonly Field[] {
  const { schema = [] } = TEMPLATES.find(({ name }) => name === template) ?? {}
  return schema
    .filter(({ name }) => isIncluded(name))
    .map(({ name, type }) => {
      const isText = type === 'list' || type === 'longstring'
      const multivalued = type === 'list' || (template === 'dcat' && name === 'relation')
      return field(`${template}.${name}`, isText ? 'text' : type, { multivalued })
    })
}

/** The metadata of the default template, which every dataset has; the scope is the last. */
const DEFAULT_FIELDS: readonly Field[] = [
  ...metaFields('default', name => name !== 'oauth_scope'),
  ...metaFields('default', name => name === 'oauth_scope'),
]
const DEFAULT_NAMES = DEFAULT_FIELDS.map(({ name }) => name.slice('default.'.length))

/** The fields of the usage statistics (REST 7.5), for catalogs that include them. */
export const USAGE_FIELDS: readonly Field[] = metaFields('explore', name => !name.startsWith('geographic_'))

/** Returns the usage statistics of a dataset, by its id. */
export type UsageStatistics = (dataset: string) => Metas[string]

/** The description of one dataset for the catalog. */
export interface CatalogEntry {
  readonly dataset: Dataset
  readonly statistics: DatasetStatistics
  /** ISO 8601 moment of the last publication. */
  readonly published: string
  /** The vocabulary of its triples, in the template `semantic`; absent if unknown. */
  readonly semantic?: Metas[string]
}

/**
 * The fields that catalog queries may name: technical ones, `default.…`, and further metadata of the entries.
 *
 * @param more further known fields
 */
export function catalogFields(
  entries: readonly CatalogEntry[],
  more: readonly Field[] = [],
): readonly Field[] {
  const fields: Field[] = [
    field('datasetid', 'text'),
    field('dataset_id', 'text'),
    field('dataset_uid', 'text'),
    field('has_records', 'boolean'),
    field('features', 'text', { multivalued: true }),
    ...DEFAULT_FIELDS,
    ...metaFields('dcat'),
    ...metaFields('semantic'),
    ...more,
  ]
  for (const { dataset } of entries)
    for (const [template, metas] of Object.entries(dataset.metas))
      for (const [name, value] of Object.entries(metas))
        if (fieldNamed(fields, `${template}.${name}`) === undefined && value !== null)
          fields.push(inferredField(`${template}.${name}`, value))
  return fields
}

/**
 * One entry as a record of the catalog: its id is the dataset's, its values follow the fields.
 *
 * @param statistics its usage statistics
 */
export function catalogRecord(
  entry: CatalogEntry,
  position: number,
  fields: readonly Field[],
  statistics?: Metas[string],
): DatasetRecord {
  const { dataset } = entry
  const described = completeMetas(entry)
  const metas =
    statistics === undefined ? described : { ...described, explore: { ...described.explore, ...statistics } }
  const values = fields.map((known): Value => {
    if (known.name === 'datasetid' || known.name === 'dataset_id') return dataset.id
    if (known.name === 'dataset_uid') return dataset.uid
    if (known.name === 'has_records') return entry.statistics.records > 0
    if (known.name === 'features') return listOrNull(featuresOf(entry))
    const [template = '', name = ''] = known.name.split(/\.(.*)/s)
    return metaAsValue(lookup(lookup(metas, template) ?? {}, name) ?? null, known)
  })
  return { id: dataset.id, position, values }
}

/** The metadata of a dataset with those that Lodestone computes: counts and dates. */
export function completeMetas(entry: CatalogEntry): Dataset['metas'] {
  const { dataset, published, statistics, semantic } = entry
  const given = dataset.metas.default ?? {}
  const empty = Object.fromEntries(DEFAULT_NAMES.map(name => [name, null]))
  const { bbox, geometry_types } = extentMetas(datasetExtent(dataset.fields, statistics))
  const computed = {
    bbox: given.bbox ?? bbox,
    geometry_types: given.geometry_types ?? geometry_types,
    modified: given.modified ?? published,
    data_processed: published,
    metadata_processed: published,
    records_count: statistics.records,
    modified_updates_on_data_change: given.modified_updates_on_data_change ?? given.modified === undefined,
    federated: given.federated ?? false,
  }
  const described = semantic === undefined ? {} : { semantic: { ...dataset.metas.semantic, ...semantic } }
  return { ...dataset.metas, ...described, default: { ...empty, title: dataset.id, ...given, ...computed } }
}

/**
 * The features of a dataset, computed from its fields (REST 2.10): numbers for analysis, dates, places, images (an annotated
 * field), and a calendar (a title and the moments of an event). One without records is good for nothing.
 */
export function featuresOf({ dataset, statistics }: CatalogEntry): readonly string[] {
  const fields = statistics.records === 0 ? [] : dataset.fields
  const has = (test: (known: Field) => boolean) => fields.some(test)
  const named = (...names: readonly string[]) => has(({ name }) => names.includes(name))
  const isCalendar =
    named('title', 'name', 'summary') &&
    named('start', 'date_start', 'start_date', 'firstdate_begin', 'dtstart') &&
    named('end', 'date_end', 'end_date', 'firstdate_end', 'lastdate_end', 'dtend')
  return [
    ...(fields.length > 0 ? ['analyze'] : []),
    ...(has(({ type }) => isTemporal(type)) ? ['timeserie'] : []),
    ...(has(({ type }) => isGeo(type)) ? ['geo'] : []),
    ...(has(({ annotations }) => annotations.has_thumbnails !== undefined) ? ['image'] : []),
    ...(isCalendar ? ['calendar'] : []),
  ]
}

/** A moment among the metadata of a dataset in canonical form; null for other values. */
export function momentMeta(value: MetaValue | undefined): string | null {
  return typeof value === 'string' ? canonicalMoment(value) : null
}

/** The names of the metadata of the default template with moments. */
export const MOMENT_METAS: readonly string[] = DEFAULT_NAMES.filter(
  (_, at) => DEFAULT_FIELDS[at]?.type === 'datetime',
)

function inferredField(name: string, value: NonNullable<MetaValue>): Field {
  if (Array.isArray(value)) return field(name, 'text', { multivalued: true })
  if (typeof value === 'boolean') return field(name, 'boolean')
  if (typeof value === 'number') return field(name, Number.isInteger(value) ? 'int' : 'double')
  return field(name, 'text')
}

function metaAsValue(value: MetaValue, known: Field): Value {
  if (value === null) return null
  if (known.multivalued) return listOrNull(Array.isArray(value) ? value.map(String) : [String(value)])
  if (known.type === 'datetime') return momentMeta(value)
  if (known.type === 'geo_shape') return toGeoShape(value) ?? null
  if (known.type === 'text') return typeof value === 'object' ? JSON.stringify(value) : String(value)
  return typeof value === 'number' || typeof value === 'boolean' ? value : null
}

function listOrNull(values: readonly string[]): Value {
  return values.length === 0 ? null : values
}
