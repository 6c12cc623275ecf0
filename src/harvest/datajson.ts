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

/** Reads a catalog as data.json (Project Open Data metadata schema 1.1). */
export async function readDataJson(reader: CatalogReader, url: string): Promise<ReadCatalog> {
  const { dataset } = await reader.json(url)
  const given = listOf(dataset).map(objectOf)
  const datasets = new Map<string, OfferedDataset | SkippedDataset>()
  for (const each of given) {
    const id = harvestedText(each.identifier)
    if (id !== null && datasets.size < reader.limit) datasets.set(id, offered(url, id, each))
  }
  const found = new Set(given.map(each => harvestedText(each.identifier)).filter(id => id !== null)).size
  return readCatalogOf([...datasets.values()], found, datasets.size >= found && Array.isArray(dataset))
}

function offered(base: string, id: string, given: Given): OfferedDataset | SkippedDataset {
  const best = bestDistribution(
    listOf(given.distribution)
      .map(objectOf)
      .map(({ downloadURL, format, mediaType }) => ({ url: downloadURL, kinds: [mediaType, format] })),
    base,
  )
  if (best === null)
    return { dataset: id.slice(0, 200), reason: 'none of its distributions has a format that is read' }
  const contact = objectOf(given.contactPoint)
  const modified = harvestedMoment(given.modified)
  return {
    id,
    ...best,
    metas: {
      default: present({
        title: harvestedText(given.title) ?? id,
        description: harvestedText(given.description),
        keyword: harvestedTexts(listOf(given.keyword)),
        theme: harvestedTexts(listOf(given.theme)),
        license: harvestedText(given.license),
        publisher: harvestedText(objectOf(given.publisher).name),
        language: harvestedText(listOf(given.language)[0]),
        references: addressOf(given.landingPage),
        modified,
      }),
      dcat: present({
        issued: harvestedMoment(given.issued),
        contact_name: harvestedText(contact.fn),
        contact_email: harvestedText(contact.hasEmail)?.replace(/^mailto:/, '') ?? null,
        temporal: harvestedText(given.temporal),
        spatial: harvestedText(given.spatial),
        accrualperiodicity: harvestedText(given.accrualPeriodicity),
      }),
    },
    modified,
    page: addressOf(given.landingPage) ?? addressOf(id),
  }
}
