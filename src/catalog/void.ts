import { titleOf } from '../model/metadata.ts'
import { isIri } from '../rdf/iri-syntax.ts'
import { isLanguageTag } from '../rdf/literals.ts'
import { datasetIri } from '../rdf/minted-iris.ts'
import { iriText, literalText } from '../rdf/ntriples.ts'
import { type StatementOf, tripleWriterOf } from '../rdf/statements.ts'
import { type CatalogEntry, momentMeta } from './catalog-dataset.ts'
import { type ExampleQuery, queryPrefixes } from './example-queries.ts'
import type { GraphStatistics } from './graph-statistics.ts'
import { plannerDescription } from './planner-statistics.ts'

/** The vocabularies of a description, by prefix. */
export const VOID_PREFIXES = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  void: 'http://rdfs.org/ns/void#',
  dcat: 'http://www.w3.org/ns/dcat#',
  dcterms: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  owl: 'http://www.w3.org/2002/07/owl#',
  sh: 'http://www.w3.org/ns/shacl#',
  'void-ext': 'http://ldf.fi/void-ext#',
  schema: 'https://schema.org/',
} as const

type Statement = StatementOf<typeof VOID_PREFIXES>
const { name, t } = tripleWriterOf(VOID_PREFIXES)

const EXAMPLES = 3
const LANGUAGES = 'http://id.loc.gov/vocabulary/iso639-1/'

/** RDF dumps of a dataset, by the names of its exports, and the names of their formats at the W3C. */
const DUMPS = [
  ['turtle', 'Turtle'],
  ['n3', 'N-Triples'],
  ['rdfxml', 'RDF_XML'],
  ['jsonld', 'JSON-LD'],
] as const

/** The input for the description of a dataset. */
export interface Described extends CatalogEntry {
  readonly triples: number
  /** The prefixes of its serialised triples. */
  readonly prefixes?: Readonly<Record<string, string>>
}

/** What is described of a dataset in addition to its metadata. */
export interface DescriptionParts {
  readonly base: string
  /** Statistics of its graph; null if they are unknown. */
  readonly statistics?: GraphStatistics | null
  readonly queries?: readonly ExampleQuery[]
}

/** Address of the page of a dataset on the site. */
export function pageAddress(base: string, dataset: string): string {
  return `${base}/explore/dataset/${encodeURIComponent(dataset)}/`
}

/** Address of the document that describes a dataset. */
export function descriptionAddress(base: string, dataset: string): string {
  return `${base}/api/void/${encodeURIComponent(dataset)}`
}

/** Address of the document that describes all datasets of a portal (VoID, section 7.2). */
export function portalDescriptionAddress(base: string): string {
  return `${base}/.well-known/void`
}

/** The SPARQL endpoint of a portal: for one dataset, or for all public ones. */
export function sparqlAddress(base: string, dataset?: string): string {
  return `${base}/api/sparql${dataset === undefined ? '' : `/${encodeURIComponent(dataset)}`}`
}

/** Address of the SHACL shapes of a dataset. */
export function shapesAddress(base: string, dataset: string): string {
  return `${base}/api/shapes/${encodeURIComponent(dataset)}`
}

/** The triple pattern fragments of a dataset. */
export function datasetFragmentsAddress(base: string, dataset: string): string {
  return `${base}/api/tpf/${encodeURIComponent(dataset)}`
}

/** The document that describes one dataset, as N-Triples. */
export function voidDocument(entry: Described, parts: DescriptionParts): string {
  const { base } = parts
  const { id } = entry.dataset
  const about = [
    t(iriText(descriptionAddress(base, id)), [
      ['rdf:type', name('void:DatasetDescription')],
      ['dcterms:title', literalText(`Description of ${titleOf(entry.dataset)}`)],
      ['foaf:primaryTopic', iriText(datasetIri(base, id))],
      ['dcterms:modified', moment(entry.published)],
      ['rdfs:seeAlso', iriText(portalDescriptionAddress(base))],
    ]),
    t(portalNode(base), [['void:subset', iriText(datasetIri(base, id))]]),
  ]
  return about.join('') + datasetDescription(entry, parts)
}

