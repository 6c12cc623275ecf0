import type { Dataset } from '../model/dataset.ts'
import { fieldIri, recordsSpace } from '../rdf/iris.ts'
import type { Mapping } from './ir.ts'

/**
 * The direct mapping, used where a dataset has none of its own. Its three rules: a record is a subject, a field a
 * predicate, a value an object (Mapping 1).
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
