import { lookup } from '../model/lookup.ts'
import type { CatalogDescription, DatasetDescription, Named } from './catalog-description.ts'

const SCHEMA = 'https://project-open-data.cio.gov/v1.1/schema'

/** Update frequencies as repeating intervals (ISO 8601), by the last word of their names. */
const INTERVALS: Readonly<Record<string, string>> = {
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
  const word = /[a-z]+$/.exec(given.name.toLowerCase())?.[0] ?? ''
  return lookup(INTERVALS, word) ?? null
}