/** The document that describes a portal: first the portal itself, then each dataset. */
export function portalDocument(
  base: string,
  title: string,
  entries: readonly { readonly entry: Described; readonly statistics: GraphStatistics | null }[],
): string {
  const document = iriText(portalDescriptionAddress(base))
  const datasets = entries.map(({ entry }) => iriText(datasetIri(base, entry.dataset.id)))
  const [latest] = entries
    .map(({ entry }) => entry.published)
    .sort()
    .reverse()
  return (
    t(document, [
      ['rdf:type', name('void:DatasetDescription')],
      ['dcterms:title', literalText(`Description of ${title}`)],
      ['foaf:primaryTopic', portalNode(base)],
      ...datasets.map((node): Statement => ['foaf:topic', node]),
      ['dcterms:modified', latest === undefined ? null : moment(latest)],
    ]) +
    t(portalNode(base), [
      ['rdf:type', name('void:Dataset')],
      ['dcterms:title', literalText(title)],
      ['foaf:homepage', iriText(`${base}/`)],
      ['dcterms:modified', latest === undefined ? null : moment(latest)],
      ['void:sparqlEndpoint', iriText(sparqlAddress(base))],
      ['void:uriSpace', literalText(`${base}/ld/resources/`)],
      ['rdfs:seeAlso', iriText(`${base}/api/v2/catalog/exports/ttl`)],
      ['void:triples', number(entries.reduce((sum, { entry }) => sum + entry.triples, 0))],
      ...datasets.map((node): Statement => ['void:subset', node]),
    ])
  )
}

/**
 * The description of a dataset, as N-Triples (W3C Interest Group Note VoID): its content, its endpoints and dumps, its statistics
 * and its example queries. Its subject is the dataset's IRI, which the named graph of the SPARQL endpoints and the catalog in
 * DCAT share.
 */
export function datasetDescription(entry: Described, parts: DescriptionParts): string {
  const { base, statistics: graphStatistics = null, queries = [] } = parts
  const { dataset, published } = entry
  const { id } = dataset
  const node = iriText(datasetIri(base, id))
  const document = descriptionAddress(base, id)
  const known = dataset.metas.default ?? {}
  const language = languageOf(entry)
  const tongue = /^[a-z]{2}(?=-|$)/i.exec(language)?.[0].toLowerCase()
  const text = (value: string) => literalText(value, undefined, language)
  // An RDF file has neither fields nor a mapping to generate shapes from.
  const shapes = entry.semantic === undefined ? null : iriText(shapesAddress(base, id))
  const license = [known.license_url, known.license].map(String).find(isIri)
  const publisher = typeof known.publisher === 'string' ? iriText(`${document}#publisher`) : null
  const exports = `${base}/api/v2/catalog/datasets/${encodeURIComponent(id)}/exports`
  return [
    t(node, [
      ['rdf:type', name('void:Dataset')],
      ['rdf:type', name('dcat:Dataset')],
      ['dcterms:identifier', literalText(id)],
      ['dcterms:title', text(titleOf(dataset))],
      ['dcterms:description', textOf(known.description, text)],
      ...listOf(known.keyword).map((keyword): Statement => ['dcat:keyword', text(keyword)]),
      ['dcterms:publisher', publisher],
      ['dcterms:license', license === undefined ? null : iriText(license)],
      ['dcterms:rights', textOf(known.license, text)],
      ['dcterms:language', tongue === undefined ? null : iriText(LANGUAGES + tongue)],
      ...listOf(known.references)
        .filter(isIri)
        .map((url): Statement => ['dcterms:source', iriText(url)]),
      ['dcterms:modified', moment(published)],
      ['dcat:landingPage', iriText(pageAddress(base, id))],
      ['dcterms:isReferencedBy', iriText(document)],
      ['rdfs:seeAlso', iriText(`${document}/queries`)],
      ['dcterms:conformsTo', shapes],
      ['sh:shapesGraph', shapes],
      ['void:sparqlEndpoint', iriText(sparqlAddress(base, id))],
      // The IRI to look up is appended to it, encoded (VoID, section 3.4).
      ['void:uriLookupEndpoint', iriText(`${datasetFragmentsAddress(base, id)}?subject=`)],
      ['void:uriSpace', literalText(`${datasetIri(base, id)}/`)],
      ...DUMPS.map(([format]): Statement => ['void:dataDump', iriText(`${exports}/${format}`)]),
      ...DUMPS.map(
        ([, format]): Statement => ['void:feature', iriText(`http://www.w3.org/ns/formats/${format}`)],
      ),
    ]),
    graphStatistics === null
      ? t(node, [['void:triples', number(entry.triples)]])
      : counts(node, graphStatistics, document, examplesOf(graphStatistics, base, id)),
    publisher === null
      ? ''
      : t(publisher, [
          ['rdf:type', name('foaf:Agent')],
          ['foaf:name', text(String(known.publisher))],
        ]),
    ...queries.map(query => example(query, entry, base)),
    queries.length === 0 ? '' : prefixes(base, entry),
  ].join('')
}

