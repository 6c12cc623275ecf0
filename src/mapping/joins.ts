import type { TermMap } from './ir.ts'

/**
 * True if a join over equal fields of one source leads to the subject of the same record alone: the subject is made of exactly
 * these fields, so that all records that match have it. A subject without one of them would also exist where that field is empty,
 * and matches nothing there.
 */
export function isOfSameRecord(subject: TermMap, fields: readonly string[]): boolean {
  const references = referencesOf(subject)
  return (
    references.length > 0 &&
    references.every(name => fields.includes(name) && !name.includes('[*]')) &&
    fields.every(name => references.includes(name))
  )
}

/** The references of a term map. */
export function referencesOf(term: TermMap): readonly string[] {
  if (term.type === 'natural') return [term.field]
  return term.segments.flatMap(segment => (segment.type === 'field' ? [segment.name] : []))
}
