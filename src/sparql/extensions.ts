import { GEOF, LODESTONE } from '../rdf/vocab.ts'

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
