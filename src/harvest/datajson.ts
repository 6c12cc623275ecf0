import { unreadable } from '../sources/source.ts'
import {
  addressOf,
  type CatalogReader,
  type Given,
  harvestedId,
  harvestedLanguage,
  harvestedMoment,
  harvestedText,
  harvestedTexts,
  listOf,
  type OfferedDataset,
  Offers,
  objectOf,
  present,
  type ReadCatalog,
  type SkippedDataset,
} from './catalog.ts'
import { bestDistribution } from './reader.ts'

/** Reads a catalog as data.json (Project Open Data metadata schema 1.1). */
export async function readDataJson(reader: CatalogReader, url: string): Promise<ReadCatalog> {
  const { dataset } = await reader.json(url)
  if (!Array.isArray(dataset))
    throw unreadable('The catalog has no list of datasets: a member dataset with a list is expected.', {
      file: url,
    })
  const offers = new Offers(reader)
  for (const each of dataset.map(objectOf))
    offers.add(harvestedId(each.identifier), id => offered(url, id, each))
  return offers.result()
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
        language: harvestedLanguage([given.language].flat()[0]),
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
