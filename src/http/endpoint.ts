/** The parts of Lodestone that answer requests, as metrics and logs name them. */
const ENDPOINTS: readonly (readonly [prefix: string, endpoint: string])[] = [
  ['/api/explore/', 'explore'],
  ['/api/v2', 'search'],
  ['/api/odata', 'odata'],
  ['/api/tpf', 'fragments'],
  ['/api/qpf', 'fragments'],
  ['/api/sparql', 'sparql'],
  ['/api/void', 'descriptions'],
  ['/api/shapes', 'descriptions'],
  ['/.well-known/void', 'descriptions'],
  ['/.well-known/genid', 'resources'],
  ['/ld/', 'resources'],
  ['/oauth2/', 'oauth'],
  ['/.well-known/o', 'oauth'],
  ['/account', 'account'],
  ['/assets', 'assets'],
  ['/healthz', 'operating'],
  ['/readyz', 'operating'],
  ['/metrics', 'operating'],
]

const known = new Map<string, string>()

/**
 * The endpoint that a route belongs to, `site` for all pages.
 *
 * @param route pattern of the route; empty where an address belongs to none
 */
export function endpointOf(route: string): string {
  const before = known.get(route)
  if (before !== undefined) return before
  const [, found = 'site'] = ENDPOINTS.find(([prefix]) => route.startsWith(prefix)) ?? []
  const endpoint = route === '' ? 'none' : found
  known.set(route, endpoint)
  return endpoint
}
