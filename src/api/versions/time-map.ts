import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { timeMapAddress, type VersionMoment, withoutVersion, withVersion } from '../../http/versions.ts'

/** The media type of a TimeMap (RFC 7089, section 5; RFC 6690). */
export const LINK_FORMAT = 'application/link-format'

/**
 * The versions of an address as a TimeMap, from the oldest to the latest. Faults: BadRequest for an address of another portal.
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
  const original = withoutVersion(uri)
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
