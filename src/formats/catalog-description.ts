import { lookup } from '../model/lookup.ts'
import { XML_DECLARATION, xmlAttribute, xmlText } from '../model/xml.ts'

/** A name, with the IRI of the named thing if known. */
export interface Named {
  readonly name: string
  readonly iri: string | null
}

/** A file with the records of a dataset. */
export interface DistributionDescription {
  readonly url: string
  readonly title: string
  readonly description: string
  /** Without parameters: `text/csv`. */
  readonly mediaType: string
  /** Common name: `csv`. */
  readonly format: string
}

/** An endpoint at which a dataset is queried, rather than downloaded. */
export interface DataServiceDescription {
  readonly url: string
  readonly title: string
  readonly description: string
  readonly protocol: Named
}

/** The description of one dataset for catalog formats; every text is valid in XML 1.0. */
export interface DatasetDescription {
  readonly id: string
  readonly iri: string
  readonly page: string
  readonly title: string
  readonly description: string
  /** Language tag of the texts. */
  readonly language: string | null
  readonly keywords: readonly string[]
  readonly themes: readonly Named[]
  readonly publisher: Named | null
  readonly creators: readonly Named[]
  readonly contributors: readonly Named[]
  readonly license: Named | null
  /** Moments in canonical form. */
  readonly issued: string | null
  readonly modified: string | null
  readonly periodicity: Named | null
  readonly contact: { readonly name: string; readonly email: string | null } | null
  readonly places: readonly Named[]
  readonly temporal: { readonly start: string | null; readonly end: string | null } | null
  readonly standards: readonly Named[]
  readonly accessRights: Named | null
  readonly references: readonly string[]
  readonly distributions: readonly DistributionDescription[]
  readonly services: readonly DataServiceDescription[]
  /** Address of the document that describes its triples. */
  readonly described: string | null
}

/** A complete catalog: its datasets are streamed. */
export interface CatalogDescription {
  readonly iri: string
  readonly homepage: string
  /** Address of the document itself. */
  readonly self: string
  readonly title: string
  readonly description: string
  readonly publisher: Named
  /** Moment of the latest change of any of them; null if there is none. */
  readonly modified: string | null
  readonly datasets: readonly DatasetDescription[]
}

/** Writes a catalog as an RSS feed, one item for each dataset (RSS 2.0). */
export async function* rss(catalog: CatalogDescription): AsyncGenerator<string> {
  yield [
    XML_DECLARATION,
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/">\n',
    '<channel>\n',
    element('title', catalog.title),
    element('link', catalog.homepage),
    element('description', catalog.description),
    `<atom:link href="${xmlAttribute(catalog.self)}" rel="self" type="application/rss+xml"/>\n`,
    catalog.modified === null ? '' : element('lastBuildDate', mailDate(catalog.modified)),
  ].join('')
  for (const dataset of catalog.datasets) yield item(dataset)
  yield '</channel>\n</rss>\n'
}

function item({
  iri,
  page,
  title,
  description,
  publisher,
  themes,
  keywords,
  modified,
}: DatasetDescription): string {
  const categories = new Set([...themes.map(({ name }) => name), ...keywords])
  return [
    '<item>\n',
    element('title', title),
    element('link', page),
    element('description', description),
    publisher === null ? '' : element('dc:creator', publisher.name),
    ...Array.from(categories, category => element('category', category)),
    `<guid isPermaLink="false">${xmlText(iri)}</guid>\n`,
    modified === null ? '' : element('pubDate', mailDate(modified)),
    '</item>\n',
  ].join('')
}

function element(name: string, text: string): string {
  return `<${name}>${xmlText(text)}</${name}>\n`
}

/** A moment in the format of RFC 822, with a four-digit year. */
function mailDate(moment: string): string {
  return new Date(moment).toUTCString()
}

const SCHEMA = 'https://project-open-data.cio.gov/v1.1/schema'

