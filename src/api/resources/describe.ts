import { naturalDatatype } from '../../mapping/columns.ts'
import type { Field } from '../../model/field.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { datasetIri, fieldIri } from '../../rdf/minted-iris.ts'
import { iriText, literalText } from '../../rdf/ntriples.ts'
import { DCAT, DCTERMS, FOAF, HYDRA, OWL, RDF, RDFS, VOID, XSD } from '../../rdf/vocab.ts'
import type { ResourceDataset } from './dataset.ts'

/** A predicate and the text of an object; null for a triple that is omitted. */
type Statement = readonly [predicate: string, object: string | null]

function t(subject: string, statements: readonly Statement[]): string {
  const known = statements.filter(([, object]) => object !== null)
  return known.map(([predicate, object]) => `${iriText(subject)} <${predicate}> ${object} .\n`).join('')
}

const address = (iri: string | null) => (iri !== null && isIri(iri) ? iriText(iri) : null)
const text = (value: string | null) => (value === null || value === '' ? null : literalText(value))
const count = (value: number) => literalText(String(value), XSD.integer)

/** IRI of the vocabulary of the properties of a dataset. */
export function ontologyIri(base: string, dataset: string): string {
  return `${base}/ld/ontologies/${encodeURIComponent(dataset)}`
}

/** The description of a field as a property (RDF Schema 1.1, sections 3 and 5.4). */
export function propertyTriples(base: string, dataset: string, field: Field): string {
  return t(fieldIri(base, dataset, field.name), [
    [RDF.type, iriText(RDF.Property)],
    [RDFS.label, literalText(field.label)],
    [RDFS.comment, text(field.description)],
    [RDFS.domain, iriText(RDFS.Resource)],
    [RDFS.range, iriText(naturalDatatype(field.type))],
    [RDFS.isDefinedBy, iriText(ontologyIri(base, dataset))],
  ])
}

/** A property in the triples of a dataset that is no field of it: it comes from a mapping or a file. */
export function foreignPropertyTriples(base: string, dataset: string, iri: string): string {
  return t(iri, [
    [RDF.type, iriText(RDF.Property)],
    [RDFS.isDefinedBy, iriText(ontologyIri(base, dataset))],
  ])
}

/** The vocabulary of a dataset as a whole, without its properties. */
export function ontologyTriples(base: string, dataset: ResourceDataset): string {
  return t(ontologyIri(base, dataset.id), [
    [RDF.type, iriText(OWL.Ontology)],
    [RDFS.label, literalText(dataset.title)],
    [
      RDFS.comment,
      literalText(`The properties of the dataset ${dataset.title}, one for each of its fields.`),
    ],
    [DCTERMS.modified, literalText(dataset.modified, XSD.dateTime)],
    [DCTERMS.license, address(dataset.license)],
    [RDFS.seeAlso, iriText(datasetIri(base, dataset.id))],
  ])
}

/** Export formats of a dataset: the name of the export, its title, its media type. */
const FILES: readonly (readonly [format: string, name: string, mediaType: string, ofTriples: boolean])[] = [
  ['turtle', 'Turtle', 'text/turtle', true],
  ['n3', 'N-Triples', 'application/n-triples', true],
  ['jsonld', 'JSON-LD', 'application/ld+json', true],
  ['rdfxml', 'RDF/XML', 'application/rdf+xml', true],
  ['csv', 'CSV', 'text/csv', false],
  ['json', 'JSON', 'application/json', false],
]

/** A dataset in DCAT and VoID, with its export files as distributions (W3C DCAT 3, sections 6.6 and 6.8). */
export function datasetTriples(base: string, dataset: ResourceDataset): string {
  const iri = datasetIri(base, dataset.id)
  const exports = `${base}/api/explore/v2.1/catalog/datasets/${encodeURIComponent(dataset.id)}/exports`
  const hasRecords = dataset.fields.length > 0
  const files = FILES.filter(([, , , ofTriples]) => ofTriples || hasRecords)
  return [
    dataset.describe(),
    t(iri, [
      [VOID.vocabulary, hasRecords ? iriText(ontologyIri(base, dataset.id)) : null],
      ...files.map(([format]): Statement => [DCAT.distribution, iriText(`${iri}#${format}`)]),
    ]),
    ...files.map(([format, name, mediaType]) =>
      t(`${iri}#${format}`, [
        [RDF.type, iriText(DCAT.Distribution)],
        [DCTERMS.title, literalText(name)],
        [DCAT.downloadURL, iriText(`${exports}/${format}`)],
        [DCAT.accessURL, iriText(`${exports}/${format}`)],
        [DCAT.mediaType, iriText(`https://www.iana.org/assignments/media-types/${mediaType}`)],
        [DCTERMS.license, address(dataset.license)],
      ]),
    ),
  ].join('')
}

/** The metadata of a document itself: its topic, source, modification and licence. */
export function documentTriples(
  base: string,
  document: string,
  iri: string,
  dataset: ResourceDataset,
): string {
  return t(document, [
    [RDF.type, iriText(FOAF.Document)],
    [FOAF.primaryTopic, iriText(iri)],
    [VOID.inDataset, iriText(datasetIri(base, dataset.id))],
    [DCTERMS.modified, literalText(dataset.modified, XSD.dateTime)],
    [DCTERMS.license, address(dataset.license)],
  ])
}

/** A page of the links to a resource. */
export interface InversePaging {
  readonly total: number
  readonly size: number
  /** 1, 2, 3 … */
  readonly page: number
  /** Address of a page. */
  readonly addressOf: (page: number) => string
}

/** The controls that connect the pages of the links to a resource (Hydra Core, "Collections"). */
export function pagingTriples(document: string, { total, size, page, addressOf }: InversePaging): string {
  if (total === 0) return ''
  const last = Math.max(1, Math.ceil(total / size))
  const here = addressOf(page)
  const link = (at: number, exists: boolean) => (exists ? iriText(addressOf(at)) : null)
  return (
    t(document, [
      [HYDRA.view, iriText(here)],
      [RDFS.seeAlso, link(page + 1, page < last)],
    ]) +
    t(here, [
      [RDF.type, iriText(HYDRA.PartialCollectionView)],
      [DCTERMS.isPartOf, iriText(document)],
      [HYDRA.totalItems, count(total)],
      [HYDRA.itemsPerPage, count(size)],
      [HYDRA.first, link(1, true)],
      [HYDRA.previous, link(page - 1, page > 1)],
      [HYDRA.next, link(page + 1, page < last)],
      [HYDRA.last, link(last, true)],
    ])
  )
}
