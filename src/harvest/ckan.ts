import {
  addressOf,
  type CatalogReader,
  type Given,
  harvestedMoment,
  harvestedText,
  harvestedTexts,
  listOf,
  type OfferedDataset,
  objectOf,
  present,
  type ReadCatalog,
  readCatalogOf,
  type SkippedDataset,
} from './catalog.ts'
import { bestDistribution } from './distributions.ts'

const PAGE = 100

/** Reads the catalog of a CKAN portal with package_search (Action API 3), page by page. */
export async function readCkan(reader: CatalogReader, url: string): Promise<ReadCatalog> {
  const base = url.replace(/\/+$/, '')
  const datasets = new Map<string, OfferedDataset | SkippedDataset>()
  let found = 0
  for (let start = 0; datasets.size < reader.limit; start += PAGE) {
    const answer = await reader.json(
      `${base}/api/3/action/package_search?rows=${PAGE}&start=${start}&sort=name%20asc`,
    )
    const result = objectOf(answer.result)
    const results = listOf(result.results)
    found = Number(result.count ?? results.length)
    for (const given of results) {
      const described = objectOf(given)
      const name = harvestedText(described.name) ?? harvestedText(described.id)
      if (name !== null && datasets.size < reader.limit) datasets.set(name, offered(base, name, described))
    }
    if (results.length === 0 || start + results.length >= found) break
  }
  return readCatalogOf([...datasets.values()], found, datasets.size >= found)
}

function offered(base: string, name: string, given: Given): OfferedDataset | SkippedDataset {
  if (given.state === 'deleted' || given.private === true)
    return { dataset: name, reason: 'it is deleted or private' }
  const resources = listOf(given.resources).map(objectOf)
  const best = bestDistribution(
    resources.map(({ url, format, mimetype }) => ({ url, kinds: [format, mimetype] })),
    base,
  )
  if (best === null) return { dataset: name, reason: 'none of its resources has a format that is read' }
  const resource = resources.find(({ url }) => addressOf(url, base) === best.url)
  const modified = harvestedMoment(given.metadata_modified)
  return {
    id: name,
    ...best,
    metas: {
      default: present({
        title: harvestedText(given.title) ?? name,
        description: harvestedText(given.notes),
        keyword: harvestedTexts(listOf(given.tags).map(tag => objectOf(tag).name)),
        theme: harvestedTexts(listOf(given.groups).map(group => objectOf(group).title)),
        license: harvestedText(given.license_title) ?? harvestedText(given.license_id),
        license_url: addressOf(given.license_url),
        publisher: harvestedText(objectOf(given.organization).title) ?? harvestedText(given.author),
        references: addressOf(given.url),
        language: harvestedText(given.language),
        modified,
      }),
      dcat: present({
        issued: harvestedMoment(given.metadata_created),
        contact_name: harvestedText(given.maintainer) ?? harvestedText(given.author),
        contact_email: harvestedText(given.maintainer_email) ?? harvestedText(given.author_email),
      }),
    },
    modified: harvestedMoment(resource?.last_modified) ?? modified,
    page: `${base}/dataset/${encodeURIComponent(name)}`,
  }
}
