import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * The address of the client that asks, behind reverse proxies of which each appends to X-Forwarded-For whom it was asked
 * by. What stands further to the left may be made up by the client, and is not read.
 *
 * @param proxies how many proxies in front are believed: the entry of the outermost of them is taken, which is that many
 * from the right; where it is missing or no address, the other end of the connection
 * @returns an address without port, brackets and zone, IPv4 also where it came mapped into IPv6; empty where nothing is known
 */
export function clientAddress({ headers, socket }: Message, proxies: number): string {
  const forwarded = proxies > 0 ? headers['x-forwarded-for'] : undefined
  if (forwarded !== undefined) {
    const address = plainAddress(entryFromRight(String(forwarded), proxies))
    if (address !== null) return copyOf(address)
  }
  const known = ends.get(socket)
  if (known !== undefined) return known
  const { remoteAddress = '' } = socket
  const address = remoteAddress.includes(':') ? (plainAddress(remoteAddress) ?? '') : remoteAddress
  if (address !== '') ends.set(socket, address)
  return address
}

/** The other ends of connections, which stay the same as long as those live. */
const ends = new WeakMap<object, string>()

type Message = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/**
 * Whom an address stands for when calls are counted: an IPv4 address for itself, an IPv6 address for its first 64 bits,
 * for one client has all that begin with them.
 */
export function addressSubject(address: string): string {
  return address.includes(':') ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address
}

function entryFromRight(list: string, place: number): string {
  let end = list.length
  for (let passed = 1; passed < place; passed++) {
    end = list.lastIndexOf(',', end - 1)
    if (end <= 0) return ''
  }
  return list.slice(list.lastIndexOf(',', end - 1) + 1, end)
}

/** An address as it is written in a header, bare; null for none. */
function plainAddress(text: string): string | null {
  const entry = text.trim()
  if (entry.length > MAX_LENGTH) return null
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry
  const address = bare.replace(/%.*$/, '')
  switch (isIP(address)) {
    case 4:
      return address
    case 6:
      return unmapped(address.toLowerCase())
    default:
      return null
  }
}

/** A text of its own: a part of a header holds all of that in memory for as long as it is remembered. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** An IPv6 address with a zone, a port and brackets is shorter. */
const MAX_LENGTH = 100

function unmapped(address: string): string {
  if (!address.includes(':ffff:')) return address
  const groups = groupsOf(address)
  if (groups.slice(0, 5).some(group => group !== '0') || groups[5] !== 'ffff') return address
  const [high = 0, low = 0] = groups.slice(6).map(group => Number.parseInt(group, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): readonly string[] {
  const [left = [], right] = address.split('::').map(groupsWritten)
  if (right === undefined) return left
  const between = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
  return [...left, ...between, ...right]
}

/** The groups that are written in a part of an IPv6 address, whose last 32 bits may be written as IPv4. */
function groupsWritten(part: string): readonly string[] {
  if (part === '') return []
  return part.split(':').flatMap(group => {
    if (!group.includes('.')) return group.replace(/^0+(?=.)/, '')
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)]
  })
}
