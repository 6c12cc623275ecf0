import { nearName } from '../model/did-you-mean.ts'
import { RECORD_ID } from './columns.ts'
import { type Diagnostic, severityOf } from './diagnostic.ts'
import type {
  Mapping,
  MappingJoin,
  MappingPlace,
  ObjectMap,
  ResourceRule,
  Segment,
  StatementRule,
  TermMap,
} from './ir.ts'
import { type Checking, checkDatatype, checkIriField, type MappedDataset } from './validate/fields.ts'
import { checkGraph, checkSubject } from './validate/subjects.ts'

export type { MappedDataset }

/** Checks a mapping in either language against the fields of its dataset and, if known, their values. */
export function validateMapping(mapping: Mapping, dataset: MappedDataset): readonly Diagnostic[] {
  const found: Diagnostic[] = []
  const fields = new Map(dataset.fields.map(field => [field.name, field]))
  const top = mapping.resources[0]?.place ?? TOP
  const checking: Checking = {
    mapping,
    dataset,
    field: name => fields.get(name),
    report: (code, place = top, message, hint) => {
      if (found.some(({ code: c, place: p, message: m }) => c === code && p === place && m === message))
        return
      found.push({
        code,
        severity: severityOf(code),
        message,
        place,
        ...(hint === undefined ? {} : { hint }),
      })
    },
  }
  const used = new Set<string>()
  for (const resource of mapping.resources) {
    for (const [name, place] of resourceReferences(resource)) {
      used.add(name)
      checkReference(checking, name, place)
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
  return found.sort(
    (a, b) => a.place.line - b.place.line || a.place.column - b.place.column || (a.code < b.code ? -1 : 1),
  )
}

const SOURCES_MESSAGE = 'the sources are left aside: the records are those of the dataset'
const TOP: MappingPlace = { line: 1, column: 1, endLine: 1, endColumn: 1, path: '' }

function checkReference(
  { dataset, field, report }: Checking,
  name: string,
  place: MappingPlace | undefined,
): void {
  if (field(name) !== undefined || name === RECORD_ID) return
  const names = dataset.fields.map(known => known.name)
  const close =
    names.find(known => known.toLowerCase() === name.trim().toLowerCase()) ?? nearName(name, names)
  const known = `Fields are: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ' …' : ''}.`
  const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name
  const message = `the dataset ${dataset.id} has no field \`${shown}\``
  report('reference-unknown-field', place, message, close === undefined ? known : `Did you mean $(${close})?`)
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

type NamedReference = readonly [string, MappingPlace | undefined]

/** Every reference of a rule, with its position or that of the containing element. */
function resourceReferences(resource: ResourceRule): readonly NamedReference[] {
  const { subject, graphs = [], statements, place } = resource
  return [
    ...termReferences(subject, resource.subjectPlace ?? place),
    ...graphs.flatMap(graph => termReferences(graph, place)),
    ...statements.flatMap(statement => statementReferences(statement, place)),
  ]
}

function statementReferences(
  statement: StatementRule,
  around: MappingPlace | undefined,
): readonly NamedReference[] {
  const place = statement.objectPlace ?? statement.place ?? around
  const { predicate, object, graphs = [] } = statement
  return [
    ...(typeof predicate === 'string' ? [] : termReferences(predicate, place)),
    ...termReferences(object, place),
    ...graphs.flatMap(graph => termReferences(graph, place)),
  ]
}

function termReferences(
  term: ObjectMap | TermMap,
  place: MappingPlace | undefined,
): readonly NamedReference[] {
  switch (term.type) {
    case 'link':
      return []
    case 'natural':
      return [[term.field, term.place ?? place]]
    case 'iri':
    case 'blank':
      return segmentReferences(term.segments, place)
    case 'literal':
      return [term.segments, term.datatype, term.language].flatMap(part =>
        part === undefined || typeof part === 'string' ? [] : segmentReferences(part, place),
      )
  }
}

function segmentReferences(
  segments: readonly Segment[],
  place: MappingPlace | undefined,
): readonly NamedReference[] {
  return segments.flatMap(segment =>
    segment.type === 'field' ? [[segment.name, segment.place ?? place] as const] : [],
  )
}
