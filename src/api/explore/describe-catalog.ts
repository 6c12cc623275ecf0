import { type CatalogEntry, completeMetas, momentMeta } from '../../catalog/catalog-dataset.ts'
import {
  datasetFragmentsAddress,
  descriptionAddress,
  pageAddress,
  shapesAddress,
  sparqlAddress,
} from '../../catalog/void.ts'
import type {
  CatalogDescription,
  DataServiceDescription,
  DatasetDescription,
  DistributionDescription,
  Named,
} from '../../formats/catalog-description.ts'
import { describedFormats, type ExportFormat } from '../../formats/export-formats.ts'
import type { Metas, MetaValue } from '../../model/metadata.ts'
import { isXmlText } from '../../model/xml.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { isLanguageTag } from '../../rdf/literals.ts'
import { datasetIri } from '../../rdf/minted-iris.ts'
import type { AnswerPlace } from './present.ts'

/** How the distributions of datasets are listed. */
export interface CatalogDescriptionOptions {
  readonly base: string
  readonly title: string
  /** One sentence about the portal; empty if there is none. */
  readonly description: string
  readonly place: AnswerPlace
  /** Names of the formats that are reported; null for all. */
  readonly formats: readonly string[] | null
  /** Files name their columns by labels. */
  readonly useLabels: boolean
}

/** Tables, whose columns may be named by the labels of fields. */
const WITH_LABELS: ReadonlySet<string> = new Set(['csv', 'xls', 'xlsx'])

/** The catalog for export formats: it has the title of the portal, which is its publisher. */
export function describeCatalog(
  entries: readonly CatalogEntry[],
  self: string,
  options: CatalogDescriptionOptions,
): CatalogDescription {
  const { base, description } = options
  const title = textOf(options.title) ?? new URL(base).host
  const datasets = entries.map(entry => describeDataset(entry, options))
  const [latest] = datasets
    .flatMap(({ modified }) => modified ?? [])
    .sort()
    .reverse()
  return {
    iri: `${base}/#catalog`,
    homepage: `${base}/`,
    self,
    title,
    description: textOf(description) ?? `The datasets of ${title}`,
    publisher: { name: title, iri: `${base}/#publisher` },
    modified: latest ?? null,
    datasets,
  }
}

function describeDataset(entry: CatalogEntry, options: CatalogDescriptionOptions): DatasetDescription {
  const { id } = entry.dataset
  const { base, place } = options
  const metas = completeMetas(entry)
  const { default: known = {}, dcat = {} } = metas
  const datasets = `${place.root}/${place.source}/datasets`
  const refined = (facet: string) => (name: string) => ({
    name,
    iri: `${datasets}?refine=${encodeURIComponent(`${facet}:"${name}"`)}`,
  })
  const title = textOf(known.title) ?? id
  const language = textOf(known.language)
  return {
    id,
    iri: datasetIri(base, id),
    page: isOfPortal(options) ? pageAddress(base, id) : `${datasets}/${id}`,
    title,
    description: textOf(known.description) ?? title,
    language: language !== null && isLanguageTag(language) ? language : null,
    keywords: textsOf(known.keyword),
    themes: textsOf(known.theme).map(refined('theme')),
    publisher: textsOf(known.publisher).slice(0, 1).map(refined('publisher'))[0] ?? null,
    creators: textsOf(dcat.creator).map(named),
    contributors: textsOf(dcat.contributor).map(named),
    license: licenseOf(known),
    issued: momentMeta(dcat.issued ?? dcat.created),
    modified: momentMeta(known.modified) ?? momentMeta(entry.published),
    periodicity: textsOf(dcat.accrualperiodicity ?? known.update_frequency).map(named)[0] ?? null,
    contact: contactOf(dcat),
    places: [...textsOf(dcat.spatial), ...textsOf(known.territory)].map(named),
    temporal: temporalOf(dcat),
    standards: [
      ...textsOf(dcat.conforms_to).map(named),
      ...(isOfPortal(options) && entry.semantic !== undefined
        ? [{ name: `Shapes of ${title}`, iri: shapesAddress(base, id) }]
        : []),
    ],
    accessRights: textsOf(dcat.accessRights).map(named)[0] ?? null,
    references: [...textsOf(known.references), ...textsOf(dcat.relation)].filter(isIri),
    distributions: distributions(entry, title, options),
    services: services(entry, title, options),
    described: isOfPortal(options) ? descriptionAddress(base, id) : null,
  }
}

