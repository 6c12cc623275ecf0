import { RDF } from '../rdf/vocab.ts'
import type { Mapping, Segment, StatementRule, TermMap } from './ir.ts'

/** The classes that a mapping gives its resources, each once, in order of appearance; computed ones are left out. */
export function usedClasses(mapping: Mapping): readonly string[] {
  return unique(
    statements(mapping).flatMap(({ predicate, object, inverse }) => {
      if (inverse === true || constantIri(predicate) !== RDF.type || object.type === 'link') return []
      const iri = constantIri(object)
      return iri === null ? [] : [iri]
    }),
  )
}

/** The properties that a mapping uses, rdf:type aside, each once, in order of appearance. */
export function usedProperties(mapping: Mapping): readonly string[] {
  return unique(
    statements(mapping).flatMap(({ predicate }) => {
      const iri = constantIri(predicate)
      return iri === null || iri === RDF.type ? [] : [iri]
    }),
  )
}

/** The text of a term that is the same IRI for every record; null for any other term. */
export function constantIri(term: string | TermMap): string | null {
  if (typeof term === 'string') return term
  return term.type === 'iri' ? constantText(term.segments) : null
}

/** The text of segments without references; null if there are some. */
export function constantText(segments: readonly Segment[]): string | null {
  let text = ''
  for (const segment of segments) {
    if (segment.type !== 'constant') return null
    text += segment.text
  }
  return text
}

function statements(mapping: Mapping): readonly StatementRule[] {
  return mapping.resources.flatMap(resource => resource.statements)
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}
