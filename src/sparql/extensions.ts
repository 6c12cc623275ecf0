import type { Term } from '../rdf/term.ts'
import { GEOF, LODESTONE, RDF, XSD } from '../rdf/vocab.ts'
import type { AggregateCall } from './algebra.ts'
import type { SyntaxNode } from './relative.ts'

/** Functions that are always aggregates (SPARQL 1.1 Query, section 19.8, note 6). */
export const EXTENSION_AGGREGATES: readonly string[] = [
  LODESTONE.sum,
  LODESTONE.average,
  LODESTONE.minimum,
  LODESTONE.maximum,
  LODESTONE.countDistinct,
  LODESTONE.percentile,
  LODESTONE.hull,
  LODESTONE.boundingBox,
]

/** Names that are not functions, and functions that only the compiler calls: the arguments of most have internal forms. */
const INTERNAL: readonly string[] = [
  LODESTONE.position,
  LODESTONE.dateFormat,
  LODESTONE.intervalStart,
  LODESTONE.recordSize,
  LODESTONE.step,
  LODESTONE.random,
]

/** Functions of columns in addition to those of SPARQL (section 17.6): of GeoSPARQL, and of Lodestone. */
export const EXTENSION_FUNCTIONS: readonly string[] = [
  ...Object.values(GEOF),
  ...Object.values(LODESTONE).filter(iri => !INTERNAL.includes(iri) && !EXTENSION_AGGREGATES.includes(iri)),
]

/** True for the name of a function or an aggregate that queries may call. */
export function isExtension(iri: string): boolean {
  return EXTENSION_FUNCTIONS.includes(iri) || EXTENSION_AGGREGATES.includes(iri)
}

/** Replaces the name of a function that untrusted queries may not call: no function has this name. */
const UNKNOWN = 'urn:lodestone:unknown'

/** The function for a name in an untrusted query. */
export function functionOfUntrusted(iri: string): string {
  return INTERNAL.includes(iri) ? UNKNOWN : iri
}

/** Converts calls of aggregate functions to aggregates, because the grammar cannot distinguish them from other calls. */
export function liftAggregates(part: unknown): void {
  if (typeof part !== 'object' || part === null) return
  for (const [key, value] of Object.entries(part)) if (key !== 'loc') liftAggregates(value)
  const node = part as SyntaxNode
  if (node.type !== 'expression' || node.subType !== 'functionCall') return
  const name = String((node.function as SyntaxNode).value)
  const [operand, ...others] = node.args as readonly SyntaxNode[]
  if (!EXTENSION_AGGREGATES.includes(name) || operand === undefined) return
  const parameters = others.map(constantOf)
  node.subType = 'aggregate'
  // The library's algebra preserves only the name of an aggregate.
  node.aggregation = JSON.stringify({ name, parameters })
  node.distinct = node.distinct === true
  node.expression = [operand]
  delete node.function
  delete node.args
}

/** The aggregate encoded in a name of the algebra; null for one of SPARQL. */
export function namedAggregate(name: string): Pick<AggregateCall, 'name' | 'parameters'> | null {
  return name.startsWith('{') ? (JSON.parse(name) as Pick<AggregateCall, 'name' | 'parameters'>) : null
}

/** A constant argument. Throws for any other argument. */
function constantOf({ type, subType, value, langOrIri }: SyntaxNode): Term {
  if (type === 'term' && subType === 'namedNode') return { type: 'iri', value: String(value) }
  if (type !== 'term' || subType !== 'literal')
    throw new RangeError('arguments of an aggregate after its first are constants')
  if (typeof langOrIri === 'string')
    return { type: 'literal', value: String(value), datatype: RDF.langString, language: langOrIri }
  const datatype = langOrIri === undefined ? XSD.string : String((langOrIri as SyntaxNode).value)
  return { type: 'literal', value: String(value), datatype, language: '' }
}
