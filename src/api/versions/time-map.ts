import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { addressForLinks } from '../../http/query-string.ts'
import { timeMapAddress, type VersionMoment, withoutVersion, withVersion } from '../../http/versions.ts'
import { datasetIri } from '../../rdf/minted-iris.ts'

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
