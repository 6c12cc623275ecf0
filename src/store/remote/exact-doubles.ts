import { XSD } from '../../rdf/vocab.ts'
import type { SelectQuery } from '../../sparql/ast.ts'
import { apply, binary, call, filter, inGraph, iri, literal, triple, variable } from '../../sparql/build.ts'
import type { EngineKind } from './addresses.ts'

/**
 * The query that reads doubles of a graph with all their digits from an engine that writes fewer: it selects ?subject, ?predicate
 * and ?value, the double as a text. Null for an engine that writes all digits. Virtuoso writes six.
 */
export function exactDoubles(kind: EngineKind): ((graph: string) => SelectQuery) | null {
  if (kind !== 'virtuoso') return null
  const [subject, predicate, double] = [variable('subject'), variable('predicate'), variable('double')]
  return graph => ({
    type: 'select',
    projection: [
      { variable: subject },
      { variable: predicate },
      { variable: variable('value'), expression: apply('bif:sprintf', literal('%.17g'), double) },
    ],
    where: [
      inGraph(
        graph,
        triple(subject, predicate, double),
        filter(binary('=', call('DATATYPE', double), iri(XSD.double))),
      ),
    ],
  })
}
