import { federatedFields, metasOf } from '../catalog/federated.ts'
import type { MetaValue } from '../model/metadata.ts'
import {
  type CatalogReader,
  harvestedMoment,
  listOf,
  type OfferedDataset,
  objectOf,
  type ReadCatalog,
  readCatalogOf,
  type SkippedDataset,
} from './catalog.ts'

const PAGE = 100

/** Maximum position of a dataset on a page of the Explore API. */
const DEEPEST = 10_000

/** Metadata that the other portal computes, and that are computed here again. */
const COMPUTED: ReadonlySet<string> = new Set([
  'records_count',
  'data_processed',
  'metadata_processed',
  'bbox',
  'geometry_types',
  'federated',
  'parent_domain',
  'shared_catalog',
  'oauth_scope',
])

/** Reads the catalog of a Lodestone or Opendatasoft portal (Explore API v2.1), page by page. */
export async function readOpendatasoft(reader: CatalogReader, url: string): Promise<ReadCatalog> {
  const base = url.replace(/\/+$/, '')
  const datasets = new Map<string, OfferedDataset | SkippedDataset>()
  let found = 0
  for (let offset = 0; offset < DEEPEST && datasets.size < reader.limit; offset += PAGE) {
    const page = await reader.json(
      `${base}/api/explore/v2.1/catalog/datasets?limit=${PAGE}&offset=${offset}&order_by=dataset_id`,
    )
    const results = listOf(page.results)
    found = Number(page.total_count ?? results.length)
    for (const given of results) {
      const id = objectOf(given).dataset_id
      if (typeof id === 'string' && datasets.size < reader.limit)
        datasets.set(id, offered(base, id, objectOf(given)))
    }
    if (results.length < PAGE || offset + PAGE >= found) break
  }
  return readCatalogOf([...datasets.values()], found, datasets.size >= found)
}

function offered(
  base: string,
  id: string,
  { metas: givenMetas, fields: givenFields, has_records: hasRecords }: Readonly<Record<string, unknown>>,
): OfferedDataset | SkippedDataset {
  if (!/^[\w][\w.@-]{0,199}$/.test(id)) return { dataset: id.slice(0, 200), reason: 'its id cannot be used' }
  if (hasRecords === false) return { dataset: id, reason: 'it has no records' }
  const metas = metasOf(givenMetas) as Readonly<Record<string, Readonly<Record<string, MetaValue>>>>
  const described = metas.default ?? {}
  const fields = federatedFields(givenFields)
  const isUsable = fields.length > 0 && fields.every(({ name }) => /^[a-z0-9_]{1,100}$/.test(name))
  const path = encodeURIComponent(id)
  return {
    id,
    url: `${base}/api/explore/v2.1/catalog/datasets/${path}/exports/jsonl`,
    format: 'jsonl',
    ...(isUsable
      ? {
          fields: fields.map(({ name, type, label, description, annotations }) => {
            const { multivalued, ...others } = annotations
            const shown = type === 'text' && multivalued !== undefined ? annotations : others
            return {
              name,
              type,
              label,
              ...(description === null ? {} : { description }),
              ...(Object.keys(shown).length === 0 ? {} : { annotations: shown }),
            }
          }),
        }
      : {}),
    metas: Object.fromEntries(
      Object.entries(metas).map(([template, members]) => [
        template,
        Object.fromEntries(
          Object.entries(members).filter(([name, value]) => !COMPUTED.has(name) && value !== null),
        ),
      ]),
    ),
    modified: harvestedMoment(described.data_processed) ?? harvestedMoment(described.modified),
    page: `${base}/explore/dataset/${path}/`,
  }
}
