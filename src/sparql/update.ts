import { iriText, termText } from '../rdf/ntriples.ts'
import type { Term } from '../rdf/term.ts'

/** A triple. */
export interface UpdateTriple {
  readonly subject: Term
  readonly predicate: Term
  readonly object: Term
}

/** A change of a store (SPARQL 1.1 Update): some triples of one graph, or a whole graph. */
export type Update =
  | { readonly type: 'insert' | 'delete'; readonly graph: string; readonly triples: readonly UpdateTriple[] }
  | { readonly type: 'drop'; readonly graph: string }
  /** Removes a number of arbitrary triples of a graph. */
  | { readonly type: 'thin'; readonly graph: string; readonly triples: number }

/** Writes a change as text; terms are written as N-Triples, whose escapes SPARQL shares. */
export function generateUpdate(update: Update): string {
  const graph = iriText(update.graph)
  switch (update.type) {
    case 'insert':
      return `INSERT DATA { GRAPH ${graph} { ${linesOf(update.triples)} } }`
    case 'delete':
      return `DELETE DATA { GRAPH ${graph} { ${linesOf(update.triples)} } }`
    case 'drop':
      return `DROP SILENT GRAPH ${graph}`
    case 'thin': {
      const all = `GRAPH ${graph} { ?s ?p ?o }`
      return `DELETE { ${all} } WHERE { { SELECT ?s ?p ?o WHERE { ${all} } LIMIT ${Math.floor(update.triples)} } }`
    }
  }
}

function linesOf(triples: readonly UpdateTriple[]): string {
  return triples
    .map(
      ({ subject, predicate, object }) => `${termText(subject)} ${termText(predicate)} ${termText(object)} .`,
    )
    .join('\n')
}
