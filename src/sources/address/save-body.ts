import { createWriteStream } from 'node:fs'
import { pipeline as piped, Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { Fault } from '../../errors/errors.ts'
import { lookup } from '../../model/lookup.ts'
import { refusedAddress, TransientFailure } from './failures.ts'
import type { FetchContext } from './limits.ts'

/**
 * Writes a body into a file; returns its bytes. Faults: SourceUnreadable for more bytes than allowed, for none, and for silence.
 * A connection that breaks is {@link TransientFailure}.
 *
 * @param expected announced bytes; NaN if unknown
 * @param decode removes the codings of the body: the limit is that of the decoded bytes
 */
export async function saveBody(
  body: Readable,
  file: string,
  url: URL,
  limits: FetchContext,
  expected: number,
  decode: BodyDecoder | null = null,
): Promise<number> {
  const tooLong = () =>
    refusedAddress(
      url,
      `it sends more than ${limits.size} bytes${limits.origin?.size ?? '; source_size allows more'}`,
    )
  if (expected > limits.size) {
    body.destroy()
    throw tooLong()
  }
  let size = 0
  let isSilent = false
  let timer: NodeJS.Timeout | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      isSilent = true
      body.destroy()
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
    const options = { signal: limits.late }
    if (decode === null) await pipeline(body, counted, createWriteStream(file), options)
    else await pipeline(body, decode, counted, createWriteStream(file), options)
  } catch (error) {
    if (isSilent) throw refusedAddress(url, `it sends nothing for ${limits.idle / 1000} s`)
    throw error instanceof Fault ? error : new TransientFailure(`the connection broke after ${size} bytes`)
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
  if (decode === null && Number.isFinite(expected) && size < expected)
    throw new TransientFailure(`the connection broke after ${size} of ${expected} bytes`)
  if (size === 0) throw refusedAddress(url, 'it sends nothing')
  return size
}

/** A step that decodes the pieces of a body. */
export type BodyDecoder = (pieces: AsyncIterable<Buffer>) => AsyncIterable<Buffer>

/**
 * The decoder of a coding for a body that begins with some bytes; null if the body does not have the coding, which is then taken
 * as it is. `deflate` is zlib (RFC 9110, 8.4.1.2), and from some servers its data without the header of zlib.
 */
const CODINGS: Readonly<Record<string, (first: Buffer) => Transform | null>> = {
  gzip: ([first, second]) => (first === 0x1f && second === 0x8b ? createGunzip() : null),
  deflate: ([first = 0, second = 0]) =>
    (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0 ? createInflate() : createInflateRaw(),
  br: () => createBrotliDecompress(),
}

/** Maximum number of content codings of a response, one within another. */
const MAX_CODINGS = 3

/**
 * The step that removes the content codings of a response (RFC 9110, 8.4), which some servers apply although `identity` alone is
 * accepted; null if there are none. Faults: SourceUnreadable for another coding.
 */
export function bodyDecoder(header: string | undefined, url: URL): BodyDecoder | null {
  const codings = (header ?? '')
    .split(',')
    .map(coding => coding.trim().toLowerCase().replace(/^x-/, ''))
    .filter(coding => coding !== '' && coding !== 'identity')
    .reverse()
  const unknown = codings.find(coding => lookup(CODINGS, coding) === undefined)
  if (unknown !== undefined)
    throw refusedAddress(
      url,
      `it answers with the content coding ${unknown.slice(0, 50)}`,
      `These are decoded: ${Object.keys(CODINGS).join(', ')}.`,
    )
  if (codings.length === 0) return null
  if (codings.length > MAX_CODINGS)
    throw refusedAddress(
      url,
      `it answers with ${codings.length} content codings, at most ${MAX_CODINGS} are decoded`,
    )
  return pieces => codings.reduce((coded, coding) => decoded(coded, coding, url), pieces)
}

async function* decoded(pieces: AsyncIterable<Buffer>, coding: string, url: URL): AsyncGenerator<Buffer> {
  const iterator = pieces[Symbol.asyncIterator]()
  const head: Buffer[] = []
  let length = 0
  while (length < 2) {
    const { done, value } = await iterator.next()
    if (done === true) break
    head.push(value)
    length += value.length
  }
  if (length === 0) return
  const decoder = lookup(CODINGS, coding)?.(Buffer.concat(head)) ?? null
  const all = rejoined(head, iterator)
  if (decoder === null) return yield* all
  try {
    yield* piped(Readable.from(all), decoder, () => undefined) as AsyncIterable<Buffer>
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!/^(?:Z_DATA_ERROR$|ERR__|ERR_BROTLI)/.test(code)) throw error
    throw refusedAddress(url, `its content is not ${coding}, as its Content-Encoding says`)
  }
}

async function* rejoined(head: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* head
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}
