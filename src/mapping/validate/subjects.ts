import { lookup } from '../../model/lookup.ts'
import { recordsSpace } from '../../rdf/minted-iris.ts'
import type { MappingPlace, ResourceRule, Segment } from '../ir.ts'
import type { Checking } from './checking.ts'
import { checkIriField } from './fields.ts'

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
