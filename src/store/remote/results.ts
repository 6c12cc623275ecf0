import { Fault } from '../../errors/errors.ts'
import { languageDatatype } from '../../rdf/ntriples.ts'
import type { Term } from '../../rdf/term.ts'
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
import { STORE_UNAVAILABLE } from '../faults.ts'
import type { Solution } from '../store.ts'
import type { EngineKind } from './addresses.ts'
import type { EngineResponse } from './http.ts'

/** A term in SPARQL 1.1 Query Results JSON (section 3.2.2); `typed-literal` is that of its draft. */
interface JsonTerm {
  readonly type: 'uri' | 'literal' | 'typed-literal' | 'bnode'
  readonly value: string
  readonly datatype?: string
  readonly 'xml:lang'?: string
}

interface JsonResults {
  readonly results?: { readonly bindings: readonly Readonly<Record<string, JsonTerm>>[] }
}

/** Parses the answer of a SELECT. Faults: StoreUnavailable for an invalid answer, such as one that the engine aborted. */
export function readJsonSolutions(text: string): readonly Solution[] {
  return resultsOf(text).bindings.map(binding => {
    const terms = Object.entries(binding).map(([name, term]) => [name, readJsonTerm(term)] as const)
    return Object.fromEntries(terms)
  })
}

function resultsOf(text: string): NonNullable<JsonResults['results']> {
  try {
    const { results } = JSON.parse(text) as JsonResults
    if (results !== undefined) return results
  } catch (cause) {
    throw new Fault(STORE_UNAVAILABLE, { reason: 'the answer of the engine breaks off.' }, { cause })
  }
  throw new Fault(STORE_UNAVAILABLE, { reason: 'the engine answers without results.' })
}

function readJsonTerm({ type, value, datatype = XSD.string, 'xml:lang': language = '' }: JsonTerm): Term {
  if (type === 'uri') return { type: 'iri', value }
  if (type === 'bnode') return { type: 'blank', value }
  if (language === '') return { type: 'literal', value, datatype, language: '' }
  return { type: 'literal', value, datatype: languageDatatype(language), language: language.toLowerCase() }
}

/** True for a whole answer: Virtuoso answers 200 with a part of the rows where it reached an internal limit, and reports that in headers. */
export function isWholeAnswer({ headers, text }: EngineResponse): boolean {
  if (headers['x-sql-message'] !== undefined || headers['x-sql-state'] !== undefined) return false
  const max = Number(headers['x-sparql-maxrows'] ?? Number.NaN)
  return Number.isNaN(max) || !text.includes('"bindings"') || rowsIn(text) < max
}

/** Number of rows of a JSON answer as Virtuoso writes it, one per line. */
function rowsIn(text: string): number {
  let rows = 0
  for (let at = text.indexOf('\n    {'); at >= 0; at = text.indexOf('\n    {', at + 1)) rows += 1
  return rows
}

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
