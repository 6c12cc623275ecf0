import { readableName } from '../../model/readable-name.ts'
import { fieldIri } from '../../rdf/minted-iris.ts'
import { iriText, literalText } from '../../rdf/ntriples.ts'
import { parseTriples } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { RDF, RDFS } from '../../rdf/vocab.ts'
import {
  type LinkSource,
  NAMING,
  namingField,
  preferredName,
  type ResourceDataset,
  type VisibleContext,
} from './dataset.ts'
import {
  datasetTriples,
  documentTriples,
  foreignPropertyTriples,
  type InversePaging,
  ontologyTriples,
  pagingTriples,
  propertyTriples,
} from './describe.ts'
import {
  exampleResources,
  type LabelNames,
  MAX_TRIPLES,
  namesIn,
  namesOf,
  nestedTriples,
  tripleLinesOf,
  triplesAbout,
} from './gather.ts'
import {
  isRequested,
  type LinkGroup,
  type Links,
  linkGroups,
  linkOriginsOf,
  linkPage,
  linkSamples,
  linksetTriples,
} from './links.ts'

/** The thing that a document is about. */
export interface Thing {
  readonly type: 'resource' | 'property' | 'ontology' | 'dataset'
  readonly dataset: ResourceDataset
  readonly iri: string
}

/** The part of a thing's description that is requested. */
export interface DocumentRequest {
  /** A page of the links to it, 1, 2, 3 …; null for its whole description, with the first page. */
  readonly inverse: number | null
  /** The only predicate of these links. */
  readonly predicate: string | null
  /** The only dataset of these links. */
  readonly from: string | null
  /** True for an HTML page: with some links of each kind, and the names of predicates. */
  readonly isPage: boolean
  readonly language: string
}

/** Everything that a document in any form is written from; all triples are N-Triples. */
export interface Gathered {
  readonly thing: Thing
  readonly title: string
  /** Triples with the thing as subject; empty on a page of links. */
  readonly own: string
  /** Triples of its nested nodes, and of what belongs to it. */
  readonly nested: string
  /** Triples with the thing as object, by the dataset that has them and by their predicate. */
  readonly links: readonly Links[]
  readonly groups: readonly LinkGroup[]
  readonly paging: InversePaging
  readonly names: LabelNames
  readonly examples: readonly string[]
  /** Triples of the geometries that it has as resources of their own; only for a page. */
  readonly places: string
  /** True if some triples are left out because they exceed the limit. */
  readonly isCut: boolean
}

/** Maximum links to a thing on one page, and of one kind on an HTML page that shows all kinds. */
const INVERSE_SIZE = 100
const SAMPLE = 10
const MAX_GROUPS = 20

/** Queries the store for the content of a document. */
export async function gatherDocument(
  options: VisibleContext,
  thing: Thing,
  request: DocumentRequest,
  document: string,
): Promise<Gathered> {
  const { base, store } = options
  const { dataset, iri } = thing
  const stored = await triplesAbout(store, dataset.graph, [iri])
  const [reported, rest] = divided(described(base, thing) + stored, iri)
  const first = inOrder(reported, dataset, base)
  const nested = rest + (await nestedTriples(options, dataset.graph, iri, stored)) + parts(base, thing)
  const hasLinks = thing.type === 'resource' || thing.type === 'dataset'
  const groups = hasLinks ? await linkGroups(store, linkSources(options, dataset), iri) : []
  const paging = pagingOf(groups, request, document)
  const links = await linksTo(options, thing, groups, request)
  const inverse = links.map(({ triples }) => triples).join('')
  const examples = thing.type === 'dataset' ? await exampleResources(options, dataset) : []
  const isLinks = request.inverse !== null
  const places =
    request.isPage && !isLinks ? await triplesAbout(store, dataset.graph, geometriesOf(first)) : ''
  const names = await namesOf(
    options,
    dataset,
    mentioned(isLinks ? inverse : first + nested + inverse, request, examples),
    linkOriginsOf(links.filter(({ group }) => group.source.id !== dataset.id)),
  )
  return {
    thing,
    title: titleOf(first, thing, base, request.language),
    own: isLinks ? '' : first,
    nested: isLinks ? '' : nested,
    links,
    groups,
    paging,
    names,
    examples,
    places,
    isCut: tripleLinesOf(stored).length >= MAX_TRIPLES,
  }
}

/** All triples of a document, each once: of the thing, of related resources, and of the document itself. */
export function documentText(base: string, gathered: Gathered, document: string): string {
  const { thing, own, nested, links, groups, names, paging, examples, isCut } = gathered
  const subjects = new Set(own === '' ? [] : [thing.iri])
  for (const { subject } of parseTriples(nested)) subjects.add(subject.value)
  const labels = [...names].flatMap(([iri, reported]) =>
    subjects.has(iri)
      ? []
      : reported.map(
          ({ value, datatype, language }) =>
            `${iriText(iri)} <${RDFS.label}> ${literalText(value, datatype, language)} .\n`,
        ),
  )
  const more = `${base}/api/tpf/${encodeURIComponent(thing.dataset.id)}?subject=${encodeURIComponent(thing.iri)}`
  const text = [
    own,
    ...examples.map(
      iri => `${iriText(thing.iri)} <http://rdfs.org/ns/void#exampleResource> ${iriText(iri)} .\n`,
    ),
    nested,
    ...links.map(({ triples }) => triples),
    ...labels,
    documentTriples(base, document, thing.iri, thing.dataset),
    isCut ? `${iriText(document)} <${RDFS.seeAlso}> ${iriText(more)} .\n` : '',
    pagingTriples(document, paging),
    linksetTriples(base, thing.dataset.id, groups, document),
  ].join('')
  return [...new Set(tripleLinesOf(text))].join('')
}

