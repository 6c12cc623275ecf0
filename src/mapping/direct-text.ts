import type { Dataset } from '../model/dataset.ts'
import { propertyName } from '../rdf/iris.ts'
import { reference } from './init/write.ts'

/**
 * The direct mapping as a YARRRML document of the dataset: a mapping to begin with that says what is so without one. It
 * names the dataset's fields and the record's id; for a dataset with a field `recordid`, `$(recordid)` is that field.
 */
export function directMappingText({ id, fields }: Pick<Dataset, 'id' | 'fields'>): string {
  const rows = fields.map(({ name }) => `      - [field:${propertyName(name)}, ${reference(name)}]\n`)
  return `# The direct mapping of the dataset ${id}: a record is a subject, a field a predicate, a value an object (YARRRML).
mappings:
  records:
    subject: portal:${encodeURIComponent(id)}/records/$(recordid)
    predicateobjects:
${rows.join('')}`
}
