import { federatedFields, metasOf } from '../catalog/federated.ts'
import type { MetaValue } from '../model/metadata.ts'
import { words } from '../model/words.ts'
import { unreadable } from '../sources/source.ts'
import {
  type CatalogReader,
  harvestedCount,
  harvestedId,
  harvestedMoment,
  MAX_TEXT,
  type OfferedDataset,
  Offers,
  objectOf,
  type ReadCatalog,
  type SkippedDataset,
} from './catalog.ts'

const PAGE = 100

/** Maximum position of a dataset on a page of the Explore API. */
const DEEPEST = 10_000

/** Metadata that the other portal computes, and that are computed here again. */
const COMPUTED: ReadonlySet<string> = new Set(
  words(
    'records_count data_processed metadata_processed bbox geometry_types federated parent_domain',
    'shared_catalog oauth_scope',
  ),
)

/** Reads the catalog of a Lodestone or Opendatasoft portal (Explore API v2.1), page by page. */
export async function readOpendatasoft(reader: CatalogReader, url: string): Promise<ReadCatalog> {
  const base = url.replace(/\/+$/, '')
  const offers = new Offers(reader)
  let [found, read, isSteady] = [0, 0, true]
  while (!offers.isFull && read < DEEPEST) {
    const page = await reader.json(
      `${base}/api/explore/v2.1/catalog/datasets?limit=${Math.min(PAGE, DEEPEST - read)}&offset=${read}&order_by=dataset_id`,
    )
    const { results, total_count: count } = page
    if (!Array.isArray(results))
      throw unreadable('The catalog answers no list of datasets: a member results is expected.', {
        file: base,
      })
    read += results.length
    const before = found
    found = harvestedCount(count, read, base)
    isSteady &&= read === results.length || found === before
    for (const given of results.map(objectOf))
      offers.add(harvestedId(given.dataset_id), id => offered(base, id, given))
    if (results.length === 0 || read >= found) break
  }
  // What was removed meanwhile moved another dataset to a page that was read before.
  return offers.result(found, isSteady)
}

function offered(
  base: string,
  id: string,
  { metas: givenMetas, fields: givenFields, has_records: hasRecords }: Readonly<Record<string, unknown>>,
): OfferedDataset | SkippedDataset {
  if (!/^[\w][\w.@-]{0,199}$/.test(id)) return { dataset: id.slice(0, 200), reason: 'its id cannot be used' }
  if (hasRecords === false) return { dataset: id, reason: 'it has no records' }
  const metas = metasOf(givenMetas, MAX_TEXT) as Readonly<Record<string, Readonly<Record<string, MetaValue>>>>
  const described = metas.default ?? {}
  const fields = federatedFields(givenFields)
  const isUsable =
    fields.length > 0 &&
    fields.every(({ name }) => /^[a-z0-9_]{1,100}$/.test(name)) &&
    new Set(fields.map(({ name }) => name)).size === fields.length
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
