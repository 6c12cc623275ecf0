import { completeMetas, momentMeta } from '../catalog/catalog-dataset.ts'
import type { ServedDataset } from '../catalog/served.ts'
import { describedFormats } from '../formats/export-formats.ts'
import { isTemporal } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'
import { isIri } from '../rdf/iri-syntax.ts'
import { datasetIri } from '../rdf/minted-iris.ts'
import { type Html, jsonBlock } from '../site/html.ts'
import type { SiteOptions } from '../site/page-context.ts'
import { datasetPath, endpointPaths } from './dataset/tab.ts'
import { plainText } from './parts/rich-text.ts'
import { datasetTitle, metaText, metaTexts } from './services.ts'

/** A node of JSON-LD; undefined members are omitted. */
type Node = Readonly<Record<string, unknown>>

/** Maximum characters of a description for search engines. */
const MAX_LENGTH = 5000

/** The catalog for search engines (schema.org, DataCatalog), with the search action of its pages. */
export function catalogData(site: SiteOptions, entries: readonly ServedDataset[]): Html {
  const { base, title, description } = site
  const search = {
    '@type': 'SearchAction',
    target: { '@type': 'EntryPoint', urlTemplate: `${base}/explore/?q={search_term_string}` },
    'query-input': 'required name=search_term_string',
  }
  return jsonLd({
    '@graph': [
      { '@type': 'WebSite', '@id': `${base}/#site`, url: `${base}/`, name: title, potentialAction: search },
      {
        ...catalogNode(site),
        description: description === '' ? undefined : description,
        dataset: entries.slice(0, 100).map(entry => ({
          '@type': 'Dataset',
          '@id': datasetIri(base, entry.dataset.id),
          name: datasetTitle(entry),
          description: descriptionOf(entry),
          url: base + datasetPath(entry.dataset.id),
        })),
      },
    ],
  })
}

/** A dataset for search engines (schema.org, Dataset): read from its page by Google's Dataset Search and others. */
export function datasetData(site: SiteOptions, entry: ServedDataset): Html {
  const { base } = site
  const { dataset } = entry
  const known = completeMetas(entry).default ?? {}
  const publisher = metaText(entry, 'publisher')
  const creators = metaTexts(entry, 'creator', 'dcat')
  const makers = creators.length > 0 ? creators : publisher === null ? [] : [publisher]
  const isOpen = dataset.visibility === 'public'
  return jsonLd({
    '@type': 'Dataset',
    '@id': datasetIri(base, dataset.id),
    name: datasetTitle(entry),
    description: descriptionOf(entry),
    url: base + datasetPath(entry.dataset.id),
    identifier: [dataset.id, dataset.uid],
    keywords: someOf([...metaTexts(entry, 'keyword'), ...metaTexts(entry, 'theme')]),
    license: licenseOf(entry),
    creator: someOf(makers.map(organization)),
    publisher: publisher === null ? undefined : organization(publisher),
    inLanguage: metaText(entry, 'language') ?? undefined,
    dateModified: momentOf(known.modified),
    dateCreated: momentOf(dataset.metas.dcat?.created),
    datePublished: momentOf(dataset.metas.dcat?.issued) ?? momentOf(entry.published),
    temporalCoverage: temporalCoverage(entry),
    spatialCoverage: spatialCoverage(entry),
    variableMeasured: someOf(
      dataset.fields.slice(0, 100).map(({ name, label, description, annotations }) => ({
        '@type': 'PropertyValue',
        name: label,
        alternateName: label === name ? undefined : name,
        description: description ?? undefined,
        unitText: annotations.unit?.map(String).join(', '),
      })),
    ),
    isBasedOn: someOf(metaTexts(entry, 'references').filter(isIri)),
    isAccessibleForFree: isOpen,
    includedInDataCatalog: catalogNode(site),
    distribution: distributions(base, entry),
  })
}

function catalogNode({ base, title }: SiteOptions): Node {
  return { '@type': 'DataCatalog', '@id': `${base}/#catalog`, name: title, url: `${base}/explore/` }
}

/** The address of the licence; a licence that is only named is a work of that name, for the property takes IRIs. */
function licenseOf(entry: ServedDataset): string | Node | undefined {
  const [name, address] = [metaText(entry, 'license'), metaText(entry, 'license_url')]
  const iri = [address, name].find(text => text !== null && isIri(text))
  if (iri != null) return iri
  const title = name ?? address
  return title === null ? undefined : { '@type': 'CreativeWork', name: title }
}

/** One file for each export format of the whole dataset. */
function distributions(base: string, { dataset: { id, fields }, published }: ServedDataset): readonly Node[] {
  return describedFormats('explore-v2.1', fields).map(({ name, mediaType, extension }) => ({
    '@type': 'DataDownload',
    name: `${id}.${extension ?? name}`,
    encodingFormat: mediaType.replace(/;.*/s, ''),
    contentUrl: `${base}${endpointPaths(id).exports}/${name}`,
    dateModified: momentOf(published),
  }))
}

/** The period that a dataset covers: from its publisher, else from the first to the last date in its records. */
function temporalCoverage({ dataset, statistics }: ServedDataset): string | undefined {
  const { dcat = {} } = dataset.metas
  const [start, end] = [momentOf(dcat.temporal_coverage_start), momentOf(dcat.temporal_coverage_end)]
  if (start !== undefined || end !== undefined) return `${start ?? '..'}/${end ?? '..'}`
  if (typeof dcat.temporal === 'string') return dcat.temporal
  const days = dataset.fields
    .filter(({ type }) => isTemporal(type))
    .flatMap(({ name }) => [lookup(statistics.fields, name)?.min, lookup(statistics.fields, name)?.max])
    .filter(day => typeof day === 'string')
    .sort()
  const [first, last] = [days[0], days.at(-1)]
  return first === undefined ? undefined : `${first}/${last}`
}

function spatialCoverage(entry: ServedDataset): readonly Node[] | undefined {
  const places = [...metaTexts(entry, 'spatial', 'dcat'), ...metaTexts(entry, 'territory')]
  return someOf(places.map(name => ({ '@type': 'Place', name })))
}

/** The description of a dataset: search engines require at least fifty characters, so title and fields are added. */
function descriptionOf(entry: ServedDataset): string {
  const said = plainText(metaText(entry, 'description') ?? '')
  const fields = entry.dataset.fields.map(({ label }) => label).join(', ')
  const text = said.length >= 50 ? said : [said || datasetTitle(entry), fields].filter(Boolean).join(': ')
  return text.slice(0, MAX_LENGTH)
}

function organization(name: string): Node {
  return { '@type': 'Organization', name }
}

function momentOf(value: unknown): string | undefined {
  return momentMeta(typeof value === 'string' ? value : null) ?? undefined
}

function someOf<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items
}

function jsonLd(node: Node): Html {
  return jsonBlock(JSON.stringify({ '@context': 'https://schema.org/', ...node }), 'application/ld+json')
}
