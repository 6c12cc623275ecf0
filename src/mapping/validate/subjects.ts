import { lookup } from '../../model/lookup.ts'
import { recordsSpace } from '../../rdf/minted-iris.ts'
import { RDF } from '../../rdf/vocab.ts'
import { constantIri, type MappingPlace, type ResourceRule, type Segment, type TermMap } from '../ir.ts'
import { type Checking, checkIriField } from './fields.ts'

/** Checks the subject of a resource: whether it can be looked up, and whether it distinguishes resources. */
export function checkSubject(checking: Checking, resource: ResourceRule): void {
  const { subject } = resource
  const place = resource.subjectPlace ?? resource.place
  if (subject.type === 'natural' || subject.type === 'literal') {
    checking.report(
      'subject-not-iri',
      place,
      `the subject of ${resource.key} is a literal, an IRI is expected`,
    )
    return
  }
  for (const segment of subject.segments) {
    if (segment.type !== 'field' || checking.field(segment.name)?.multivalued !== true) continue
    checking.report(
      'multivalued-in-subject',
      segment.place ?? place,
      `the field ${segment.name} can have several values: each makes a resource, and all get the same statements`,
    )
  }
  if (subject.type === 'iri') {
    checkIriField(checking, subject, place)
    checkAddress(checking, resource, subject.segments, place)
  }
  checkCollisions(checking, resource, subject.segments, place)
}

function checkAddress(
  checking: Checking,
  { key }: ResourceRule,
  segments: readonly Segment[],
  place: MappingPlace | undefined,
): void {
  const { dataset, report } = checking
  const [first] = segments
  if (first?.type !== 'constant') return
  const space = recordsSpace(dataset.base, dataset.id).replace(/records\/$/, '')
  if (first.text.startsWith(space) && (first.text.length > space.length || segments.length > 1)) return
  report(
    'resource-not-dereferenceable',
    place,
    `the resources of ${key} cannot be looked up here: their IRIs do not begin with ${space}`,
    `Write ${space}${key}/$(…), short portal:${dataset.id}/${key}/$(…), for IRIs that the portal answers.`,
  )
}

function checkCollisions(
  checking: Checking,
  resource: ResourceRule,
  segments: readonly Segment[],
  place: MappingPlace | undefined,
): void {
  const { statistics } = checking.dataset
  if (statistics === undefined || statistics.records === 0) return
  let subjects = 1
  for (const segment of segments) {
    if (segment.type === 'recordId') return
    if (segment.type !== 'field') continue
    const known = lookup(statistics.fields, segment.name)
    if (known === undefined || known.distinct === null) return
    if (known.present === 0) {
      const message = `no record has a value in the field ${segment.name}: nothing is made`
      checking.report('subject-collision-risk', segment.place ?? place, message)
      return
    }
    subjects *= Math.max(1, known.distinct)
  }
  if (!segments.some(({ type }) => type === 'field')) return
  for (const { object } of resource.statements) {
    if (object.type !== 'natural' || checking.field(object.field)?.multivalued === true) continue
    const values =
      lookup(statistics.fields, object.field)?.distinct ??
      lookup(statistics.fields, object.field)?.present ??
      0
    if (values <= 2 * subjects) continue
    checking.report(
      'subject-collision-risk',
      place,
      `the subject of ${resource.key} takes at most ${subjects} values and ${object.field} takes ${values}: ` +
        'different things become one resource',
      'Put a field that distinguishes them into the subject.',
    )
    return
  }
}

/** Checks the resources of a mapping together: classes, labels, links. */
export function checkGraph({ mapping, report }: Checking): void {
  const groups = new Map<string, ResourceRule[]>()
  for (const resource of mapping.resources) {
    const name = signature(resource.subject)
    groups.set(name, [...(groups.get(name) ?? []), resource])
  }
  const reached = reachedSubjects(mapping.resources, groups)
  for (const [name, rules] of groups) {
    const [first] = rules
    if (first === undefined) continue
    const said = rules.flatMap(({ statements }) => statements)
    const own = said.filter(({ inverse }) => inverse !== true)
    if (!own.some(({ predicate }) => constantIri(predicate) === RDF.type))
      report(
        'class-missing',
        first.place,
        `the resources of ${first.key} have no class`,
        'Say what they are: - [a, schema:Place]',
      )
    if (!own.some(({ predicate }) => LABEL.test(constantIri(predicate) ?? '')))
      report(
        'label-missing',
        first.place,
        `the resources of ${first.key} have no label`,
        'Give them a name for readers: - [rdfs:label, $(name)]',
      )
    const linked = said.some(
      ({ object }) => object.type === 'link' || (object.type === 'iri' && groups.has(signature(object))),
    )
    if (groups.size > 1 && !linked && !reached.has(name))
      report(
        'mapping-isolated',
        first.place,
        `the resources of ${first.key} are linked with none of the others`,
        `Link them by the name of the mapping: - [schema:…, ${first.key}]`,
      )
  }
}

const LABEL = /(?:label|name|title|notation)$/i

function reachedSubjects(
  resources: readonly ResourceRule[],
  groups: ReadonlyMap<string, readonly ResourceRule[]>,
): ReadonlySet<string> {
  const names = new Map(resources.map(({ key, subject }) => [key, signature(subject)]))
  const reached = new Set<string>()
  for (const { statements } of resources)
    for (const { object } of statements) {
      const name = object.type === 'link' ? names.get(object.resource) : signature(object)
      if (name !== undefined && groups.has(name)) reached.add(name)
    }
  return reached
}

/** A signature that is the same for equivalent term maps. */
function signature(term: TermMap): string {
  if (term.type === 'natural') return `natural ${JSON.stringify(term.field)}`
  return `${term.type} ${term.segments.map(segmentText).join(' ')}`
}

function segmentText(segment: Segment): string {
  switch (segment.type) {
    case 'constant':
      return JSON.stringify(segment.text)
    case 'field':
      return `$(${JSON.stringify(segment.name)})`
    case 'recordId':
      return '$'
  }
}
