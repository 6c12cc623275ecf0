import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import { createWriteStream, rmSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { BlockList, isIP } from 'node:net'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../errors/errors.ts'
import { unreadable } from './unreadable.ts'

/** What may be fetched, and how much. */
export interface FetchLimits {
  /** Hosts that may be fetched from, `*.example.org` for all below one; absent, all. */
  readonly hosts?: readonly string[]
  /** Hosts in private networks that may be fetched from. */
  readonly privateHosts: readonly string[]
  /** Bytes of an answer. */
  readonly size: number
  /** Milliseconds without any byte after which an address is given up. */
  readonly idle: number
  /** Milliseconds before the first and between further attempts; as many more attempts as there are. */
  readonly pauses: readonly number[]
}

/** What is known of an address from the last time. */
export interface Validators {
  readonly etag?: string
  readonly lastModified?: string
}

/** What a fetch found. */
export type Fetched =
  | { readonly type: 'unchanged' }
  | {
      readonly type: 'changed'
      readonly size: number
      readonly mediaType: string
      readonly name: string
      readonly validators: Validators
    }

const MAX_REDIRECTS = 5

/** Longest time that is waited for because an answer asks for it, in milliseconds. */
const MAX_WAIT = 30_000

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
  ['::', 128],
  ['::1', 128],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  PRIVATE.addSubnet(address, bits, 'ipv6')

/** True for an IP address that only a private network, or the machine itself, has. */
export function isPrivateAddress(address: string): boolean {
  const mapped = /^::ffff:(?:0:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return isPrivateAddress(mapped)
  const family = isIP(address)
  if (family === 0) return true
  // Mapped addresses in hexadecimal, and other forms of IPv4 within IPv6.
  if (family === 6 && /^(?:0*:)*:?(?:0*:)*ffff:/i.test(address)) return true
  return PRIVATE.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/**
 * Fetches an address into a file, unless it is as it was. Redirects are followed, each checked like the first; broken connections and
 * answers of 429 and 5xx are tried again. Throws SourceUnreadable, and leaves no file, for everything else: a host that is not allowed, a
 * private address (also of a name, and after a redirect), more bytes than allowed, silence, an error.
 *
 * @param authorization value of the header, sent to the host of the address alone
 */
export async function fetchAddress(
  url: string,
  file: string,
  known: Validators,
  limits: FetchLimits,
  authorization?: string,
): Promise<Fetched> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await fetchOnce(new URL(url), file, known, limits, authorization)
    } catch (error) {
      rmSync(file, { force: true })
      const pause = limits.pauses[attempt]
      if (!(error instanceof Passing) || pause === undefined) throw faultOf(error, url)
      await sleep(Math.min(MAX_WAIT, Math.max(pause, error.wait)))
    }
  }
}

/** A failure that may be gone the next time. */
class Passing extends Error {
  readonly wait: number

  constructor(message: string, wait = 0) {
    super(message)
    this.wait = wait
  }
}

function faultOf(error: unknown, url: string): Error {
  if (error instanceof Fault) return error
  const message = error instanceof Error ? error.message : String(error)
  return unreadable(
    `The address cannot be fetched: ${message}.`,
    { file: shownAddress(url) },
    'Check that it is right and that this machine reaches it, and try again.',
    error,
  )
}

/** An address as it may be shown: without its query, which may hold a secret. */
function shownAddress(url: string): string {
  const { origin, pathname, search } = new URL(url)
  return `${origin}${pathname}${search === '' ? '' : '?…'}`
}

async function fetchOnce(
  start: URL,
  file: string,
  known: Validators,
  limits: FetchLimits,
  authorization: string | undefined,
): Promise<Fetched> {
  let url = start
  for (let redirects = 0; ; redirects++) {
    checkAddress(url, limits)
    const isSameHost = url.origin === start.origin
    const response = await ask(url, known, limits, isSameHost ? authorization : undefined)
    const { statusCode = 0, headers } = response
    const { location } = headers
    if (statusCode >= 300 && statusCode < 400 && statusCode !== 304 && location !== undefined) {
      response.destroy()
      if (redirects === MAX_REDIRECTS) throw refused(start, `it redirects more than ${MAX_REDIRECTS} times`)
      url = new URL(location, url)
      continue
    }
    if (statusCode === 304) {
      response.destroy()
      return { type: 'unchanged' }
    }
    if (statusCode === 429 || statusCode >= 500) {
      response.destroy()
      throw new Passing(`it answers ${statusCode}`, Number(headers['retry-after'] ?? 0) * 1000 || 0)
    }
    if (statusCode !== 200) {
      response.destroy()
      throw refused(start, `it answers ${statusCode}`, cureOf(statusCode))
    }
    const size = await save(response, file, start, limits)
    return {
      type: 'changed',
      size,
      mediaType: (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '',
      name: nameOf(url, headers['content-disposition']),
      validators: {
        ...(headers.etag === undefined ? {} : { etag: headers.etag }),
        ...(headers['last-modified'] === undefined ? {} : { lastModified: headers['last-modified'] }),
      },
    }
  }
}

function refused(url: URL, why: string, cure?: string): Error {
  return unreadable(`The address is refused: ${why}.`, { file: shownAddress(url.href) }, cure)
}

/** What can be done about the status of an answer. */
function cureOf(status: number): string {
  if (status === 401 || status === 403)
    return 'Name an environment variable that has its credentials with authorization.'
  if (status === 404 || status === 410) return 'Ask its publisher where the file is now, and correct the url.'
  return 'Open it in a browser to see what it says.'
}

/** Refuses addresses of other protocols, with credentials, and hosts that are not allowed or private. */
function checkAddress(url: URL, { hosts, privateHosts }: FetchLimits): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refused(url, `${url.protocol} is not a protocol that is fetched; http: and https: are`)
  if (url.username !== '' || url.password !== '')
    throw refused(url, 'it holds credentials; name an environment variable with authorization instead')
  const host = hostOf(url)
  if (hosts !== undefined && !isAmong(host, hosts) && !isAmong(host, privateHosts))
    throw refused(url, `${host} is not one of source_hosts`)
  if (isIP(host) !== 0 && isPrivateAddress(host) && !isAmong(host, privateHosts))
    throw refused(url, `${host} is a private address; source_private_hosts allows it`)
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').toLowerCase()
}

