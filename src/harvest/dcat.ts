import { memoised } from '../model/memoised.ts'
import { splitQuad } from '../publishing/graphs/rdf-quads.ts'
import { LineSet } from '../rdf/line-set.ts'
import { parseTriples } from '../rdf/ntriples-reader.ts'
import type { Term } from '../rdf/term.ts'
import { DCAT, DCTERMS, FOAF, HYDRA, RDF, RDFS, SKOS } from '../rdf/vocab.ts'
import {
  addressOf,
  type CatalogReader,
  fileAddressOf,
  harvestedLanguage,
  harvestedMoment,
  harvestedText,
  harvestedTexts,
  type OfferedDataset,
  Offers,
  present,
  type ReadCatalog,
  type SkippedDataset,
} from './catalog.ts'
import { bestDistribution } from './reader.ts'

const VCARD = 'http://www.w3.org/2006/vcard/ns#'

/** Properties of the next page; the second is that of older versions of Hydra. */
const NEXT_PAGE: readonly string[] = [HYDRA.next, 'http://www.w3.org/ns/hydra/core#nextPage']

/** Maximum number of pages and of triples of a catalog. */
const MAX_PAGES = 1000
const MAX_TRIPLES = 5_000_000

/** Reads a catalog in DCAT, in any RDF syntax; pages are followed by hydra:next. */
export async function readDcat(reader: CatalogReader, url: string): Promise<ReadCatalog> {
  const graph = new Description()
  const visited = new Set<string>()
  let next: string | null = url
  for (
    ;
    next !== null && !visited.has(next) && visited.size < MAX_PAGES;
    next = graph.nextPage(next, visited)
  ) {
    visited.add(next)
    for await (const lines of reader.quads(next)) graph.add(lines)
  }
  const subjects = graph.datasets()
  const offers = new Offers(reader)
  for (const [subject, id] of idsOf(graph, subjects))
    offers.add(id, known => offered(graph, subject, known, url))
  return offers.result(subjects.length, next === null || visited.has(next))
}

/** The triples of a catalog, by subject and predicate. */
class Description {
  private readonly subjects = new Map<string, Map<string, Term[]>>()
  private readonly lines = new LineSet()
  /** Addresses of further pages. */
  private readonly pages = new Set<string>()
  private triples = 0

  add(lines: string): void {
    const triples = lines
      .split('\n')
      .filter(line => line !== '')
      .map(line => splitQuad(line).triple)
      .filter(triple => this.lines.add(triple))
    for (const { subject, predicate, object } of parseTriples(`${triples.join('\n')}\n`)) {
      this.triples += 1
      if (NEXT_PAGE.includes(predicate.value)) this.pages.add(object.value)
      if (this.triples > MAX_TRIPLES) throw new RangeError(`the catalog has more than ${MAX_TRIPLES} triples`)
      const known = memoised(this.subjects, subject.value, () => new Map<string, Term[]>())
      memoised(known, predicate.value, () => []).push(object)
    }
  }

  of(subject: string, ...predicates: readonly string[]): readonly Term[] {
    const known = this.subjects.get(subject)
    return predicates.flatMap(predicate => known?.get(predicate) ?? [])
  }

  /** The text of a value in the preferred language: without a language tag, English, then any. */
  text(subject: string, ...predicates: readonly string[]): string | null {
    const terms = this.of(subject, ...predicates)
    const languageOf = (term: Term) => (term.type === 'literal' ? (term.language ?? '') : '')
    const best =
      terms.find(term => languageOf(term) === '') ??
      terms.find(term => /^en\b/i.test(languageOf(term))) ??
      terms[0]
    return harvestedText(best?.value)
  }

  /** The name of the resource that is the value of a property, or the literal itself. */
  name(subject: string, predicate: string): string | null {
    for (const { type, value } of this.of(subject, predicate)) {
      const named =
        type === 'literal'
          ? harvestedText(value)
          : this.text(value, FOAF.name, SKOS.prefLabel, DCTERMS.title, `${VCARD}fn`, RDFS.label)
      if (named !== null) return named
    }
    return null
  }

  /** The IRI or the literal that is the value of a property; blank nodes, which have made-up IRIs here, are left out. */
  value(subject: string, predicate: string): string | null {
    const named = this.of(subject, predicate).find(
      ({ type, value }) => type === 'literal' || !isMadeUp(value),
    )
    return harvestedText(named?.value)
  }

