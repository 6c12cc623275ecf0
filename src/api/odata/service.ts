import { metadataJson } from './format/csdl-json.ts'
import { metadataXml } from './format/metadata.ts'
import { oldMetadataXml } from './format/metadata-v3.ts'
import { serviceDocument } from './format/service.ts'
import { type Place, setSheet } from './format/shape.ts'
import type { Format } from './negotiate.ts'
import type { ServedSets } from './sets.ts'

/** The documents that tell what the service has: the service document, or its metadata. */
export function serviceText(
  type: 'service' | 'metadata',
  { all }: ServedSets,
  format: Format,
  place: Place,
): string {
  const sheets = all.map(({ model, entry, updated }) => setSheet(model, entry.dataset.metas, updated))
  if (type === 'service') return serviceDocument(sheets, { ...format, omitNulls: false }, place)
  if (format.version === '3.0') return oldMetadataXml(sheets, place)
  return format.type === 'json' ? metadataJson(sheets, place) : metadataXml(sheets, place)
}
