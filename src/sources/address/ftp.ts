import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { PassThrough } from 'node:stream'
import { Client, FTPError } from 'basic-ftp'
import { Fault } from '../../errors/errors.ts'
import { withoutCredentials } from '../../model/credentials.ts'
import { connectionFailure, cutLine, FETCH_CURES, refusedAddress, TransientFailure } from './failures.ts'
import {
  checkAddress,
  checkedLookup,
  type FetchContext,
  type Fetched,
  type FetchLimits,
  hostOf,
  type Validators,
} from './limits.ts'
import { saveBody } from './save-body.ts'

/** Port of FTP with TLS from the first byte on; at other ports `ftps:` requests TLS (RFC 4217). */
const IMPLICIT = 990

/**
 * Fetches an address by FTP (RFC 959, 1738), `ftps:` with TLS; see {@link fetchAddress}. Data connections are passive and to the
 * host of the address alone. A file of the same time and size is considered unchanged; if the server reports neither, the file is
 * always read completely.
 */
export async function fetchFtp(
  url: URL,
  file: string,
  known: Validators,
  limits: FetchContext,
  authorization: string | undefined,
): Promise<Fetched> {
  checkAddress(url, limits)
  const path = pathOf(url)
  const credentials = credentialsOf(url, authorization)
  const client = new Client(limits.idle)
  const stop = () => client.close()
  limits.late.addEventListener('abort', stop, { once: true })
  try {
    await connect(client, url, limits)
    await client.login(...credentials)
    await client.useDefaultSettings()
    const size = await optional(client.size(path))
    const modified = await optional(client.lastMod(path))
    const validators =
      modified === null || size === null
        ? {}
        : { etag: etagOf(size, modified), lastModified: modified.toUTCString() }
    if (validators.etag !== undefined && validators.etag === known.etag) return { type: 'unchanged' }
    const body = new PassThrough()
    const saved = saveBody(body, file, url, limits, size ?? Number.NaN)
    // An error of the body ends the transfer, and vice versa.
    saved.catch(() => client.close())
    await client.downloadTo(body, path).catch(async (error: unknown) => {
      body.destroy()
      const reason = await saved.catch((failure: unknown) => failure)
      throw reason instanceof Fault && !(error instanceof FTPError) ? reason : error
    })
    const name = path.split('/').findLast(step => step !== '') ?? ''
    return { type: 'changed', size: await saved, mediaType: '', name, address: url.href, validators }
  } catch (error) {
    throw failureOf(error, url, limits, authorization === undefined ? null : credentials)
  } finally {
    limits.late.removeEventListener('abort', stop)
    client.close()
  }
}

async function connect(client: Client, url: URL, limits: FetchLimits): Promise<void> {
  const host = hostOf(url)
  const address = await addressOf(url, limits)
  // The host name that the certificate must have.
  const tls = isIP(host) === 0 ? { servername: host } : { host }
  const isSecure = url.protocol === 'ftps:'
  const port = url.port === '' ? (isSecure ? IMPLICIT : 21) : Number(url.port)
  if (isSecure && port === IMPLICIT) {
    await client.connectImplicitTLS(address, port, tls)
    return
  }
  await client.connect(address, port)
  if (isSecure) await client.useTLS(tls)
}

/** The checked IP address for the connection. */
function addressOf(url: URL, limits: FetchLimits): Promise<string> {
  return new Promise((resolve, reject) => {
    checkedLookup(url, limits)(hostOf(url), {}, (error, address) =>
      error === null ? resolve(String(address)) : reject(error),
    )
  })
}

/** The path for the server: relative to the initial folder, or absolute if it begins with `%2F`. */
function pathOf(url: URL): string {
  const plain = url.pathname.slice(1).replace(/;type=[aid]$/i, '')
  let path: string
  try {
    path = decodeURIComponent(plain)
  } catch {
    throw refusedAddress(url, 'its path is not encoded as UTF-8')
  }
  // A line break would end the command and start another.
  if (path === '' || path.endsWith('/') || /\p{Cc}/u.test(path))
    throw refusedAddress(
      url,
      'its path names no file',
      'Give the path of one file, such as ftp://example.org/data/trees.csv.',
    )
  return path
}

