import { optionNamed } from './options.ts'

/** Where a service is. */
export interface ODataAddresses {
  /** Public address of its root without trailing slash: `https://host/api/odata`. */
  readonly root: string
}

/**
 * The address of the page after this one: absolute, the request as it was written with another `$skiptoken`, which counts
 * the entities passed (OData service 2.4).
 *
 * @param below path and query of the request as they were sent, from below the root of the service on
 */
export function nextLink({ root }: ODataAddresses, below: string, passed: number): string {
  const end = below.indexOf('?')
  const path = end < 0 ? below : below.slice(0, end)
  const options = end < 0 ? [] : below.slice(end + 1).split('&')
  const cached = options.filter(option => option !== '' && optionNamed(option) !== 'skiptoken')
  return `${root}${path}?${[...cached, `$skiptoken=${passed}`].join('&')}`
}
