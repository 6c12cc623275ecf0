import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * The address of the client, behind reverse proxies that each append the address of their peer to X-Forwarded-For. Entries
 * further to the left may be forged by the client, and are not read.
 *
 * @param proxies number of trusted proxies: the entry at this position from the right is used; if it is missing or no
 * address, the peer of the connection
 * @returns an address without port, brackets and zone, IPv4 also if it came mapped into IPv6; empty if unknown
 */
export function clientAddress({ headers, socket }: Message, proxies: number): string {
  const forwarded = proxies > 0 ? headers['x-forwarded-for'] : undefined
  if (forwarded !== undefined) {
    const address = plainAddress(entryFromRight(String(forwarded), proxies))
    // A copy: a slice of a header would retain the whole header in memory.
    if (address !== null) return Buffer.from(address, 'latin1').toString('latin1')
  }
  // A request that was destroyed, as by a body beyond the limit, has none.
  if (socket === null) return ''
  const known = ends.get(socket)
  if (known !== undefined) return known
  const { remoteAddress = '' } = socket
  const address = remoteAddress.includes(':') ? (plainAddress(remoteAddress) ?? '') : remoteAddress
  if (address !== '') ends.set(socket, address)
  return address
}

/** Peer addresses by connection: they stay the same as long as it lives. */
const ends = new WeakMap<object, string>()

type Message = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined } | null
}

/**
 * The subject under which calls of an address are counted: the IPv4 address, or the first 64 bits of an IPv6 address, since
 * one client usually has that whole network.
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

/** The bare address of a header entry; null if it is none. */
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

/** Longer entries are no addresses: an IPv6 address with a zone, a port and brackets is shorter. */
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
