import type { Dataset, DatasetStatistics } from '../model/dataset.ts'
import { type Field, type FieldType, field, fieldNamed } from '../model/field.ts'
import type { MetaValue } from '../model/metadata.ts'
import type { DatasetRecord, Value } from '../model/value.ts'

/** Id of the catalog where it is asked like a dataset. No dataset can have it: an id begins with a letter or digit. */
export const CATALOG_ID = '_catalog'

/** The metadata of the default template that every dataset has, with their types (facts on "Catalog"). */
const DEFAULT_METAS: readonly (readonly [name: string, type: FieldType, multivalued?: true])[] = [
  ['title', 'text'],
  ['description', 'text'],
  ['theme', 'text', true],
  ['keyword', 'text', true],
  ['license', 'text'],
  ['license_url', 'text'],
  ['language', 'text'],
  ['metadata_languages', 'text', true],
  ['timezone', 'text'],
  ['modified', 'datetime'],
  ['data_processed', 'datetime'],
  ['metadata_processed', 'datetime'],
  ['publisher', 'text'],
  ['references', 'text'],
  ['records_count', 'int'],
  ['attributions', 'text', true],
]

/** What the catalog needs of one dataset to describe it. */
export interface CatalogEntry {
  readonly dataset: Dataset
  readonly statistics: DatasetStatistics
  /** ISO 8601 moment of the last publication. */
  readonly published: string
}

/** The fields that catalog queries may name: technical ones, `default.…`, and what the entries have beside them. */
export function catalogFields(entries: readonly CatalogEntry[]): readonly Field[] {
  const fields: Field[] = [
    field('datasetid', 'text'),
    field('has_records', 'boolean'),
    field('features', 'text', { multivalued: true }),
    ...DEFAULT_METAS.map(([name, type, many]) =>
      field(`default.${name}`, type, { multivalued: many === true }),
    ),
  ]
  for (const { dataset } of entries)
    for (const [template, metas] of Object.entries(dataset.metas))
      for (const [name, value] of Object.entries(metas))
        if (fieldNamed(fields, `${template}.${name}`) === undefined && value !== null)
          fields.push(inferredField(`${template}.${name}`, value))
  return fields
}

/** One entry as a record of the catalog: its id is the dataset's, its values follow the fields. */
export function catalogRecord(
  entry: CatalogEntry,
  position: number,
  fields: readonly Field[],
): DatasetRecord {
  const { dataset } = entry
  const metas = completeMetas(entry)
  const values = fields.map((known): Value => {
    if (known.name === 'datasetid') return dataset.id
    if (known.name === 'has_records') return entry.statistics.records > 0
    if (known.name === 'features') return listOrNull(featuresOf(dataset))
    const [template = '', name = ''] = known.name.split(/\.(.*)/s)
    return metaAsValue(metas[template]?.[name] ?? null, known)
  })
  return { id: dataset.id, position, values }
}

/** The metadata of a dataset with what Lodestone itself knows: counts and dates. */
export function completeMetas(entry: CatalogEntry): Dataset['metas'] {
  const { dataset, published, statistics } = entry
  const given = dataset.metas.default ?? {}
  const empty = Object.fromEntries(DEFAULT_METAS.map(([name]) => [name, null]))
  const computed = {
    modified: given.modified ?? published,
    data_processed: published,
    metadata_processed: published,
    records_count: statistics.records,
  }
  return { ...dataset.metas, default: { ...empty, title: dataset.id, ...given, ...computed } }
}

/** What a dataset is good for, computed from its fields (query API, "features"). */
export function featuresOf(dataset: Dataset): readonly string[] {
  const has = (test: (type: FieldType) => boolean) => dataset.fields.some(({ type }) => test(type))
  return [
    ...(dataset.fields.length > 0 ? ['analyze'] : []),
    ...(has(type => type === 'date' || type === 'datetime') ? ['timeserie'] : []),
    ...(has(type => type === 'geo_point_2d' || type === 'geo_shape') ? ['geo'] : []),
  ]
}

function inferredField(name: string, value: NonNullable<MetaValue>): Field {
  if (Array.isArray(value)) return field(name, 'text', { multivalued: true })
  if (typeof value === 'boolean') return field(name, 'boolean')
  if (typeof value === 'number') return field(name, Number.isInteger(value) ? 'int' : 'double')
  return field(name, 'text')
}

function metaAsValue(value: MetaValue, known: Field): Value {
  if (value === null) return null
  if (known.multivalued) return listOrNull(Array.isArray(value) ? value.map(String) : [String(value)])
  if (known.type === 'datetime') {
    const moment = new Date(String(value))
    return Number.isNaN(moment.getTime()) ? null : moment.toISOString().replace(/\.?0*Z$/, 'Z')
  }
  if (known.type === 'text') return typeof value === 'object' ? JSON.stringify(value) : String(value)
  return typeof value === 'number' || typeof value === 'boolean' ? value : null
}

function listOrNull(values: readonly string[]): Value {
  return values.length === 0 ? null : values
}
