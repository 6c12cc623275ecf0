import { type Field, field } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'

/**
 * What a query may ask of any record beside its own fields (REST 2.11). A field of the dataset with
 * the same name goes before.
 */
export const TECHNICAL = {
  datasetid: field('datasetid', 'text', { label: 'Dataset', description: 'Identifier of the dataset' }),
  recordid: field('recordid', 'text', { label: 'Record', description: 'Identifier of the record' }),
  record_timestamp: field('record_timestamp', 'datetime', {
    label: 'Published',
    description: 'When the record was published',
  }),
  record_size: field('record_size', 'int', {
    label: 'Size',
    description: 'Characters of the JSON of the record',
  }),
} as const

export type TechnicalName = keyof typeof TECHNICAL

/** The technical field of a name. */
export function technicalNamed(name: string): Field | undefined {
  return lookup(TECHNICAL, name)
}

/** The name of a technical field; undefined for a field of a dataset, even one of the same name. */
export function technicalName(known: Field): TechnicalName | undefined {
  const named = technicalNamed(known.name)
  return named === known ? (known.name as TechnicalName) : undefined
}
