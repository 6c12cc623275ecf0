import { type ChangeType, changeCounts } from '../../catalog/changed-records.ts'
import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { timeMapAddress, type VersionMoment, withoutVersion, withVersion } from '../../http/memento.ts'
import { addressForLinks } from '../../http/query-string.ts'
import { textValue, titleOf } from '../../model/metadata.ts'
import { XML_DECLARATION, xmlAttribute, xmlText } from '../../model/xml.ts'
import type { VersionDifference } from '../../publishing/versions/changes.ts'
import type { VersionManifest } from '../../publishing/versions/versions.ts'
import { datasetIri } from '../../rdf/minted-iris.ts'

/** A step with its changes. */
export interface DescribedStep extends VersionStep {
  readonly difference: VersionDifference
}

/**
 * The changes of a dataset as a feed with an entry for each version (RFC 4287).
 *
 * @param retained from the latest to the oldest
 */
export function changesFeed(
  base: string,
  retained: readonly [VersionManifest, ...VersionManifest[]],
  steps: readonly DescribedStep[],
): string {
  const [latest] = retained
  const { id } = latest.dataset
  const home = versionsAddress(base, id)
  const page = `${base}/explore/dataset/${encodeURIComponent(id)}/versions/`
  const oldest = retained.at(-1) ?? latest
  return [
    XML_DECLARATION,
    '<feed xmlns="http://www.w3.org/2005/Atom">\n',
    `<id>${xmlText(`${home}/feed`)}</id>\n`,
    `<title>${xmlText(titleOf(latest.dataset))}</title>\n`,
    `<updated>${versionMoment(latest)}</updated>\n`,
    `<author><name>${xmlText(publisherOf(latest))}</name></author>\n`,
    link('self', `${home}/feed`, 'application/atom+xml'),
    link('alternate', page, 'text/html'),
    link('related', datasetIri(base, id), null),
    ...steps.map(step => entry(base, page, step)),
    firstEntry(base, page, oldest),
    '</feed>\n',
  ].join('')
}

function entry(base: string, page: string, { earlier, later, difference }: DescribedStep): string {
  const changes = summary(changeCounts(difference))
  const pair = `from=${encodeURIComponent(earlier.version)}&to=${encodeURIComponent(later.version)}`
  const restored = later.restored === undefined ? '' : `The version ${later.restored.version} was restored. `
  return entryOf(base, later, changes, `${later.statistics.records} records. ${restored}${changes}.`, [
    link('alternate', `${page}?${pair}`, 'text/html'),
    link('related', `${versionsAddress(base, later.dataset.id)}/changes?${pair}`, 'application/json'),
  ])
}

function firstEntry(base: string, page: string, oldest: VersionManifest): string {
  const title = 'The oldest version that is retained'
  const links = [link('alternate', page, 'text/html')]
  return entryOf(base, oldest, title, `${oldest.statistics.records} records.`, links)
}

function entryOf(
  base: string,
  version: VersionManifest,
  title: string,
  text: string,
  links: readonly string[],
): string {
  return [
    '<entry>\n',
    `<id>${xmlText(versionIri(base, version))}</id>\n`,
    `<title>${xmlText(title)}</title>\n`,
    `<updated>${versionMoment(version)}</updated>\n`,
    ...links,
    `<summary>${xmlText(text)}</summary>\n`,
    '</entry>\n',
  ].join('')
}

/** The IRI of a dataset in one of its versions. */
export function versionIri(
  base: string,
  { dataset, version }: Pick<VersionManifest, 'dataset' | 'version'>,
): string {
  return `${datasetIri(base, dataset.id)}?version=${encodeURIComponent(version)}`
}

function summary({ added, removed, changed }: Readonly<Record<ChangeType, number>>): string {
  return `Records: ${added} added, ${removed} removed, ${changed} changed`
}

function publisherOf({ dataset }: VersionManifest): string {
  return textValue(dataset.metas.default?.publisher) || dataset.id
}

function link(rel: string, href: string, type: string | null): string {
  const typed = type === null ? '' : ` type="${type}"`
  return `<link rel="${rel}" href="${xmlAttribute(href)}"${typed}/>\n`
}

/** The media type of a TimeMap (RFC 7089, section 5; RFC 6690). */
export const LINK_FORMAT = 'application/link-format'

/** The addresses that answer from older versions, below that of the portal: the id of their dataset follows. */
const WITH_VERSIONS =
  /^\/(?:ld\/[a-z]+|\.well-known\/genid|api\/(?:explore\/)?v[\d.]+\/[a-z]+\/datasets|api\/[a-z]+)\/([^/.(?]+)/

/** The id of the dataset of an address; null for an address that has no versions. */
function datasetOf(address: string): string | null {
  const [name = '', query = ''] = [WITH_VERSIONS.exec(address)?.[1], address.split('?')[1]]
  return /^(?:\$|%24)metadata$/.test(name) ? new URLSearchParams(query).get('dataset') : name
}

/**
 * The versions of an address as a TimeMap, from the oldest to the latest. Faults: BadRequest for an address of another portal,
 * or of another dataset.
 *
 * @param uri the address whose versions are requested
 */
export function timeMap(
  base: string,
  dataset: string,
  uri: string,
  retained: readonly VersionMoment[],
): string {
  if (!uri.startsWith(`${base}/`) || /[<>"\s\\^`{|}]/.test(uri))
    throw new Fault(BAD_REQUEST, {
      reason: `uri is ${JSON.stringify(uri.slice(0, 200))}: an address that begins with ${base}/ is expected.`,
    })
  if (datasetOf(uri.slice(base.length)) !== dataset)
    throw new Fault(BAD_REQUEST, {
      reason: `uri is ${JSON.stringify(uri.slice(0, 200))}: an address of the dataset ${dataset} is expected, as ${datasetIri(base, dataset)} is.`,
    })
  const original = addressForLinks(withoutVersion(uri))
  const moments = [...retained].reverse()
  const day = ({ published }: VersionMoment) => new Date(published).toUTCString()
  const [first, last] = [moments[0], moments.at(-1)]
  const span = first === undefined || last === undefined ? '' : `; from="${day(first)}"; until="${day(last)}"`
  const relation = (at: number) =>
    [...(at === 0 ? ['first'] : []), ...(at === moments.length - 1 ? ['last'] : []), 'memento'].join(' ')
  const links = [
    `<${original}>; rel="original timegate"`,
    `<${timeMapAddress(base, dataset, original)}>; rel="self"; type="${LINK_FORMAT}"${span}`,
    ...moments.map(
      (moment, at) =>
        `<${withVersion(original, moment.version)}>; rel="${relation(at)}"; datetime="${day(moment)}"`,
    ),
  ]
  return `${links.join(',\n')}\n`
}

/** Base address of the resources about versions of a dataset. */
export function versionsAddress(base: string, dataset: string): string {
  return `${base}/api/versions/${encodeURIComponent(dataset)}`
}

interface VersionStep {
  readonly earlier: VersionManifest
  readonly later: VersionManifest
}

/** The pairs of consecutive versions, the latest first. */
export function stepsOf(retained: readonly VersionManifest[]): readonly VersionStep[] {
  return retained.flatMap((later, at) => {
    const earlier = retained[at + 1]
    return earlier === undefined ? [] : [{ earlier, later }]
  })
}

/** The time of publication in the format of XML Schema and Atom. */
export function versionMoment({ published }: Pick<VersionManifest, 'published'>): string {
  return new Date(published).toISOString()
}
