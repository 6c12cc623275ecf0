import type { DatasetStatistics } from '../../model/dataset.ts'
import { type Field, isGeo } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { reference } from './write.ts'

/** The last part of the IRI of a record, with the reason. */
export interface Identity {
  /** Template of the identifying fields, with `/` between them. */
  readonly template: string
  readonly comment: string
}

/** Names of fields that number records, if there are no statistics. */
const ID_NAMES = new Set([
  'id',
  'identifier',
  'identifiant',
  'uid',
  'uuid',
  'guid',
  'gid',
  'objectid',
  'fid',
  'ogc_fid',
])

/** Maximum fields of an identity; IRIs with more are impractical. */
const MAX_PARTS = 4

/**
 * What identifies the records of a dataset: its id fields, else a field with a distinct value in each record, else the id that
 * Lodestone assigns.
 */
export function identityOf(dataset: {
  readonly fields: readonly Field[]
  readonly identity: readonly string[]
  readonly statistics?: DatasetStatistics
}): Identity {
  const { fields, identity, statistics } = dataset
  const usable = fields.filter(({ type, multivalued }) => !isGeo(type) && !multivalued)
  const declared = identity.flatMap(name => usable.filter(field => field.name === name))
  if (identity.length > 0 && declared.length === identity.length && declared.length <= MAX_PARTS)
    return {
      template: declared.map(({ name }) => reference(name)).join('/'),
      comment:
        'the fields that "id" in dataset.yaml names identify records; equal IRIs merge into one resource',
    }
  const telling = usable.find(field => tellsApart(field, statistics))
  if (telling !== undefined)
    return {
      template: reference(telling.name),
      comment: `every record has another ${telling.name}; equal IRIs merge into one resource`,
    }
  return {
    template: '$(recordid)',
    comment: fields.some(({ name }) => name === 'recordid')
      ? 'the field recordid; equal IRIs merge into one resource'
      : 'no field identifies records, so $(recordid), the id that every record has, does',
  }
}

/** True for a field that is known to have a distinct value in each record. */
function tellsApart({ name, type, annotations }: Field, statistics: DatasetStatistics | undefined): boolean {
  if (type === 'boolean' || type === 'double') return false
  const likely = ID_NAMES.has(name) || annotations.id !== undefined
  const known = lookup(statistics?.fields ?? {}, name)
  if (statistics === undefined || known === undefined) return likely
  if (known.nulls > 0 || statistics.records === 0) return false
  if (known.distinct === null) return likely
  if (known.distinct !== statistics.records) return false
  return (
    likely ||
    (statistics.records >= 10 &&
      /(?:^|_)(?:id|code|key|ref|num|number|numero|name|nom|title|slug)$/.test(name))
  )
}
