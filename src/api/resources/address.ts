import { normaliseEscapes } from '../../rdf/iri-syntax.ts'
import { DOCUMENT_FORMATS, type DocumentFormat } from './formats.ts'

/**
 * The IRI spaces that are dereferenced, and the paths of the documents about them: a thing and the document about it have
 * different addresses (W3C, "Cool URIs for the Semantic Web", section 4).
 */
export const SPACES = {
  /** Resources minted by mappings, and the datasets themselves (Linked data 1.2). */
  resources: { things: '/ld/resources/', documents: '/ld/data/' },
  /** Properties of datasets. */
  ontologies: { things: '/ld/ontologies/', documents: '/ld/vocabulary/' },
  /** Skolemised blank nodes (RDF 1.1 Concepts, section 3.5). */
  nodes: { things: '/.well-known/genid/', documents: '/ld/nodes/' },
} as const

export type SpaceName = keyof typeof SPACES

/** One interpretation of an address. */
export interface AddressReading {
  readonly dataset: string
  /** The part after the id of the dataset and a slash, null without a slash. */
  readonly local: string | null
  /** The possible spellings of the IRI in the store, the normal form first. */
  readonly spellings: readonly [string, ...string[]]
  /** The format of the suffix of the address. */
  readonly format: DocumentFormat | null
}

/**
 * The interpretations of a requested address, of which the first that exists is used: the address of a document may
 * end with the suffix of a format, or with the same letters as part of the IRI.
 *
 * @param target the verbatim request target
 */
export function readings(
  base: string,
  space: SpaceName,
  place: 'things' | 'documents',
  target: string,
): readonly AddressReading[] {
  const start = SPACES[space][place].length
  const path = unicode(target.split(/[?#]/, 1)[0] ?? '').slice(start)
  const whole = reading(base, space, path, null)
  // An address with a query may be an IRI, or ask for a form of the document about the IRI before it.
  if (place === 'things')
    return whole.local !== null && target.includes('?')
      ? [reading(base, space, unicode(target).slice(start), null), whole]
      : [whole]
  const dot = path.lastIndexOf('.')
  const format = dot < 1 ? undefined : DOCUMENT_FORMATS.find(({ suffix }) => suffix === path.slice(dot + 1))
  return format === undefined ? [whole] : [whole, reading(base, space, path.slice(0, dot), format)]
}

/** Decodes unescaped UTF-8 of a client: Node passes each octet beyond ASCII as a character. */
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
  const local = slash < 0 ? null : path.slice(slash + 1)
  const start = `${base}${SPACES[space].things}${first}`
  if (local === null) return { dataset: first, local, spellings: [start], format }
  const normal = `${start}/${normaliseEscapes(local)}`
  const others = [
    `${start}/${local}`,
    asciiAddress(normal),
    normal.replaceAll('%3F', '?').replaceAll('%23', '#'),
  ].filter(other => other !== normal)
  return { dataset: first, local: normaliseEscapes(local), spellings: [normal, ...new Set(others)], format }
}

/** The address of the document about a thing of this portal, as an IRI; a suffix fixes its format. */
export function documentAddress(base: string, iri: string, format?: DocumentFormat): string {
  const space = Object.values(SPACES).find(({ things }) => iri.startsWith(base + things))
  if (space === undefined) throw new Error(`no document for ${iri}`)
  const end = format === undefined ? '' : `.${format.suffix}`
  const local = iri
    .slice(base.length + space.things.length)
    .replaceAll('?', '%3F')
    .replaceAll('#', '%23')
  return `${base}${space.documents}${local}${end}`
}

/** An IRI for a header: characters beyond ASCII are percent-encoded (RFC 3987, section 3.1). */
export function asciiAddress(iri: string): string {
  return iri.replace(/[^%[\]]+/g, encodeURI)
}
