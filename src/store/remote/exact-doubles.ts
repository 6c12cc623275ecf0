import { XSD } from '../../rdf/vocab.ts'
import type { SelectOperation } from '../../sparql/algebra.ts'
import {
  apply,
  binary,
  call,
  filter,
  inGraph,
  iri,
  literal,
  select,
  triple,
  variable,
} from '../../sparql/build.ts'
import type { EngineKind } from './addresses.ts'

/**
 * The query that reads doubles of a graph with all their digits from an engine that writes fewer: it selects ?subject, ?predicate
 * and ?value, the double as a text. Null for an engine that writes all digits. Virtuoso writes six.
 */
export function exactDoubles(kind: EngineKind): ((graph: string) => SelectOperation) | null {
  if (kind !== 'virtuoso') return null
  const [subject, predicate, double] = [variable('subject'), variable('predicate'), variable('double')]
  const digits = apply('bif:sprintf', literal('%.17g'), double)
  const isDouble = binary('=', call('DATATYPE', double), iri(XSD.double))
  const doubles = filter(triple(subject, predicate, double), isDouble)
  const projection = [subject, predicate, { variable: variable('value'), expression: digits }]
  return graph => select(projection, inGraph(graph, doubles))
}
