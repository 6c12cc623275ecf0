import {
  addressOf,
  type CatalogReader,
  type Given,
  listOf,
  momentOf,
  type OfferedDataset,
  objectOf,
  present,
  type ReadCatalog,
  type SkippedDataset,
  textOf,
  textsOf,
} from './catalog.ts'
import { bestDistribution } from './distributions.ts'

/** Reads a catalog as data.json (Project Open Data metadata schema 1.1). */
export async function readDataJson(reader: CatalogReader, url: string): Promise<ReadCatalog> {
  const { dataset } = await reader.json(url)
  const given = listOf(dataset).map(objectOf)
  const datasets = new Map<string, OfferedDataset | SkippedDataset>()
  for (const each of given) {
    const id = textOf(each.identifier)
    if (id !== null && datasets.size < reader.limit) datasets.set(id, offer(url, id, each))
  }
  const all = [...datasets.values()]
  const found = new Set(given.map(each => textOf(each.identifier)).filter(id => id !== null)).size
  return {
    offered: all.filter(each => 'url' in each),
    skipped: all.filter(each => 'reason' in each),
    found,
    isComplete: datasets.size >= found && Array.isArray(dataset),
  }
}

function offer(base: string, id: string, given: Given): OfferedDataset | SkippedDataset {
  const best = bestDistribution(
    listOf(given.distribution)
      .map(objectOf)
      .map(({ downloadURL, format, mediaType }) => ({ url: downloadURL, kinds: [mediaType, format] })),
    base,
  )
  if (best === null)
    return { dataset: id.slice(0, 200), reason: 'none of its distributions has a format that is read' }
  const contact = objectOf(given.contactPoint)
  const modified = momentOf(given.modified)
  return {
    id,
    ...best,
    metas: {
      default: present({
        title: textOf(given.title) ?? id,
        description: textOf(given.description),
        keyword: textsOf(listOf(given.keyword)),
        theme: textsOf(listOf(given.theme)),
        license: textOf(given.license),
        publisher: textOf(objectOf(given.publisher).name),
        language: textOf(listOf(given.language)[0]),
        references: addressOf(given.landingPage),
        modified,
      }),
      dcat: present({
        issued: momentOf(given.issued),
        contact_name: textOf(contact.fn),
        contact_email: textOf(contact.hasEmail)?.replace(/^mailto:/, '') ?? null,
        temporal: textOf(given.temporal),
        spatial: textOf(given.spatial),
        accrualperiodicity: textOf(given.accrualPeriodicity),
      }),
    },
    modified,
    page: addressOf(given.landingPage) ?? addressOf(id),
  }
}
