import { datasetFragmentsAddress, sparqlAddress } from '../../catalog/void.ts'
import { usageFault } from '../../config/faults.ts'
import { BAD_GATEWAY, Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { CREDENTIAL_INVALID } from '../../http/authenticate.ts'
import { suggestionHint } from '../../publishing/suggested-dataset.ts'

/** Protocols for querying a dataset of the portal. */
export const PROTOCOLS = ['fragments', 'brtpf', 'sparql'] as const
export type Protocol = (typeof PROTOCOLS)[number]

/** A source of Comunica: an address whose type it detects, or one with a given type. */
export type QuerySource = string | { readonly type: string; readonly value: string }

/** Types of sources that may precede an address: `sparql@https://…` */
const KINDS: readonly string[] = ['file', 'sparql', 'qpf', 'brtpf', 'hypermedia', 'rdfjs', 'serialized']

/**
 * The sources of a query: datasets of the portal by id, separated by commas, other portals by the addresses of their fragments or
 * endpoints, and any other source that Comunica supports.
 *
 * @param named the arguments before the query on the command line
 * @param foreign addresses, with a type in front if it cannot be detected
 */
export function querySources(
  named: readonly string[],
  foreign: readonly string[],
  { base, protocol }: { readonly base: string; readonly protocol: Protocol },
): readonly QuerySource[] {
  // A source that is named twice would return each of its triples twice.
  const datasets = new Set(
    named.flatMap(text => (isSourceAddress(text) ? [text] : text.split(','))).filter(id => id !== ''),
  )
  const sources = [
    ...[...datasets].map(text =>
      isSourceAddress(text) ? foreignSource(text) : datasetSource(text, base, protocol),
    ),
    ...foreign.map(foreignSource),
  ]
  if (sources.length === 0) throw usageFault('name a dataset before the query, or a source with --source.')
  return sources
}

/** Sends requests like `fetch`, with an API key for the portal itself and for no other host. */
export function fetchWithKey(base: string, key: string): typeof fetch {
  const { origin, pathname } = new URL(base.endsWith('/') ? base : `${base}/`)
  return (input, init) => {
    const { url } = new Request(input)
    const requested = new URL(url)
    if (requested.origin !== origin || !requested.pathname.startsWith(pathname)) return fetch(input, init)
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined))
    headers.set('authorization', `Apikey ${key}`)
    return fetch(input, { ...init, headers, redirect: 'manual' })
  }
}

/**
 * Reports which dataset is not served, or that there is no portal. Faults: NotFoundResource, BadGateway, CredentialInvalid.
 *
 * @param known ids to suggest instead of one that is not served
 */
export async function checkDatasets(
  sources: readonly QuerySource[],
  base: string,
  known: readonly string[],
  send: typeof fetch = fetch,
): Promise<void> {
  const own = datasetFragmentsAddress(base, '')
  const addresses = sources
    .map(source => (typeof source === 'string' ? source : source.value).replace('/api/sparql/', '/api/tpf/'))
    .flatMap(address => (address.startsWith(own) ? [address] : []))
  for (const address of new Set(addresses)) {
    const id = decodeURIComponent(address.slice(own.length).replace(/\?.*/s, ''))
    const answer = await send(address, { method: 'HEAD' }).catch(cause => {
      throw new Fault(BAD_GATEWAY, { reason: `no portal answers at ${base}: is it being served?` }, { cause })
    })
    if (answer.status === 404)
      throw new Fault(NOT_FOUND_RESOURCE, { kind: 'dataset', id }, suggestionHint(id, known))
    if (answer.status === 401)
      throw new Fault(CREDENTIAL_INVALID, {
        reason: `the dataset ${id} is not public: give an API key that is valid with --key`,
      })
    if (answer.status === 403)
      throw new Fault(CREDENTIAL_INVALID, {
        reason: `the dataset ${id} is not granted to the user of this key`,
      })
  }
}

function datasetSource(id: string, base: string, protocol: Protocol): QuerySource {
  // Without a type Comunica reads the description of the endpoint, and leaves it the functions that it has.
  if (protocol === 'sparql') return sparqlAddress(base, id)
  return { type: protocol === 'brtpf' ? 'brtpf' : 'qpf', value: datasetFragmentsAddress(base, id) }
}

function foreignSource(text: string): QuerySource {
  const at = text.indexOf('@')
  const kind = text.slice(0, Math.max(0, at))
  return KINDS.includes(kind) ? { type: kind, value: text.slice(at + 1) } : text
}

/** Whether an argument is an address, perhaps with its type in front, and not the id of a dataset. */
export function isSourceAddress(text: string): boolean {
  return /^(?:[a-z]+@)?(?:https?|file):/i.test(text)
}
