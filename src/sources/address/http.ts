import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Fault } from '../../errors/errors.ts'
import { connectionFailure, FETCH_CURES, refusedAddress, TransientFailure } from './failures.ts'
import { checkAddress, checkedLookup, type FetchContext, type Fetched, type Validators } from './limits.ts'
import { type BodyDecoder, bodyDecoder, saveBody } from './save-body.ts'

const MAX_REDIRECTS = 5

/** Fetches an address by HTTP; see {@link fetchAddress}. Redirects are followed, each checked like the first. */
export async function fetchHttp(
  start: URL,
  file: string,
  known: Validators,
  limits: FetchContext,
  authorization: string | undefined,
): Promise<Fetched> {
  let url = start
  for (let redirects = 0; ; redirects++) {
    checkAddress(url, limits)
    if (!/^https?:$/.test(url.protocol)) throw refusedAddress(start, `it redirects to ${url.protocol}`)
    const isSameHost = url.origin === start.origin
    const response = await ask(url, known, limits, isSameHost ? authorization : undefined)
    const { statusCode = 0, headers } = response
    const { location } = headers
    if (statusCode >= 300 && statusCode < 400 && statusCode !== 304 && location !== undefined) {
      response.destroy()
      if (redirects === MAX_REDIRECTS)
        throw refusedAddress(start, `it redirects more than ${MAX_REDIRECTS} times`)
      url = new URL(location, url)
      continue
    }
    if (statusCode === 304 && (known.etag ?? known.lastModified) !== undefined) {
      response.destroy()
      return { type: 'unchanged' }
    }
    if (statusCode === 429 || statusCode >= 500) {
      response.destroy()
      const wait = pauseOf(headers['retry-after'] ?? '')
      const when = wait === 0 ? '' : ` and asks to wait ${Math.ceil(wait / 1000)} s`
      throw new TransientFailure(`it answers ${statusCode}${when}`, wait)
    }
    if (statusCode !== 200) {
      response.destroy()
      throw refusedAddress(start, `it answers ${statusCode}`, cureOf(statusCode))
    }
    const size = await saveBody(
      response,
      file,
      start,
      limits,
      Number(headers['content-length'] ?? Number.NaN),
      decoderOf(response, start),
    )
    return {
      type: 'changed',
      size,
      mediaType: (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '',
      name: nameOf(url, headers['content-disposition']),
      address: url.href,
      validators: {
        ...(headers.etag === undefined ? {} : { etag: headers.etag }),
        ...(headers['last-modified'] === undefined ? {} : { lastModified: headers['last-modified'] }),
      },
    }
  }
}

/** Milliseconds of a Retry-After header, which are seconds or a date (RFC 9110, 10.2.3); 0 for none. */
function pauseOf(after: string): number {
  const milliseconds = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now()
  return Math.max(0, milliseconds || 0)
}

function decoderOf(response: IncomingMessage, url: URL): BodyDecoder | null {
  try {
    return bodyDecoder(response.headers['content-encoding'], url)
  } catch (error) {
    response.destroy()
    throw error
  }
}

/** Advice for the status of a response. */
function cureOf(status: number): string {
  if (status === 401 || status === 403) return FETCH_CURES.credentials
  if (status === 404 || status === 410) return FETCH_CURES.moved
  return 'Open it in a browser to see its message.'
}

/** Sends a request and returns the response, with its body unread. */
function ask(
  url: URL,
  known: Validators,
  limits: FetchContext,
  authorization: string | undefined,
): Promise<IncomingMessage> {
  const headers = {
    'user-agent': 'Lodestone',
    accept: limits.accept ?? '*/*',
    'accept-encoding': 'identity',
    ...(known.etag === undefined ? {} : { 'if-none-match': known.etag }),
    ...(known.lastModified === undefined ? {} : { 'if-modified-since': known.lastModified }),
    ...(authorization === undefined ? {} : { authorization }),
  }
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const lookup = checkedLookup(url, limits)
    const request = send(url, { headers, lookup, agent: false, signal: limits.late })
    const timer = setTimeout(
      () => request.destroy(refusedAddress(url, `it does not answer within ${limits.idle / 1000} s`)),
      limits.idle,
    )
    request.once('response', response => {
      clearTimeout(timer)
      resolve(response)
    })
    request.once('error', error => {
      clearTimeout(timer)
      reject(
        error instanceof Fault || error instanceof TransientFailure ? error : connectionFailure(error, url),
      )
    })
    request.end()
  })
}

/** The file name of a response: that of its header, else the last segment of the address. */
function nameOf(url: URL, disposition: string | undefined): string {
  const said = /filename\*?=(?:UTF-8'')?"?([^";]+)"?/i.exec(disposition ?? '')?.[1]
  const last = said ?? url.pathname.split('/').findLast(step => step !== '') ?? ''
  try {
    return decodeURIComponent(last).replaceAll(/[/\\]/g, '_')
  } catch {
    return last.replaceAll(/[/\\]/g, '_')
  }
}