function isAmong(host: string, hosts: readonly string[]): boolean {
  return hosts.some(allowed => {
    const plain = allowed.toLowerCase()
    return plain.startsWith('*.') ? host.endsWith(plain.slice(1)) : host === plain
  })
}

/** Sends a request and gives the answer, its body not yet read. The name is looked up once, and what was checked is what is connected to. */
function ask(
  url: URL,
  known: Validators,
  limits: FetchLimits,
  authorization: string | undefined,
): Promise<IncomingMessage> {
  const host = hostOf(url)
  const isAllowed = isAmong(host, limits.privateHosts)
  const headers = {
    'user-agent': 'Lodestone',
    accept: '*/*',
    'accept-encoding': 'identity',
    ...(known.etag === undefined ? {} : { 'if-none-match': known.etag }),
    ...(known.lastModified === undefined ? {} : { 'if-modified-since': known.lastModified }),
    ...(authorization === undefined ? {} : { authorization }),
  }
  const lookup = (
    name: string,
    options: object,
    done: (error: Error | null, address: never, family?: number) => void,
  ) => {
    dnsLookup(name, { ...options, all: true }, (error, found) => {
      const addresses = found as LookupAddress[] | undefined
      const wrong = isAllowed ? undefined : addresses?.find(({ address }) => isPrivateAddress(address))
      if (error !== null) done(new Passing(`${name} cannot be looked up (${error.code})`), undefined as never)
      else if (wrong !== undefined || addresses?.[0] === undefined)
        done(
          refused(
            url,
            `${name} stands for the private address ${wrong?.address}; source_private_hosts allows it`,
          ),
          undefined as never,
        )
      else if ((options as { all?: boolean }).all === true) done(null, addresses as never)
      else done(null, addresses[0].address as never, addresses[0].family)
    })
  }
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = send(url, { headers, lookup: lookup as never, agent: false })
    const timer = setTimeout(
      () => request.destroy(refused(url, `it does not answer within ${limits.idle / 1000} s`)),
      limits.idle,
    )
    request.once('response', response => {
      clearTimeout(timer)
      resolve(response)
    })
    request.once('error', error => {
      clearTimeout(timer)
      reject(error instanceof Fault || error instanceof Passing ? error : new Passing(error.message))
    })
    request.end()
  })
}

/** Writes the body into a file; gives its bytes. */
async function save(response: IncomingMessage, file: string, url: URL, limits: FetchLimits): Promise<number> {
  const tooLong = () => refused(url, `it sends more than ${limits.size} bytes; source_size allows more`)
  const expected = Number(response.headers['content-length'] ?? Number.NaN)
  if (expected > limits.size) {
    response.destroy()
    throw tooLong()
  }
  let size = 0
  let isSilent = false
  let timer: NodeJS.Timeout | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      isSilent = true
      response.destroy()
    }, limits.idle)
  }
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      wait()
      size += chunk.length
      if (size > limits.size) done(tooLong())
      else done(null, chunk)
    },
  })
  wait()
  try {
    await pipeline(response, counted, createWriteStream(file))
  } catch (error) {
    if (isSilent) throw refused(url, `it sends nothing for ${limits.idle / 1000} s`)
    throw error instanceof Fault ? error : new Passing(`the connection broke after ${size} bytes`)
  } finally {
    clearTimeout(timer)
    response.destroy()
  }
  if (Number.isFinite(expected) && size < expected)
    throw new Passing(`the connection broke after ${size} of ${expected} bytes`)
  if (size === 0) throw refused(url, 'it sends nothing')
  return size
}

/** The name of the file that an answer is: as it says itself, else the last step of the address. */
function nameOf(url: URL, disposition: string | undefined): string {
  const said = /filename\*?=(?:UTF-8'')?"?([^";]+)"?/i.exec(disposition ?? '')?.[1]
  const last = said ?? url.pathname.split('/').findLast(step => step !== '') ?? ''
  try {
    return decodeURIComponent(last).replaceAll(/[/\\]/g, '_')
  } catch {
    return last.replaceAll(/[/\\]/g, '_')
  }
}
