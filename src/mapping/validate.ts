import { nearName } from '../model/did-you-mean.ts'
import { memoised } from '../model/memoised.ts'
import { RECORD_ID } from './columns.ts'
import { type Diagnostic, DOCUMENT_START, diagnosticOf } from './diagnostic.ts'
import {
  type FieldReference,
  fieldReferences,
  type Mapping,
  type MappingJoin,
  type MappingPlace,
  type ObjectMap,
  type ResourceRule,
  type StatementRule,
  statementTerms,
} from './ir.ts'
import { type Checking, checkDatatype, checkIriField, type MappedDataset } from './validate/fields.ts'
import { checkGraph, checkSubject } from './validate/subjects.ts'

export type { MappedDataset }

/** Checks a mapping in either language against the fields of its dataset and, if known, their values. */
export function validateMapping(mapping: Mapping, dataset: MappedDataset): readonly Diagnostic[] {
  const found = new Map<string, Diagnostic>()
  const fields = new Map(dataset.fields.map(field => [field.name, field]))
  const top = mapping.resources[0]?.place ?? DOCUMENT_START
  const checking: Checking = {
    mapping,
    dataset,
    field: name => fields.get(name),
    report: (code, place = top, message, hint) => {
      const key = `${code} ${place.line} ${place.column} ${message}`
      if (!found.has(key)) found.set(key, diagnosticOf(code, place, message, hint))
    },
  }
  const used = new Set<string>()
  const unknown = new Map<string, readonly [message: string, hint: string]>()
  for (const resource of mapping.resources) {
    for (const { name, place } of resourceReferences(resource)) {
      used.add(name)
      if (fields.has(name) || name === RECORD_ID) continue
      const [message, hint] = memoised(unknown, name, () => unknownField(dataset, name))
      checking.report('reference-unknown-field', place, message, hint)
    }
    if (resource.sources !== undefined) checking.report('sources-ignored', resource.place, SOURCES_MESSAGE)
    checkSubject(checking, resource)
    for (const statement of resource.statements) checkStatement(checking, resource, statement)
  }
  checkGraph(checking)
  const unused = dataset.fields.filter(({ name }) => !used.has(name)).map(({ name }) => name)
  if (unused.length > 0)
    checking.report(
      'field-unused',
      top,
      `${unused.length === 1 ? 'one field is' : `${unused.length} fields are`} used nowhere: ` +
        unused.slice(0, 10).join(', ') +
        (unused.length > 10 ? ' …' : ''),
    )
  return [...found.values()].sort(
    (a, b) => a.place.line - b.place.line || a.place.column - b.place.column || (a.code < b.code ? -1 : 1),
  )
}

const SOURCES_MESSAGE = 'the sources are left aside: the records are those of the dataset'

/** What is reported of a reference to no field. */
function unknownField({ id, fields }: MappedDataset, name: string): readonly [message: string, hint: string] {
  const names = fields.map(known => known.name)
  const close =
    names.find(known => known.toLowerCase() === name.trim().toLowerCase()) ?? nearName(name, names)
  const known = `Fields are: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ' …' : ''}.`
  const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name
  const hint = close === undefined ? known : `Did you mean $(${close})?`
  return [`the dataset ${id} has no field \`${shown}\``, hint]
}

function checkStatement(checking: Checking, resource: ResourceRule, statement: StatementRule): void {
  const { object } = statement
  const place = statement.objectPlace ?? statement.place ?? resource.place
  switch (object.type) {
    case 'link':
      if (!checking.mapping.resources.some(({ key }) => key === object.resource)) {
        const close = nearName(
          object.resource,
          checking.mapping.resources.map(({ key }) => key),
        )
        checking.report(
          'link-unknown',
          place,
          `there is no mapping \`${object.resource}\``,
          close === undefined ? undefined : `Did you mean \`${close}\`?`,
        )
      }
      checkJoin(checking, object)
      return
    case 'natural':
    case 'blank':
      return
    case 'iri':
      checkIriField(checking, object, place)
      return
    case 'literal':
      checkDatatype(checking, object, place, statement.markPlace ?? place)
      return
    default:
      object satisfies never
  }
}

/** A join over a field of several values leads to every record that shares one of them. */
function checkJoin({ field, report }: Checking, { resource, joined }: MappingJoin): void {
  for (const name of joined?.fields ?? [])
    if (field(name)?.multivalued === true)
      report(
        'unsupported',
        joined?.place,
        `a join with other records of \`${resource}\`: the field ${name} has several values, and joins are not supported`,
        'Without the condition the link is to the subjects of the same record.',
      )
}

/** Every reference of a rule, with its position or that of the containing element. */
function resourceReferences(resource: ResourceRule): readonly FieldReference[] {
  const { subject, graphs = [], statements, place } = resource
  const placed = (around: MappingPlace | undefined, term: ObjectMap) =>
    fieldReferences(term).map(reference => ({ ...reference, place: reference.place ?? around }))
  return [
    ...placed(resource.subjectPlace ?? place, subject),
    ...graphs.flatMap(graph => placed(place, graph)),
    ...statements.flatMap(statement =>
      statementTerms(statement).flatMap(term =>
        placed(statement.objectPlace ?? statement.place ?? place, term),
      ),
    ),
  ]
}
