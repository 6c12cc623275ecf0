import type { Dataset } from '../model/dataset.ts'
import { fieldIri, propertyName, recordsSpace } from '../rdf/minted-iris.ts'
import { reference } from './init/write.ts'
import type { Mapping } from './ir.ts'

/**
 * The direct mapping, used if a dataset has no mapping of its own. Its three rules: a record is a subject, a field a predicate, a
 * value an object (Mapping 1).
 */
export function directMapping(base: string, dataset: Pick<Dataset, 'id' | 'fields'>): Mapping {
  return {
    resources: [
      {
        key: 'records',
        subject: {
          type: 'iri',
          segments: [{ type: 'constant', text: recordsSpace(base, dataset.id) }, { type: 'recordId' }],
        },
        statements: dataset.fields.map(field => ({
          predicate: fieldIri(base, dataset.id, field.name),
          object: { type: 'natural', field: field.name },
        })),
      },
    ],
  }
}

/**
 * The direct mapping of a dataset as a YARRRML document: a starting point that is equivalent to having no mapping. It names the
 * dataset's fields and the record's id; for a dataset with a field `recordid`, `$(recordid)` is that field.
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
