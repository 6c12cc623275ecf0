import { type ChangeType, changeCounts } from '../../catalog/changed-records.ts'
import { XML_DECLARATION, xmlAttribute, xmlText } from '../../model/xml.ts'
import type { VersionDifference } from '../../publishing/versions/changes.ts'
import type { Manifest } from '../../publishing/versions/versions.ts'
import { datasetIri } from '../../rdf/minted-iris.ts'
import { type VersionStep, versionMoment, versionsAddress, versionTitle } from './address.ts'

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
  retained: readonly [Manifest, ...Manifest[]],
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
    `<title>${xmlText(versionTitle(latest))}</title>\n`,
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
  const { id } = later.dataset
  const counts = changeCounts(difference)
  const pair = `from=${encodeURIComponent(earlier.version)}&to=${encodeURIComponent(later.version)}`
  return [
    '<entry>\n',
    `<id>${xmlText(versionIri(base, later))}</id>\n`,
    `<title>${xmlText(summary(counts))}</title>\n`,
    `<updated>${versionMoment(later)}</updated>\n`,
    link('alternate', `${page}?${pair}`, 'text/html'),
    link('related', `${versionsAddress(base, id)}/changes?${pair}`, 'application/json'),
    `<summary>${xmlText(`${later.statistics.records} records. ${later.restored === undefined ? '' : `The version ${later.restored.version} was restored. `}${summary(counts)}.`)}</summary>\n`,
    '</entry>\n',
  ].join('')
}

function firstEntry(base: string, page: string, oldest: Manifest): string {
  return [
    '<entry>\n',
    `<id>${xmlText(versionIri(base, oldest))}</id>\n`,
    `<title>The oldest version that is retained</title>\n`,
    `<updated>${versionMoment(oldest)}</updated>\n`,
    link('alternate', page, 'text/html'),
    `<summary>${oldest.statistics.records} records.</summary>\n`,
    '</entry>\n',
  ].join('')
}

/** The IRI of a dataset in one of its versions. */
export function versionIri(
  base: string,
  { dataset, version }: Pick<Manifest, 'dataset' | 'version'>,
): string {
  return `${datasetIri(base, dataset.id)}?version=${encodeURIComponent(version)}`
}

function summary({ added, removed, changed }: Readonly<Record<ChangeType, number>>): string {
  return `Records: ${added} added, ${removed} removed, ${changed} changed`
}

function publisherOf({ dataset }: Manifest): string {
  const publisher = dataset.metas.default?.publisher
  return typeof publisher === 'string' && publisher !== '' ? publisher : dataset.id
}

function link(rel: string, href: string, type: string | null): string {
  const typed = type === null ? '' : ` type="${type}"`
  return `<link rel="${rel}" href="${xmlAttribute(href)}"${typed}/>\n`
}
