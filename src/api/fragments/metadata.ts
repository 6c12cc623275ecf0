import { iriText, literalText } from '../../rdf/ntriples.ts'
import { DCTERMS, FOAF, HYDRA, RDF, SD, VOID, XSD } from '../../rdf/vocab.ts'
import { fragmentsTemplate, numberedPage } from './address.ts'

/** A place of a pattern, called like its parameter, and what it stands for (TPF specification, "Controls"). */
export type FragmentPlace = 'subject' | 'predicate' | 'object' | 'graph'

const PROPERTIES: Readonly<Record<FragmentPlace, string>> = {
  subject: RDF.subject,
  predicate: RDF.predicate,
  object: RDF.object,
  graph: SD.graph,
}

/** The places of a triple, and of a quad. */
export const TRIPLE_PLACES = ['subject', 'predicate', 'object'] as const
export const QUAD_PLACES = [...TRIPLE_PLACES, 'graph'] as const

/** What clients of quads call the default graph: the name that the LDF server gives it. */
export const DEFAULT_GRAPH = 'urn:ldf:defaultGraph'

/** One page of a fragment, as its metadata describe it. */
export interface PageDescription {
  readonly base: string
  readonly dataset: { readonly title: string; readonly description: string | null }
  /** Address of the fragments of the dataset. */
  readonly address: string
  /** What a pattern is made of: three places for triples, four for quads. */
  readonly places: readonly FragmentPlace[]
  readonly pageIri: string
  readonly fragmentIri: string
  readonly page: number
  readonly pageSize: number
  /** Parameters that the search form keeps, as they stand in the address. */
  readonly foreign: readonly string[]
  /** True for the fragment of all triples, which clients begin with. */
  readonly isStart: boolean
  /** Triples of the whole fragment. */
  readonly count: number
}

/**
 * Up to so many pages a fragment does not say how long its pages are. Where that is reported, Comunica 5 takes a request for
 * the cost of one triple of a page, and asks hundreds of times for single bindings rather than once for one short
 * fragment. The fragment that clients begin with never says it: what it says holds for all that come after it.
 */
const FEW_PAGES = 8

/**
 * The triples that say what a page is and how to go on, as N-Triples lines (TPF specification, "Controls"; Hydra
 * core). Their order matters to clients: the fragment is the last thing whose subset the page is, and the number of
 * triples comes before any other.
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
  // Clients take it for theirs where they know already that the page is a subset of the dataset.
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
