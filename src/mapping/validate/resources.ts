import { RDF } from '../../rdf/vocab.ts'
import type { ResourceRule, Segment, TermMap } from '../ir.ts'
import { constantIri } from '../vocabulary.ts'
import type { Checking } from './checking.ts'

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
    const links = said.filter(({ object }) => object.type === 'link' || object.type === 'iri').length
    if (!own.some(({ predicate }) => LABEL.test(constantIri(predicate) ?? '')))
      report(
        'label-missing',
        first.place,
        `the resources of ${first.key} have no label`,
        'Give them a name for readers: - [rdfs:label, $(name)]',
      )
    const linked = said.some(
      ({ object }) =>
        object.type === 'link' || (object.type === 'iri' && groups.has(signature(object)) && links > 0),
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
export function signature(term: TermMap): string {
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
    default:
      return segment satisfies never
  }
}
