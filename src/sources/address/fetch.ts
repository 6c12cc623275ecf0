import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { abortAfter } from '../../runtime/abort-after.ts'
import { unreadable } from '../source.ts'
import { refusedAddress, shownAddress, TransientFailure } from './failures.ts'
import { fetchHttp } from './http.ts'
import type { Fetched, FetchLimits, Validators } from './limits.ts'

/** Maximum milliseconds to wait if a response requests it; one that requests more is not tried again by this fetch. */
const MAX_WAIT = 30_000

/**
 * Fetches an address into a file, unless it is unchanged: by HTTP or FTP, with TLS or without. Redirects are followed, each
 * checked like the first; broken connections and responses of 429 and 5xx are retried. Throws SourceUnreadable, and leaves no
 * file, for everything else: a host that is not allowed, a private address (also if a name resolves to it, and after a redirect),
 * more bytes or time than allowed, silence, an error.
 *
 * @param authorization value of the Authorization header of HTTP, sent only to the host of the address; FTP takes name and
 * password from `Basic …`
 */
export async function fetchAddress(
  url: string,
  file: string,
  known: Validators,
  limits: FetchLimits,
  authorization?: string,
): Promise<Fetched> {
  const { duration, signal } = limits
  const late = signal === undefined ? abortAfter(duration) : abortAfter(duration, signal)
  const context = { ...limits, late }
  for (let attempt = 0; ; attempt++) {
    try {
      const isFtp = new URL(url).protocol.startsWith('ftp')
      const fetchOnce = isFtp ? (await import('./ftp.ts')).fetchFtp : fetchHttp
      return await fetchOnce(new URL(url), file, known, context, authorization)
    } catch (error) {
      rmSync(file, { force: true })
      if (late.aborted && !(error instanceof Fault)) throw tooSlow(url, limits)
      const pause = limits.pauses[attempt]
      if (!(error instanceof TransientFailure) || pause === undefined || error.wait > MAX_WAIT)
        throw faultOf(error, url)
      const wait = Math.max(pause, error.wait)
      await ignoreRejection(sleep(wait, undefined, { signal: late }), 'there is no further attempt')
      if (late.aborted) throw tooSlow(url, limits)
    }
  }
}

function tooSlow(url: string, { duration, origin }: FetchLimits): Error {
  return refusedAddress(
    new URL(url),
    `it takes more than ${duration / 1000} s`,
    origin?.duration ?? 'The setting source_duration allows more time.',
  )
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
