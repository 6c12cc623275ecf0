import { parseQueryValue } from '../../http/query-string.ts'
import { iriText, literalText } from '../../rdf/ntriples.ts'
import { DCTERMS, FOAF, HYDRA, RDF, SD, VOID, XSD } from '../../rdf/vocab.ts'

/** A position of a pattern, named like its parameter (TPF specification, "Controls"). */
export type FragmentPlace = 'subject' | 'predicate' | 'object' | 'graph'

const PROPERTIES: Readonly<Record<FragmentPlace, string>> = {
  subject: RDF.subject,
  predicate: RDF.predicate,
  object: RDF.object,
  graph: SD.graph,
}

/** The positions of a triple, and of a quad. */
export const TRIPLE_PLACES = ['subject', 'predicate', 'object'] as const
export const QUAD_PLACES = [...TRIPLE_PLACES, 'graph'] as const

/** The name of the default graph for quad clients: that of the LDF server. */
export const DEFAULT_GRAPH = 'urn:ldf:defaultGraph'

/** One page of a fragment, as its metadata describe it. */
export interface PageDescription {
  readonly base: string
  readonly dataset: { readonly title: string; readonly description: string | null }
  /** Address of the fragments of the dataset. */
  readonly address: string
  /** The positions of a pattern: three for triples, four for quads. */
  readonly places: readonly FragmentPlace[]
  readonly pageIri: string
  readonly fragmentIri: string
  readonly page: number
  readonly pageSize: number
  /** Parameters that the search form keeps, as in the address. */
  readonly foreign: readonly string[]
  /** True for the fragment of all triples, which clients begin with. */
  readonly isStart: boolean
  /** Triples of the whole fragment. */
  readonly count: number
}

/**
 * Fragments of at most this number of pages do not report their page size. If it is reported, Comunica 5 estimates a request
 * at the cost of one triple of a page, and sends hundreds of requests for single bindings rather than one for a short
 * fragment. The start fragment never reports it, for clients apply its page size to all later fragments.
 */
const FEW_PAGES = 8

/**
 * The triples that describe a page and its controls, as N-Triples lines (TPF specification, "Controls"; Hydra core).
 * Their order matters to clients: the last void:subset statement must be that of the fragment, and its number of triples
 * must come before any other.
 */
export function pageMetadata(description: PageDescription): readonly string[] {
  const { address, dataset, page, pageSize, count, places } = description
  const [whole, fragment, here] = [`${address}#dataset`, description.fragmentIri, description.pageIri].map(
    iriText,
  )
  const lines: string[] = []
  const t = (subject: string | undefined, predicate: string, object: string | undefined) =>
    lines.push(`${subject} <${predicate}> ${object} .\n`)
  const number = (value: number) => literalText(String(value), XSD.integer)
  t(iriText(metadataGraph(description)), FOAF.primaryTopic, fragment)
  t(whole, RDF.type, `<${VOID.Dataset}>`)
  t(whole, RDF.type, `<${HYDRA.Collection}>`)
  t(whole, VOID.subset, fragment)
  if (here !== fragment) t(whole, VOID.subset, here)
  // Clients accept it only after the statement that the page is a subset of the dataset.
  if (places.includes('graph')) t(whole, SD.defaultGraph, iriText(DEFAULT_GRAPH))
  t(fragment, VOID.subset, here)
  t(here, HYDRA.totalItems, number(count))
  t(here, VOID.triples, number(count))
  if (!description.isStart && count > FEW_PAGES * pageSize) t(here, HYDRA.itemsPerPage, number(pageSize))
  t(here, RDF.type, `<${HYDRA.PartialCollectionView}>`)
  t(here, DCTERMS.title, literalText(`Fragment of ${dataset.title}`))
  if (dataset.description !== null) t(here, DCTERMS.description, literalText(dataset.description))
  t(here, DCTERMS.source, whole)
  t(whole, HYDRA.search, '_:pattern')
  t('_:pattern', HYDRA.template, literalText(fragmentsTemplate(address, places, description.foreign)))
  t('_:pattern', HYDRA.variableRepresentation, `<${HYDRA.ExplicitRepresentation}>`)
  for (const name of places) {
    t('_:pattern', HYDRA.mapping, `_:${name}`)
    t(`_:${name}`, HYDRA.variable, literalText(name))
    t(`_:${name}`, HYDRA.property, `<${PROPERTIES[name]}>`)
  }
  const link = (predicate: string, target: number) =>
    t(here, predicate, iriText(numberedPage(description.fragmentIri, target)))
  link(HYDRA.first, 1)
  if (page > 1) link(HYDRA.previous, page - 1)
  if (page * pageSize < count) link(HYDRA.next, page + 1)
  return lines
}

