import { unreadable } from '../sources/source.ts'
import {
  addressOf,
  type CatalogReader,
  fileAddressOf,
  type Given,
  harvestedCount,
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

const PAGE = 100

/** Reads the catalog of a CKAN portal with package_search (Action API 3), page by page. */
export async function readCkan(reader: CatalogReader, url: string): Promise<ReadCatalog> {
  const base = url.replace(/\/+$/, '')
  const offers = new Offers(reader)
  let [found, read, isSteady] = [0, 0, true]
  while (!offers.isFull) {
    const answer = await reader.json(
      `${base}/api/3/action/package_search?rows=${PAGE}&start=${read}&sort=name%20asc`,
    )
    const { results, count } = objectOf(answer.result)
    if (answer.success === false || !Array.isArray(results)) throw refusedAnswer(base, answer)
    // A portal may send fewer than requested (ckan.search.rows_max).
    read += results.length
    const before = found
    found = harvestedCount(count, read, base)
    isSteady &&= read === results.length || found === before
    for (const described of results.map(objectOf))
      offers.add(harvestedId(described.name) ?? harvestedId(described.id), name =>
        offered(base, name, described),
      )
    if (results.length === 0 || read >= found) break
  }
  // What was removed meanwhile moved another dataset to a page that was read before.
  return offers.result(found, isSteady)
}

function refusedAnswer(base: string, { error }: Given): Error {
  const { message, __type: type } = objectOf(error)
  const reason = harvestedText(message) ?? harvestedText(type) ?? harvestedText(error)
  return unreadable(
    `The catalog answers no list of datasets${reason === null ? '' : `, but: ${reason.slice(0, 300)}`}.`,
    { file: base },
    'The address of the portal is expected, without api/3/action.',
  )
}

/** A text, also one in several languages by their codes, as extensions of CKAN have it: the English one, else any. */
function translated(value: unknown): string | null {
  const { en, ...others } = objectOf(value)
  return harvestedTexts([value, en, ...Object.values(others)])?.[0] ?? null
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
  const resource = resources.find(({ url }) => fileAddressOf(url, base) === best.url)
  const modified = harvestedMoment(given.metadata_modified)
  return {
    id: name,
    ...best,
    metas: {
      default: present({
        title: translated(given.title) ?? name,
        description: translated(given.notes) ?? translated(given.description),
        keyword: harvestedTexts(listOf(given.tags).map(tag => objectOf(tag).name)),
        theme: harvestedTexts(listOf(given.groups).map(group => translated(objectOf(group).title))),
        license: harvestedText(given.license_title) ?? harvestedText(given.license_id),
        license_url: addressOf(given.license_url),
        publisher: translated(objectOf(given.organization).title) ?? harvestedText(given.author),
        references: addressOf(given.url),
        language: harvestedLanguage(given.language),
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