  datasets(): readonly string[] {
    return [...this.subjects.keys()].filter(subject =>
      this.of(subject, RDF.type).some(({ value }) => value === DCAT.Dataset),
    )
  }

  /** The address of the next page that has not been read. */
  nextPage(base: string, visited: ReadonlySet<string>): string | null {
    const links = Array.from(this.pages, page => addressOf(page, base))
    return links.find(link => link !== null && !visited.has(link)) ?? null
  }
}

/** True for the IRI of a blank node (RDF 1.1 Concepts, 3.5). */
function isMadeUp(iri: string): boolean {
  return iri.includes('/.well-known/genid/')
}

/**
 * The ids of datasets by their IRIs: dct:identifier, or the IRI if there is none, or if several datasets have the same. A blank
 * node has null instead of an IRI: its label changes from document to document.
 */
function idsOf(graph: Description, subjects: readonly string[]): ReadonlyMap<string, string | null> {
  const identifiers = subjects.map(subject => graph.text(subject, DCTERMS.identifier) ?? subject)
  const once = new Set<string>()
  const repeated = new Set<string>()
  for (const identifier of identifiers) (once.has(identifier) ? repeated : once).add(identifier)
  return new Map(
    subjects.map((subject, at) => {
      const identifier = identifiers[at] ?? subject
      const id = repeated.has(identifier) ? subject : identifier
      return [subject, id === subject && isMadeUp(subject) ? null : id]
    }),
  )
}

/** The files of a dataset, with all indications of their formats. */
function distributionsOf(graph: Description, subject: string) {
  return graph.of(subject, DCAT.distribution).map(({ value }) => {
    const [url] = graph.of(value, DCAT.downloadURL, DCAT.accessURL)
    const kinds = graph
      .of(value, DCAT.mediaType, 'http://purl.org/dc/terms/format')
      .flatMap(kind => [kind, ...graph.of(kind.value, SKOS.prefLabel, RDFS.label, RDF.value)])
      .map(({ value: kind }) => kind)
    return { node: value, url: url?.value, kinds }
  })
}

function offered(
  graph: Description,
  subject: string,
  id: string,
  base: string,
): OfferedDataset | SkippedDataset {
  const distributions = distributionsOf(graph, subject)
  const best = bestDistribution(distributions, base)
  if (best === null)
    return { dataset: id.slice(0, 200), reason: 'none of its distributions has a format that is read' }
  // In DCAT-AP the license is that of a distribution.
  const chosen = distributions.find(({ url }) => fileAddressOf(url, base) === best.url)?.node ?? subject
  const licensed = graph.of(subject, DCTERMS.license).length > 0 ? subject : chosen
  const literals = (predicate: string) =>
    harvestedTexts(graph.of(subject, predicate).map(({ type, value }) => (type === 'literal' ? value : null)))
  const modified = harvestedMoment(graph.text(subject, DCTERMS.modified))
  const themes = harvestedTexts(
    graph
      .of(subject, DCAT.theme)
      .map(({ type, value }) =>
        type === 'literal'
          ? value
          : (graph.text(value, SKOS.prefLabel, RDFS.label) ??
            (isMadeUp(value) ? null : value.slice(value.search(/[^/#]*$/)))),
      ),
  )
  const [contact] = graph.of(subject, DCAT.contactPoint)
  const [email] = contact === undefined ? [] : graph.of(contact.value, `${VCARD}hasEmail`)
  const page =
    addressOf(graph.text(subject, DCAT.landingPage)) ?? (isMadeUp(subject) ? null : addressOf(subject))
  return {
    id,
    ...best,
    metas: {
      default: present({
        title: graph.text(subject, DCTERMS.title) ?? id,
        description: graph.text(subject, DCTERMS.description),
        keyword: literals(DCAT.keyword),
        theme: themes,
        license: graph.name(licensed, DCTERMS.license) ?? graph.value(licensed, DCTERMS.license),
        publisher: graph.name(subject, DCTERMS.publisher),
        language: harvestedLanguage(graph.value(subject, DCTERMS.language)),
        references: addressOf(graph.text(subject, DCAT.landingPage)),
        modified,
      }),
      dcat: present({
        issued: harvestedMoment(graph.text(subject, DCTERMS.issued)),
        contact_name: contact === undefined ? null : graph.text(contact.value, `${VCARD}fn`),
        contact_email: harvestedText(email?.value)?.replace(/^mailto:/, '') ?? null,
      }),
    },
    modified,
    page,
  }
}
