import type { ObjectMap, Segment } from './ir.ts'

/** A template as YARRRML writes it: `http://example.org/$(name)`. */
function templateText(segments: readonly Segment[]): string {
  return segments.map(segmentText).join('')
}

function segmentText(segment: Segment): string {
  switch (segment.type) {
    case 'constant':
      return segment.text
    case 'field':
      return `$(${segment.name})`
    case 'recordId':
      return '$(recordid)'
    default:
      return segment satisfies never
  }
}

/** What a term map is, for messages. */
export function termDescription(term: ObjectMap): string {
  switch (term.type) {
    case 'link':
      return term.resource
    case 'natural':
      return `$(${term.field})`
    case 'blank':
      return `_:${templateText(term.segments)}`
    case 'iri':
    case 'literal':
      return templateText(term.segments)
    default:
      return term satisfies never
  }
}
