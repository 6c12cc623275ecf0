import type { ReadableStream } from 'node:stream/web'
import { abortAfter } from '../runtime/abort-after.ts'

/** A portal of the network as configured in portal.yaml. */
export interface Member {
  /** Public address, without trailing slash. */
  readonly url: string
  /** The part after the @ in the ids of its datasets. */
  readonly domain: string
}

/** The response of a portal. */
export interface MemberAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: ReadableStream<Uint8Array> | null
}

/** A portal of the network that cannot be reached, or whose response is invalid. */
export class MemberUnavailable extends Error {}

export interface RequestLimits {
  /** Timeout in milliseconds for the start of the response. */
  readonly timeout: number
  /** Timeout in milliseconds for the whole response. */
  readonly deadline: number
}

/** Maximum redirections that are followed, all within the configured address. */
const MAX_REDIRECTIONS = 3

/**
 * Sends a request to a portal of the network. Only the configured origin is ever contacted: a redirection to another one counts
 * as a failure. Credentials are never sent. Throws {@link MemberUnavailable}.
 *
 * @param address path and query relative to the address of the portal
 */
export async function requestMember(
  { url, domain }: Member,
  address: string,
  { timeout, deadline }: RequestLimits,
): Promise<MemberAnswer> {
  const { origin } = new URL(url)
  const control = new AbortController()
  const signal = abortAfter(deadline, control.signal)
  const timer = setTimeout(() => control.abort(new Error(`no answer within ${timeout} ms`)), timeout)
  try {
    let at = new URL(url + address)
    for (let redirections = 0; redirections <= MAX_REDIRECTIONS; redirections++) {
      if (at.origin !== origin) throw new Error(`it redirects to another origin, ${at.origin}`)
      const headers = { accept: 'application/json', 'user-agent': 'Lodestone' }
      const response = await fetch(at, { headers, redirect: 'manual', credentials: 'omit', signal })
      const location = response.headers.get('location')
      if (response.status < 300 || response.status >= 400 || location === null)
        return {
          status: response.status,
          contentType: response.headers.get('content-type') ?? '',
          body: response.body as ReadableStream<Uint8Array> | null,
        }
      await response.body?.cancel()
      at = new URL(location, at)
    }
    throw new Error('it redirects without end')
  } catch (cause) {
    throw new MemberUnavailable(`The portal ${domain} could not be asked: ${reasonOf(cause)}.`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

/** Reads a JSON response of limited size in bytes. Throws {@link MemberUnavailable}. */
export async function readJson({ domain }: Member, answer: MemberAnswer, max: number): Promise<unknown> {
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    for await (const piece of answer.body ?? []) {
      length += piece.byteLength
      if (length > max) throw new Error(`its answer has more than ${max} bytes`)
      pieces.push(piece)
    }
    return JSON.parse(Buffer.concat(pieces).toString('utf8'))
  } catch (cause) {
    throw new MemberUnavailable(`The portal ${domain} could not be read: ${reasonOf(cause)}.`, { cause })
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'it failed'
  const inner = cause.cause instanceof Error ? cause.cause.message : ''
  return inner === '' ? cause.message : inner
}
