import { type Field, field, fieldNamed } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'

/**
 * The field that a name refers to. In the catalog, which has a template whose prefix may be left out, `title`, `basic.title` and
 * `metas.default.title` all refer to `default.title` (REST 2.9).
 *
 * @param template that template; undefined for the records of a dataset, whose fields have one name each
 */
export function findField(fields: readonly Field[], name: string, template?: string): Field | undefined {
  const exact = fieldNamed(fields, name)
  if (exact !== undefined || template === undefined) return exact
  const plain = withoutPrefixes(name, template)
  return fieldNamed(fields, plain) ?? fieldNamed(fields, `${template}.${plain}`)
}

/** The test of names that begin with a prefix, in any spelling that {@link findField} accepts. */
export function beginsWith(prefix: string, template?: string): (name: string) => boolean {
  const plain = template === undefined ? prefix : withoutPrefixes(prefix, template)
  return name => name.startsWith(prefix) || name.startsWith(plain)
}

/** `basic` is the type of the templates that users fill in; `template` is the one that every dataset has. */
function withoutPrefixes(name: string, template: string): string {
  return name.replace(/^metas\./, '').replace(/^basic\./, `${template}.`)
}

/**
 * What a query may use of any record in addition to its own fields (REST 2.11). A field of the dataset with the same name takes
 * precedence.
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

type TechnicalName = keyof typeof TECHNICAL

/** The technical field of a name. */
export function technicalNamed(name: string): Field | undefined {
  return lookup(TECHNICAL, name)
}

/** The name of a technical field; undefined for a field of a dataset, even one of the same name. */
export function technicalName(known: Field): TechnicalName | undefined {
  const named = technicalNamed(known.name)
  return named === known ? (known.name as TechnicalName) : undefined
}