/** Name and password from the value of an HTTP Authorization header; those of an anonymous user if there is none. */
function credentialsOf(url: URL, authorization: string | undefined): [user: string, password: string] {
  if (authorization === undefined) return ['anonymous', 'lodestone@']
  const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(authorization) ?? []
  const [, user, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? []
  if (user === undefined || password === undefined || /\p{Cc}/u.test(user + password))
    throw refusedAddress(
      url,
      'its authorization is not Basic',
      'FTP takes a name and a password: Basic, and both in base64.',
    )
  return [user, password]
}

/** Null if the server does not support the command. */
async function optional<Value>(answer: Promise<Value>): Promise<Value | null> {
  try {
    return await answer
  } catch (error) {
    // Servers also reply 550 to an unknown command: whether the file exists is found when it is read.
    if (error instanceof FTPError && error.code >= 500) return null
    throw error
  }
}

function etagOf(size: number, modified: Date): string {
  return `"${createHash('sha256').update(`${size} ${modified.toISOString()}`).digest('hex').slice(0, 16)}"`
}

function failureOf(
  error: unknown,
  url: URL,
  limits: FetchLimits,
  credentials: readonly string[] | null,
): unknown {
  if (error instanceof Fault || error instanceof TransientFailure) return error
  if (!(error instanceof Error)) return new TransientFailure(String(error))
  if (error instanceof FTPError) {
    const words = wordsOf(error.message, credentials ?? [])
    const reason = `it answers ${error.code}${words === '' ? '' : ` (${words})`}`
    const tls = url.protocol === 'ftp:' && NEEDS_TLS.test(words)
    if (error.code < 500 && !tls) return new TransientFailure(reason)
    return refusedAddress(url, reason, tls ? tlsCure(url) : cureOf(error.code, words, credentials !== null))
  }
  if (/^Timeout/.test(error.message))
    return refusedAddress(url, `it sends nothing for ${limits.idle / 1000} s`)
  return connectionFailure(error, url)
}

/** The text of a reply without its code, on one line, cut, without the credentials that were sent. */
function wordsOf(message: string, credentials: readonly string[]): string {
  const lines = message.replaceAll(/^\d{3}(?:[ -]|$)/gm, '')
  const secrets = credentials.filter(each => each !== '').toSorted((a, b) => b.length - a.length)
  const cleaned = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), lines)
  return cutLine(withoutCredentials(cleaned))
}

/** Replies of servers that refuse connections without TLS. */
const NEEDS_TLS = /\b(?:SSL|TLS|encrypt\w*|clear-?text)\b|\bAUTH first\b/i

/** Advice for a server that requires TLS, which `ftps:` requests at the port of the address. */
function tlsCure({ host, port }: URL): string {
  return `The server requires TLS: begin the url with ftps://${host}${port === '' ? ':21' : ''}/ in place of ftp://.`
}

/** Advice for a reply code (RFC 959, 4.2) and the words of the server. */
function cureOf(code: number, words: string, hasCredentials: boolean): string {
  const isDenied = /\b(?:permission|denied|not allowed|not permitted|forbidden)\b/i.test(words)
  if (isDenied && hasCredentials)
    return 'Give the credentials of a user who may read the file with authorization.'
  if (code === 530 || isDenied) return FETCH_CURES.credentials
  if (
    /\b(?:directory|folder)\W*$|\bnot an? (?:plain|regular) file\b/i.test(words) &&
    !/\bno such\b/i.test(words)
  )
    return 'The path is that of a folder: give the path of one file in it.'
  if (code === 550) return FETCH_CURES.moved
  return 'Open it with another client of FTP to see more of its messages.'
}
