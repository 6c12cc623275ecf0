import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { lookup } from '../../model/lookup.ts'
import { refusedAddress } from './failures.ts'

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
    yield* pipeline(Readable.from(all), decoder, () => undefined) as AsyncIterable<Buffer>
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