/** Update frequencies as repeating intervals (ISO 8601), by the last word of their names or of their codes in the vocabulary of the EU. */
const INTERVALS: Readonly<Record<string, string>> = {
  cont: 'R/PT1S',
  continuous: 'R/PT1S',
  hourly: 'R/PT1H',
  daily: 'R/P1D',
  weekly: 'R/P1W',
  biweekly: 'R/P2W',
  semimonthly: 'R/P0.5M',
  monthly: 'R/P1M',
  bimonthly: 'R/P2M',
  quarterly: 'R/P3M',
  semiannual: 'R/P6M',
  annual: 'R/P1Y',
  biennial: 'R/P2Y',
  triennial: 'R/P3Y',
  irreg: 'irregular',
  irregular: 'irregular',
}

/** Writes a catalog as data.json (Project Open Data metadata schema 1.1), one dataset a line. */
export async function* dataJson(catalog: CatalogDescription): AsyncGenerator<string> {
  const head = {
    '@context': `${SCHEMA}/catalog.jsonld`,
    '@id': catalog.self,
    '@type': 'dcat:Catalog',
    conformsTo: SCHEMA,
    describedBy: `${SCHEMA}/catalog.json`,
  }
  yield `${JSON.stringify(head).slice(0, -1)},"dataset":[`
  let before = '\n'
  for (const dataset of catalog.datasets) {
    yield before + JSON.stringify(describe(dataset, catalog))
    before = ',\n'
  }
  yield '\n]}\n'
}

/** Required members are always present; an absent value is left out of the JSON. */
function describe(dataset: DatasetDescription, catalog: CatalogDescription): unknown {
  const { id, contact, temporal, themes, keywords, issued, license, places } = dataset
  const publisher = dataset.publisher ?? catalog.publisher
  const titles = themes.map(({ name }) => name)
  const words = [...keywords, ...titles, id]
  return {
    '@type': 'dcat:Dataset',
    identifier: dataset.iri,
    title: dataset.title,
    description: dataset.description,
    keyword: keywords.length > 0 ? keywords : words.slice(0, 1),
    modified: dataset.modified ?? issued,
    publisher: { '@type': 'org:Organization', name: publisher.name },
    contactPoint: {
      '@type': 'vcard:Contact',
      fn: contact?.name ?? publisher.name,
      ...some('hasEmail', contact?.email == null ? null : `mailto:${contact.email}`),
    },
    accessLevel: 'public',
    ...some('license', license === null ? null : (license.iri ?? license.name)),
    ...some('issued', issued),
    ...some('theme', titles.length === 0 ? null : titles),
    ...some('spatial', places[0]?.name ?? null),
    ...some('temporal', intervalOf(temporal)),
    ...some('accrualPeriodicity', periodicityOf(dataset.periodicity)),
    ...some('language', dataset.language === null ? null : [dataset.language]),
    ...some('conformsTo', dataset.standards[0]?.iri ?? null),
    ...some('references', dataset.references.length === 0 ? null : dataset.references),
    landingPage: dataset.page,
    distribution: dataset.distributions.map(({ url, mediaType, title, description, format }) => ({
      '@type': 'dcat:Distribution',
      downloadURL: url,
      mediaType,
      title,
      description,
      format,
    })),
  }
}

function some(key: string, value: unknown): Readonly<Record<string, unknown>> {
  return value === null ? {} : { [key]: value }
}

function intervalOf(temporal: DatasetDescription['temporal']): string | null {
  if (temporal?.start == null || temporal.end === null) return null
  return `${temporal.start}/${temporal.end}`
}

function periodicityOf(given: Named | null): string | null {
  if (given === null) return null
  if (/^R\/P\w/.test(given.name)) return given.name
  const word = /[a-z-]+$/.exec(given.name.toLowerCase())?.[0].replaceAll('-', '') ?? ''
  return lookup(INTERVALS, word) ?? null
}
