import { metadataJson } from './format/csdl-json.ts'
import { metadataXml } from './format/metadata.ts'
import { oldMetadataXml } from './format/old-metadata.ts'
import { serviceDocument } from './format/service.ts'
import { type ServicePlace, setSheet } from './format/shape.ts'
import { vocabularyDocument } from './format/vocabulary-documents.ts'
import type { ODataFormat } from './negotiate.ts'
import type { DocumentResource } from './resource.ts'
import type { ServedSets } from './sets.ts'

/** The documents that describe the service: the service document, its metadata, or a vocabulary of these. */
export function serviceText(
  resource: DocumentResource,
  { all }: ServedSets,
  format: ODataFormat,
  place: ServicePlace,
): string {
  if (resource.type === 'vocabulary') return vocabularyDocument(resource.vocabulary, resource.format)
  const sheets = all.map(({ model, entry, updated }) => setSheet(model, entry.dataset.metas, updated))
  if (resource.type === 'service') return serviceDocument(sheets, { ...format, omitNulls: false }, place)
  if (format.version !== '4.0') return oldMetadataXml(sheets, place, format.version)
  return format.type === 'json' ? metadataJson(sheets, place) : metadataXml(sheets, place)
}
