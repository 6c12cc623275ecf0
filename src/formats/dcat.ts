import { iriText, literalText } from '../rdf/ntriples.ts'
import { type NameOf, type StatementOf, tripleWriterOf } from '../rdf/statements.ts'
import type {
  CatalogDescription,
  DataServiceDescription,
  DatasetDescription,
  DistributionDescription,
  Named,
} from './catalog-description.ts'
import type { Prefixes } from './turtle.ts'

/** The vocabularies of a catalog in DCAT-AP, by prefix. */
export const DCAT_PREFIXES = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  dcat: 'http://www.w3.org/ns/dcat#',
  dcterms: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  vcard: 'http://www.w3.org/2006/vcard/ns#',
} as const satisfies Prefixes

const LANGUAGES = 'http://id.loc.gov/vocabulary/iso639-1/'
const MEDIA_TYPES = 'https://www.iana.org/assignments/media-types/'

type Name = NameOf<typeof DCAT_PREFIXES>
type Statement = StatementOf<typeof DCAT_PREFIXES>
const { name, t } = tripleWriterOf(DCAT_PREFIXES)

/**
 * A catalog as N-Triples according to DCAT-AP 3.0, the application profile of the European data portals: the catalog, then each
 * dataset with its distributions and the resources they refer to, in pieces.
 */
export async function* dcatTriples(catalog: CatalogDescription): AsyncGenerator<string> {
  const graph = new DcatGraph()
  yield graph.catalog(catalog)
  for (const dataset of catalog.datasets) yield graph.dataset(dataset)
}

/** Tracks described resources, so that a theme of many datasets is described once, and numbers blank nodes. */
class DcatGraph {
  private readonly described = new Set<string>()
  private blanks = 0

  catalog({ iri, homepage, title, description, publisher, modified, datasets }: CatalogDescription): string {
    const agent = this.agent(publisher)
    const home = this.resource('foaf:Document', iriText(homepage), [])
    return [
      t(iriText(iri), [
        ['rdf:type', name('dcat:Catalog')],
        ['dcterms:title', literalText(title)],
        ['dcterms:description', literalText(description)],
        ['dcterms:publisher', agent.node],
        ['dcterms:modified', moment(modified)],
        ['foaf:homepage', home.node],
        ...datasets.map(({ iri }): Statement => ['dcat:dataset', iriText(iri)]),
        ...datasets
          .flatMap(({ services }) => services)
          .map(({ url }): Statement => ['dcat:service', serviceNode(url)]),
      ]),
      agent.text,
      home.text,
    ].join('')
  }

  dataset(dataset: DatasetDescription): string {
    const text = (value: string) => literalText(value, undefined, dataset.language ?? '')
    const shared = this.shared(dataset)
    const publisher = dataset.publisher === null ? null : this.agent(dataset.publisher)
    const creators = dataset.creators.map(agent => this.agent(agent))
    const contributors = dataset.contributors.map(agent => this.agent(agent))
    const themes = dataset.themes.map(theme => this.named(theme, 'skos:Concept', 'skos:prefLabel', text))
    const places = dataset.places.map(place => this.named(place, 'dcterms:Location', 'rdfs:label', text))
    const standards = dataset.standards.map(each => this.named(each, 'dcterms:Standard', 'rdfs:label', text))
    const frequency = this.optional(dataset.periodicity, 'dcterms:Frequency')
    const rights = this.optional(dataset.accessRights, 'dcterms:RightsStatement')
    const contact = this.contact(dataset)
    const period = this.period(dataset)
    const page = this.resource('foaf:Document', iriText(dataset.page), [])
    const references = dataset.references.map(url => this.resource('foaf:Document', iriText(url), []))
    const files = dataset.distributions.map(file => this.distribution(file, dataset, shared.statements))
    const services = dataset.services.map(service => this.service(service, dataset, shared.statements))
    const described = dataset.described === null ? null : iriText(dataset.described)
    const nodes = (predicate: Name, all: readonly (Described | null)[]) =>
      all.map((described): Statement => [predicate, described?.node ?? null])
    return [
      t(iriText(dataset.iri), [
        ['rdf:type', name('dcat:Dataset')],
        ['dcterms:identifier', literalText(dataset.iri)],
        ['dcterms:title', text(dataset.title)],
        ['dcterms:description', text(dataset.description)],
        ...dataset.keywords.map((keyword): Statement => ['dcat:keyword', text(keyword)]),
        ...nodes('dcat:theme', themes),
        ...nodes('dcterms:subject', themes),
        ...nodes('dcterms:publisher', [publisher]),
        ...nodes('dcterms:creator', creators),
        ...nodes('dcterms:contributor', contributors),
        ...nodes('dcat:contactPoint', [contact]),
        ...shared.statements,
        ...nodes('dcterms:accessRights', [rights]),
        ...nodes('dcterms:accrualPeriodicity', [frequency]),
        ...nodes('dcterms:spatial', places),
        ...nodes('dcterms:temporal', [period]),
        ...nodes('dcterms:conformsTo', standards),
        ...nodes('dcat:landingPage', [page]),
        ...nodes('foaf:page', references),
        ...nodes('dcat:distribution', files),
        ...dataset.services.map(({ url }): Statement => ['dcat:distribution', accessNode(url)]),
        ['dcterms:isReferencedBy', described],
        ['rdfs:seeAlso', described],
      ]),
      ...[publisher, ...creators, ...contributors, ...themes, contact, frequency, rights, ...places].map(
        reported,
      ),
      ...[period, ...standards, page, ...references].map(reported),
      shared.text,
      ...files.map(reported),
      ...services,
    ].join('')
  }