/** True if the datasets are those of this portal, which also serves them as triples. */
function isOfPortal({ place }: CatalogDescriptionOptions): boolean {
  return place.source === 'catalog'
}

/** The endpoints that serve the triples of a dataset; left out if particular formats are requested. */
function services(
  { dataset: { id } }: CatalogEntry,
  title: string,
  options: CatalogDescriptionOptions,
): readonly DataServiceDescription[] {
  if (!isOfPortal(options) || options.formats !== null) return []
  return [
    {
      url: sparqlAddress(options.base, id),
      title: `${title} (SPARQL)`,
      description: 'SPARQL 1.1 endpoint, for queries',
      protocol: { name: 'SPARQL 1.1 Protocol', iri: 'https://www.w3.org/TR/sparql11-protocol/' },
    },
    {
      url: datasetFragmentsAddress(options.base, id),
      title: `${title} (Triple Pattern Fragments)`,
      description: 'Triple pattern fragments, with bindings',
      protocol: {
        name: 'Triple Pattern Fragments',
        iri: 'https://linkeddatafragments.org/specification/triple-pattern-fragments/',
      },
    },
  ]
}

function distributions(
  { dataset: { id, fields } }: CatalogEntry,
  title: string,
  { place, formats, useLabels }: CatalogDescriptionOptions,
): readonly DistributionDescription[] {
  return describedFormats(place.dialect.name, fields)
    .filter(({ name }) => formats === null || formats.includes(name))
    .map(({ name, extension, mediaType }: ExportFormat) => {
      const labels = useLabels && WITH_LABELS.has(name) ? '?use_labels=true' : ''
      return {
        url: `${place.root}/${place.source}/datasets/${id}/exports/${name}${labels}`,
        title: `${id}.${extension ?? name}`,
        description: `${title} (${name})`,
        mediaType: mediaType.replace(/;.*/s, ''),
        format: name,
      }
    })
}

type Template = Metas[string]

function licenseOf(known: Template): Named | null {
  const url = textOf(known.license_url)
  const name = textOf(known.license) ?? url
  if (name === null) return null
  return { name, iri: [url, name].find(text => text !== null && isIri(text)) ?? null }
}

function contactOf(dcat: Template): DatasetDescription['contact'] {
  const given = textOf(dcat.contact_email)?.replace(/^mailto:/i, '') ?? null
  const email = given?.includes('@') && isIri(`mailto:${given}`) ? given : null
  const name = textOf(dcat.contact_name) ?? email
  return name === null ? null : { name, email }
}

/** An interval of days or moments (ISO 8601), as data.json has it. */
const INTERVAL = /^(\d{4}-\d\d-\d\d[^/]*)\/(\d{4}-\d\d-\d\d[^/]*)$/

function temporalOf(dcat: Template): DatasetDescription['temporal'] {
  const [, first, last] = INTERVAL.exec(textOf(dcat.temporal) ?? '') ?? []
  const start = momentMeta(dcat.temporal_coverage_start ?? first)
  const end = momentMeta(dcat.temporal_coverage_end ?? last)
  return start === null && end === null ? null : { start, end }
}

function named(text: string): Named {
  return { name: text, iri: isIri(text) ? text : null }
}

function textOf(value: MetaValue | undefined): string | null {
  return textsOf(value)[0] ?? null
}

function textsOf(value: MetaValue | undefined): readonly string[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all
    .filter(each => typeof each === 'string' || typeof each === 'number')
    .map(each => legible(String(each)).trim())
    .filter(text => text !== '')
}

/** A text with U+FFFD for each character that XML does not permit, so that all formats have the same text. */
function legible(text: string): string {
  if (isXmlText(text)) return text
  return Array.from(text, character => (isXmlText(character) ? character : '\ufffd')).join('')
}