/** The named graph that keeps the metadata apart from the data. */
export function metadataGraph({ fragmentIri }: Pick<PageDescription, 'fragmentIri'>): string {
  return `${fragmentIri}#metadata`
}

/** Address of the list of all datasets with fragments. */
export function listAddress(base: string): string {
  return `${base}/api/tpf`
}

/** Canonical address of a dataset's fragments: what clients are given, and what the search form expands. */
export function fragmentsAddress(base: string, dataset: string): string {
  return `${listAddress(base)}/${encodeURIComponent(dataset)}`
}

/** Address of the quad pattern fragments of the portal, in which each dataset is a graph. */
export function portalQuadsAddress(base: string): string {
  return `${base}/api/qpf`
}

/** Characters that are illegal in an IRI, but legal in a request line: also a percent sign without two digits (RFC 3987, section 2.2). */
const ILLEGAL = /%(?![0-9a-f]{2})|[^!$%&'()*+,\-./0-9:;=?@A-Z_a-z~\u{a0}-\u{10ffff}]/giu

/** The IRI of the page that is requested: public address and raw request target, byte for byte as far as IRIs allow. */
export function pageIri(base: string, target: string): string {
  return base + target.replace(ILLEGAL, encodeURIComponent)
}

/** The IRI of the fragment that a page belongs to: the page's without its `page` parameter. */
export function fragmentIri(page: string): string {
  const at = page.indexOf('?')
  if (at < 0) return page
  const cached = partsOf(page).filter(part => nameOf(part) !== 'page')
  return cached.length === 0 ? page.slice(0, at) : `${page.slice(0, at)}?${cached.join('&')}`
}

/** The IRI of one page of a fragment. */
export function numberedPage(fragment: string, page: number): string {
  return `${fragment}${fragment.includes('?') ? '&' : '?'}page=${page}`
}

/**
 * The parameters of a page's IRI, byte for byte, that are not part of the pattern: an API key, for example. The form
 * repeats them, so that clients that follow it send them again.
 *
 * @param own names of the parameters of the pattern
 */
export function foreignParameters(page: string, own: ReadonlySet<string>): readonly string[] {
  return partsOf(page).filter(part => part !== '' && !own.has(nameOf(part)))
}

/**
 * The template of a dataset's fragments (RFC 6570), with parameters that every address keeps.
 *
 * @param places the parameters of a pattern
 */
export function fragmentsTemplate(
  address: string,
  places: readonly string[],
  foreign: readonly string[],
): string {
  const [before, after] = [places.join(','), foreign.join('&')]
  return after === '' ? `${address}{?${before}}` : `${address}?${after}{&${before}}`
}

function partsOf(iri: string): readonly string[] {
  const at = iri.indexOf('?')
  return at < 0 ? [] : iri.slice(at + 1).split('&')
}

/** The name of a parameter, as query strings are read: a percent sign without two digits is literal. */
function nameOf(part: string): string {
  const name = part.split('=', 1)[0] ?? ''
  return parseQueryValue(name) ?? name
}