  /** The common properties of a dataset and its distributions: license, language and dates. */
  private shared({ license, language, issued, modified }: DatasetDescription) {
    const terms = this.optional(license, 'dcterms:LicenseDocument')
    const known = /^[a-z]{2}(?=-|$)/i.exec(language ?? '')?.[0].toLowerCase()
    const tongue =
      known === undefined ? null : this.resource('dcterms:LinguisticSystem', iriText(LANGUAGES + known), [])
    const statements: readonly Statement[] = [
      ['dcterms:license', terms?.node ?? null],
      ['dcterms:language', tongue?.node ?? null],
      ['dcterms:issued', moment(issued)],
      ['dcterms:modified', moment(modified)],
    ]
    return { statements, text: reported(terms) + reported(tongue) }
  }

  private distribution(
    file: DistributionDescription,
    { language }: DatasetDescription,
    shared: readonly Statement[],
  ): Described {
    const media = iriText(MEDIA_TYPES + file.mediaType)
    const type = this.resource('dcterms:MediaTypeOrExtent', media, [['rdf:type', name('dcterms:MediaType')]])
    const node = iriText(file.url)
    const text = t(node, [
      ['rdf:type', name('dcat:Distribution')],
      ['dcterms:title', literalText(file.title, undefined, language ?? '')],
      ['dcterms:description', literalText(file.description, undefined, language ?? '')],
      ['dcat:accessURL', node],
      ['dcat:downloadURL', node],
      ['dcterms:format', type.node],
      ['dcat:mediaType', type.node],
      ...shared,
    ])
    return { node, text: text + type.text }
  }

  /** A service, and the distribution through which it provides a dataset (DCAT-AP 3.0, "Data Service"). */
  private service(
    { url, title, description, protocol }: DataServiceDescription,
    { iri, language, license, described }: DatasetDescription,
    shared: readonly Statement[],
  ): string {
    const text = (value: string) => literalText(value, undefined, language ?? '')
    const standard = this.named(protocol, 'dcterms:Standard', 'rdfs:label')
    const terms = this.optional(license, 'dcterms:LicenseDocument')
    return [
      t(serviceNode(url), [
        ['rdf:type', name('dcat:DataService')],
        ['dcterms:title', text(title)],
        ['dcterms:description', text(description)],
        ['dcat:endpointURL', iriText(url)],
        ['dcat:endpointDescription', described === null ? null : iriText(described)],
        ['dcat:servesDataset', iriText(iri)],
        ['dcterms:conformsTo', standard.node],
        ['dcterms:license', terms?.node ?? null],
      ]),
      t(accessNode(url), [
        ['rdf:type', name('dcat:Distribution')],
        ['dcterms:title', text(title)],
        ['dcterms:description', text(description)],
        ['dcat:accessURL', iriText(url)],
        ['dcat:accessService', serviceNode(url)],
        ...shared,
      ]),
      standard.text,
      reported(terms),
    ].join('')
  }

  private contact({ contact }: DatasetDescription): Described | null {
    if (contact === null) return null
    return this.resource('vcard:Kind', this.blank(), [
      ['vcard:fn', literalText(contact.name)],
      ['vcard:hasEmail', contact.email === null ? null : iriText(`mailto:${contact.email}`)],
    ])
  }

  private period({ temporal }: DatasetDescription): Described | null {
    if (temporal === null) return null
    return this.resource('dcterms:PeriodOfTime', this.blank(), [
      ['dcat:startDate', moment(temporal.start)],
      ['dcat:endDate', moment(temporal.end)],
    ])
  }

  private agent(agent: Named): Described {
    return this.named(agent, 'foaf:Agent', 'foaf:name')
  }

  private optional(given: Named | null, type: Name): Described | null {
    return given === null ? null : this.named(given, type, 'rdfs:label')
  }

  private named(
    given: Named,
    type: Name,
    label: Name,
    text: (value: string) => string = literalText,
  ): Described {
    const node = given.iri === null ? this.blank() : iriText(given.iri)
    const isName = given.name !== given.iri || type === 'foaf:Agent' || type === 'skos:Concept'
    return this.resource(type, node, [[label, isName ? text(given.name) : null]])
  }

  /** A resource that is described at its first occurrence. */
  private resource(type: Name, node: string, more: readonly Statement[]): Described {
    const key = `${type} ${node}`
    if (this.described.has(key)) return { node, text: '' }
    this.described.add(key)
    return { node, text: t(node, [['rdf:type', name(type)], ...more]) }
  }

  private blank(): string {
    this.blanks += 1
    return `_:n${this.blanks}`
  }
}

/** A node as an object, with the lines of its description. */
interface Described {
  readonly node: string
  readonly text: string
}

function reported(described: Described | null): string {
  return described?.text ?? ''
}

function serviceNode(url: string): string {
  return iriText(`${url}#service`)
}

function accessNode(url: string): string {
  return iriText(`${url}#access`)
}

function moment(text: string | null): string | null {
  return text === null ? null : literalText(text, `${DCAT_PREFIXES.xsd}dateTime`)
}
