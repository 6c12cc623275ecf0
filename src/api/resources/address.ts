import { normaliseEscapes } from '../../rdf/iri-syntax.ts'
import { type DocumentFormat, suffixedFormat } from './formats.ts'

/**
 * The spaces of IRIs that answer when they are looked up, and where the documents about them are: a thing and a document
 * about it have addresses of their own (W3C, "Cool URIs for the Semantic Web", section 4).
 */
export const SPACES = {
  /** What mappings mint and datasets themselves (Linked data 1.2). */
  resources: { things: '/ld/resources/', documents: '/ld/data/' },
  /** Properties of datasets. */
  ontologies: { things: '/ld/ontologies/', documents: '/ld/vocabulary/' },
  /** Nodes that had no name in their source (RDF 1.1 Concepts, section 3.5). */
  nodes: { things: '/.well-known/genid/', documents: '/ld/nodes/' },
} as const

export type SpaceName = keyof typeof SPACES

/** One way in which an address can be read. */
export interface AddressReading {
  readonly dataset: string
  /** What follows the id of the dataset, null where nothing does. */
  readonly local: string | null
  /** The IRI of the thing as the store may spell it, the normal form first. */
  readonly spellings: readonly [string, ...string[]]
  /** The form that the address ends with. */
  readonly format: DocumentFormat | null
}

/**
 * The ways in which a requested address can be read, the first that names something is right: that of a document may
 * end with the suffix of a form, or with the same letters as part of the IRI.
 *
 * @param target the request target as it was sent
 */
export function readings(
  base: string,
  space: SpaceName,
  place: 'things' | 'documents',
  target: string,
): readonly AddressReading[] {
  const path = unicode(target.split(/[?#]/, 1)[0] ?? '').slice(SPACES[space][place].length)
  const whole = reading(base, space, path, null)
  if (place === 'things') return [whole]
  const dot = path.lastIndexOf('.')
  const format = dot < 1 ? undefined : suffixedFormat(path.slice(dot + 1))
  return format === undefined ? [whole] : [whole, reading(base, space, path.slice(0, dot), format)]
}

/** Octets beyond ASCII that a client did not escape come one a character: they are UTF-8. */
function unicode(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: every character of one octet is meant
  if (!/[\x80-\xff]/.test(path) || /[^\x00-\xff]/.test(path)) return path
  const text = Buffer.from(path, 'latin1').toString('utf8')
  return text.includes('\ufffd') ? path : text
}

function reading(
  base: string,
  space: SpaceName,
  path: string,
  format: DocumentFormat | null,
): AddressReading {
  const slash = path.indexOf('/')
  const first = normaliseEscapes(slash < 0 ? path : path.slice(0, slash))
  const local = slash < 0 || slash === path.length - 1 ? null : path.slice(slash + 1)
  const start = `${base}${SPACES[space].things}${first}`
  if (local === null) return { dataset: first, local, spellings: [start], format }
  const normal = `${start}/${normaliseEscapes(local)}`
  const others = [`${start}/${local}`, asciiAddress(normal)].filter(other => other !== normal)
  return { dataset: first, local: normaliseEscapes(local), spellings: [normal, ...new Set(others)], format }
}

/** The address of the document about a thing of this portal, as an IRI; a suffix fixes its form. */
export function documentAddress(base: string, iri: string, format?: DocumentFormat): string {
  const space = Object.values(SPACES).find(({ things }) => iri.startsWith(base + things))
  if (space === undefined) throw new Error(`no document for ${iri}`)
  const end = format === undefined ? '' : `.${format.suffix}`
  return `${base}${space.documents}${iri.slice(base.length + space.things.length)}${end}`
}

/** An IRI as a header can carry it: percent-encoded octets for what is not ASCII (RFC 3987, section 3.1). */
export function asciiAddress(iri: string): string {
  return encodeURI(iri).replaceAll('%25', '%').replaceAll('%5B', '[').replaceAll('%5D', ']')
}