/** The triples that Lodestone itself generates about a thing, and about what belongs to it. */
function described(base: string, { type, dataset, iri }: Thing): string {
  switch (type) {
    case 'resource':
      return ''
    case 'dataset':
      return datasetTriples(base, dataset)
    case 'ontology':
      return ontologyTriples(base, dataset)
    case 'property': {
      const field = dataset.fields.find(({ name }) => fieldIri(base, dataset.id, name) === iri)
      return field === undefined
        ? foreignPropertyTriples(base, dataset.id, iri)
        : propertyTriples(base, dataset.id, field)
    }
  }
}

function parts(base: string, { type, dataset }: Thing): string {
  return type === 'ontology'
    ? dataset.fields.map(field => propertyTriples(base, dataset.id, field)).join('')
    : ''
}

/** The resources that are geometries of a thing (OGC GeoSPARQL 1.1, section 6.4.2). */
function geometriesOf(triples: string): readonly string[] {
  return [...parseTriples(triples)]
    .flatMap(({ predicate, object }) =>
      object.type === 'iri' && HAS_GEOMETRY.test(predicate.value) ? [object.value] : [],
    )
    .slice(0, MAX_GEOMETRIES)
}

const HAS_GEOMETRY =
  /^http:\/\/www\.opengis\.net\/ont\/geosparql#(?:hasGeometry|hasDefaultGeometry|defaultGeometry)$/
const MAX_GEOMETRIES = 20

/** Triples of which the thing is the subject, and the others. */
function divided(text: string, iri: string): readonly [string, string] {
  const start = `${iriText(iri)} `
  const lines = tripleLinesOf(text)
  return [
    lines.filter(line => line.startsWith(start)).join(''),
    lines.filter(line => !line.startsWith(start)).join(''),
  ]
}

/** The datasets that may link to things of a dataset: itself, then the others that the caller may see. */
function linkSources({ linkSources: visible }: VisibleContext, own: ResourceDataset): readonly LinkSource[] {
  return [own, ...visible().filter(({ id }) => id !== own.id)]
}

function pagingOf(groups: readonly LinkGroup[], request: DocumentRequest, document: string): InversePaging {
  const { inverse, predicate, from } = request
  const more = [
    predicate === null ? '' : `&predicate=${encodeURIComponent(predicate)}`,
    from === null ? '' : `&from=${encodeURIComponent(from)}`,
  ].join('')
  return {
    total: groups.filter(group => isRequested(group, request)).reduce((sum, { count }) => sum + count, 0),
    size: INVERSE_SIZE,
    page: inverse ?? 1,
    addressOf: page => `${document}?inverse=${page}${more}`,
  }
}

async function linksTo(
  { store }: VisibleContext,
  { iri }: Thing,
  groups: readonly LinkGroup[],
  request: DocumentRequest,
): Promise<readonly Links[]> {
  const { inverse, isPage } = request
  if (inverse === null && isPage) return linkSamples(store, groups.slice(0, MAX_GROUPS), iri, SAMPLE)
  const requested = groups.filter(group => isRequested(group, request))
  return linkPage(store, requested, iri, { offset: ((inverse ?? 1) - 1) * INVERSE_SIZE, limit: INVERSE_SIZE })
}

/** The IRIs that a document mentions and that may have a name. */
function mentioned(
  text: string,
  { isPage }: DocumentRequest,
  examples: readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>(examples)
  const add = (term: Term) => {
    if (term.type === 'iri') found.add(term.value)
  }
  for (const { subject, predicate, object } of parseTriples(text)) {
    add(subject)
    add(object)
    if (isPage) add(predicate)
  }
  return found
}

/** Types first, then names, then the fields in their order, then the rest in its original order. */
function inOrder(triples: string, dataset: ResourceDataset, base: string): string {
  const order = new Map(
    [RDF.type, ...NAMING, ...dataset.fields.map(({ name }) => fieldIri(base, dataset.id, name))].map(
      (iri, index) => [`<${iri}>`, index],
    ),
  )
  const rank = (line: string) => order.get(line.split(' ', 2)[1] ?? '') ?? order.size
  const places = new Map<string, number>()
  const ranked = tripleLinesOf(triples).map(line => {
    const predicate = line.split(' ', 2)[1] ?? ''
    const place = places.get(predicate) ?? places.size
    places.set(predicate, place)
    return { line, rank: rank(line), place }
  })
  return ranked
    .sort((a, b) => a.rank - b.rank || a.place - b.place)
    .map(({ line }) => line)
    .join('')
}

/** The name of a thing, else the end of its IRI. */
function titleOf(own: string, { type, dataset, iri }: Thing, base: string, language: string): string {
  if (type === 'dataset' || type === 'ontology') return dataset.title
  const field = namingField(dataset.fields)
  const naming = field === undefined ? [] : [fieldIri(base, dataset.id, field.name)]
  const names = namesIn(parseTriples(own), [...NAMING, ...naming]).get(iri)
  return preferredName(names ?? [], language) ?? lastSegment(iri)
}

/** The end of an IRI, readable. */
export function lastSegment(iri: string): string {
  return readableName(iri.replace(/[/#]+$/, '').replace(/^.*[/#]/, ''))
}
