import type { Term } from '../../../rdf/term.ts'
import type { MessageRow } from './query-messages.ts'

/** A link between resources of an answer; null for a predicate that is not known. */
export type Link = readonly [subject: Term, predicate: string | null, object: Term]

/** The links of an answer: its triples, or links from the first resource of each row to the others. */
export function linksOf(rows: readonly MessageRow[], kind: 'rows' | 'triples'): readonly Link[] {
  return rows.flatMap((row): readonly Link[] => {
    if (kind === 'triples') {
      const [subject, predicate, object] = row
      if (subject == null || object == null || predicate?.type !== 'iri') return []
      return isNode(object) ? [[subject, predicate.value, object]] : []
    }
    const [first, ...others] = row.filter(isNode)
    return first === undefined ? [] : others.map(other => [first, null, other] as const)
  })
}

function isNode(term: Term | null): term is Term {
  return term?.type === 'iri' || term?.type === 'blank'
}