/** The statistics of a graph (VoID, section 4). */
function counts(
  node: string,
  graphStatistics: GraphStatistics,
  document: string,
  examples: readonly string[],
): string {
  const { properties, classes } = graphStatistics
  const part = (kind: string, at: number) => iriText(`${document}#${kind}-${at + 1}`)
  return [
    t(node, [
      ['void:triples', number(graphStatistics.triples)],
      ['void:entities', number(graphStatistics.subjects)],
      ['void:classes', number(graphStatistics.types)],
      ['void:properties', number(graphStatistics.predicates)],
      ['void:distinctSubjects', number(graphStatistics.subjects)],
      ['void:distinctObjects', number(graphStatistics.objects)],
      ...vocabularies(graphStatistics).map((space): Statement => ['void:vocabulary', iriText(space)]),
      ...examples.map((iri): Statement => ['void:exampleResource', iriText(iri)]),
      ...properties.map((_, at): Statement => ['void:propertyPartition', part('property', at)]),
      ...classes.map((_, at): Statement => ['void:classPartition', part('class', at)]),
    ]),
    ...properties.map(({ iri, triples, subjects, objects }, at) =>
      t(part('property', at), [
        ['void:property', iriText(iri)],
        ['void:triples', number(triples)],
        ['void:distinctSubjects', number(subjects)],
        ['void:distinctObjects', number(objects)],
      ]),
    ),
    ...classes.map(({ iri, entities }, at) =>
      t(part('class', at), [
        ['void:class', iriText(iri)],
        ['void:entities', number(entities)],
      ]),
    ),
    plannerDescription(node, document, graphStatistics),
  ].join('')
}

/** Some resources that can be looked up here: preferably those of the dataset itself, and no nested nodes. */
function examplesOf({ examples }: GraphStatistics, base: string, dataset: string): readonly string[] {
  const own = examples.filter(iri => iri.startsWith(`${datasetIri(base, dataset)}/`))
  const named = examples.filter(iri => !iri.startsWith(`${base}/.well-known/genid/`))
  return (own.length > 0 ? own : named).slice(0, EXAMPLES)
}

/**
 * The namespaces of all properties and classes. Clients assume that terms of other namespaces do not occur, so nothing is listed
 * if some are not known.
 */
function vocabularies({ properties, classes, predicates, types }: GraphStatistics): readonly string[] {
  if (properties.length < predicates || classes.length < types) return []
  const spaces = [...properties, ...classes].map(({ iri }) => iri.replace(/[^#/:]*$/, ''))
  return [...new Set(spaces)].filter(isIri).sort()
}

/** An example query, in the model of the SIB SPARQL examples (SHACL, section 5.1). */
function example(query: ExampleQuery, entry: Described, base: string): string {
  const { id } = entry.dataset
  const document = descriptionAddress(base, id)
  const type = `${query.form[0]?.toUpperCase()}${query.form.slice(1)}`
  const isFederated = query.federatesWith.length > 0
  return t(iriText(`${document}/queries/${encodeURIComponent(query.name)}`), [
    ['rdf:type', name('sh:SPARQLExecutable')],
    ['rdf:type', name(`sh:SPARQL${type}Executable`)],
    ['rdfs:label', literalText(query.title, undefined, languageOf(entry))],
    ['rdfs:comment', literalText(query.description ?? query.title, undefined, languageOf(entry))],
    ['sh:prefixes', iriText(`${document}#prefixes`)],
    [`sh:${query.form}`, literalText(query.query)],
    ['schema:target', iriText(sparqlAddress(base, isFederated ? undefined : id))],
    ['dcterms:subject', iriText(datasetIri(base, id))],
    ...query.federatesWith.map((other): Statement => ['dcterms:subject', iriText(datasetIri(base, other))]),
  ])
}

function prefixes(base: string, { dataset: { id }, prefixes: known }: Described): string {
  const node = `${descriptionAddress(base, id)}#prefixes`
  const declared = Object.entries(queryPrefixes(base, id, known))
  return (
    t(iriText(node), [
      ['rdf:type', name('owl:Ontology')],
      ...declared.map(([prefix]): Statement => ['sh:declare', iriText(`${node}-${prefix}`)]),
    ]) +
    declared
      .map(([prefix, namespace]) =>
        t(iriText(`${node}-${prefix}`), [
          ['sh:prefix', literalText(prefix)],
          ['sh:namespace', literalText(namespace, `${VOID_PREFIXES.xsd}anyURI`)],
        ]),
      )
      .join('')
  )
}

function portalNode(base: string): string {
  return iriText(`${portalDescriptionAddress(base)}#portal`)
}

/** Language tag of the texts; empty if unknown. */
export function languageOf({ dataset }: Pick<CatalogEntry, 'dataset'>): string {
  const language = dataset.metas.default?.language
  return typeof language === 'string' && isLanguageTag(language) ? language : ''
}

function textOf(value: unknown, text: (value: string) => string): string | null {
  return typeof value === 'string' ? text(value) : null
}

function listOf(value: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.filter(each => typeof each === 'string')
}

function number(value: number): string {
  return literalText(String(value), `${VOID_PREFIXES.xsd}integer`)
}

function moment(text: string): string {
  return literalText(String(momentMeta(text)), `${VOID_PREFIXES.xsd}dateTime`)
}
