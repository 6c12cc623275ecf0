import { lookup as dnsLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { refusedAddress, TransientFailure } from './failures.ts'

/** Limits of fetching. */
export interface FetchLimits {
  /** Hosts that may be fetched from, `*.example.org` for all subdomains; if absent, all. */
  readonly hosts?: readonly string[]
  readonly privateHosts: readonly string[]
  /** Maximum bytes of a response. */
  readonly size: number
  /** Milliseconds without data after which a fetch is aborted. */
  readonly idle: number
  /** Maximum milliseconds of a fetch, with all its redirects and retries. */
  readonly duration: number
  /** Gives the fetch up when it is aborted. */
  readonly signal?: AbortSignal
  /** Pauses in milliseconds before each retry; their number is the number of retries. */
  readonly pauses: readonly number[]
  /** What else than the settings limits size and duration, for messages: the end of the sentence about the size, a sentence about the duration. */
  readonly origin?: { readonly size?: string; readonly duration?: string }
  /** Media types that are preferred, as in an Accept header; any by default. */
  readonly accept?: string
}

/** The limits of a fetch that has begun. */
export interface FetchContext extends FetchLimits {
  /** Aborted when the maximum duration is over, or the fetch is given up. */
  readonly late: AbortSignal
}

/** What is known of an address from the previous fetch. */
export interface Validators {
  readonly etag?: string
  readonly lastModified?: string
}

/** The result of a fetch. */
export type Fetched =
  | { readonly type: 'unchanged' }
  | {
      readonly type: 'changed'
      readonly size: number
      readonly mediaType: string
      readonly name: string
      /** The address that answered, after redirects. */
      readonly address: string
      readonly validators: Validators
    }

const PRIVATE = new BlockList()
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  PRIVATE.addSubnet(address, bits, 'ipv4')
for (const [address, bits] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
] as const)
  PRIVATE.addSubnet(address, bits, 'ipv6')

/** True for an IP address of a private network or of the machine itself. */
export function isPrivateAddress(address: string): boolean {
  const mapped = /^::ffff:(?:0:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return isPrivateAddress(mapped)
  const family = isIP(address)
  if (family === 0) return true
  // Mapped addresses in hexadecimal, and other notations of IPv4 within IPv6.
  if (family === 6 && /^(?:0*:)*:?(?:0*:)*ffff:/i.test(address)) return true
  return PRIVATE.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

const PROTOCOLS = ['http:', 'https:', 'ftp:', 'ftps:']

/** Refuses addresses with other protocols or with credentials, and hosts that are not allowed or private. */
export function checkAddress(url: URL, { hosts, privateHosts }: FetchLimits): void {
  if (!PROTOCOLS.includes(url.protocol))
    throw refusedAddress(
      url,
      `${url.protocol} is not a protocol that is fetched; ${PROTOCOLS.join(', ')} are`,
    )
  if (url.username !== '' || url.password !== '')
    throw refusedAddress(url, 'it holds credentials; name an environment variable with authorization instead')
  const host = hostOf(url)
  if (hosts !== undefined && !isAmong(host, hosts) && !isAmong(host, privateHosts))
    throw refusedAddress(url, `${host} is not one of source_hosts`)
  if (isIP(host) !== 0 && isPrivateAddress(host) && !isAmong(host, privateHosts))
    throw refusedAddress(url, `${host} is a private address; source_private_hosts allows it`)
}

/** The host name or IP address of an address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').toLowerCase()
}

function isAmong(host: string, hosts: readonly string[]): boolean {
  return hosts.some(allowed => {
    const plain = allowed.toLowerCase()
    return plain.startsWith('*.') ? host.endsWith(plain.slice(1)) : host === plain
  })
}

/**
 * A lookup function for sockets of Node, for the host of an address: a name that resolves to a private address is refused, and
 * the connection uses the checked address.
 */
export function checkedLookup(url: URL, { privateHosts }: FetchLimits): LookupFunction {
  const isAllowed = isAmong(hostOf(url), privateHosts)
  return (name, options, done) =>
    dnsLookup(name, { ...options, all: true }, (error, addresses) => {
      const wrong = isAllowed ? undefined : addresses?.find(({ address }) => isPrivateAddress(address))
      if (error !== null) done(new TransientFailure(`${name} cannot be looked up (${error.code})`), '')
      else if (wrong !== undefined || addresses[0] === undefined)
        done(
          refusedAddress(
            url,
            `${name} resolves to the private address ${wrong?.address}; source_private_hosts allows it`,
          ),
          '',
        )
      else if (options.all === true) done(null, addresses)
      else done(null, addresses[0].address, addresses[0].family)
    })
}
