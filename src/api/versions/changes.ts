import type { ChangeType, RecordChange } from '../../catalog/changed-records.ts'
import { CHANGE_TYPES } from '../../catalog/changed-records.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { invalid, many } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { EXPLORE_V21 } from '../../query/dialect.ts'
import { valueJson } from '../../query/execute/json.ts'
import { recordIri } from '../../rdf/minted-iris.ts'

const STYLE = { dialect: EXPLORE_V21, timezone: 'UTC' } as const

/** The requested kinds of changes, all by default. Faults: InvalidRESTParameterError. */
export function readTypes(query: QueryParameters): readonly ChangeType[] {
  const named = many(query, 'type')
    .flatMap(value => value.split(','))
    .filter(name => name !== '')
  if (named.length === 0) return CHANGE_TYPES
  return named.map(name => {
    const found = CHANGE_TYPES.find(type => type === name)
    if (found === undefined) throw invalid('type', name, CHANGE_TYPES.join(', '))
    return found
  })
}

/** A changed record as JSON: values as the Explore API writes them. */
export function changeJson(
  base: string,
  { dataset }: ServedDataset,
  { type, id, fields }: RecordChange,
): unknown {
  return {
    type,
    recordid: id,
    iri: recordIri(base, dataset.id, id),
    fields: fields.map(({ field, before, after }) => ({
      name: field.name,
      label: field.label,
      type: field.type,
      before: valueJson(before, field.type, STYLE),
      after: valueJson(after, field.type, STYLE),
    })),
  }
}
