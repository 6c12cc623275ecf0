import { pipeline, type Readable } from 'node:stream'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip, gzipSync } from 'node:zlib'

/** Shorter bodies gain nothing. */
const LEAST_BYTES = 1024
/**
 * Shorter pages of quads are sent as they are: they fit the first packets of a connection, and a client that reads hundreds
 * of them spends as long on decompressing one as on all the rest of it.
 */
const LEAST_BYTES_OF_QUADS = 4096
/** Up to this size a body is compressed at once: to hand it to another thread and back takes as long. */
const MAX_AT_ONCE = 16 * 1024

const GZIP = { level: 4 }
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

/** Media types that are text: images, archives and the like are compressed as they are. */
const TEXT =
  /^(?:text\/(?!event-stream)|application\/(?:json|jsonl|x-ndjson|xml|n-triples|n-quads|trig|javascript)\b|[\w.-]+\/[\w.-]+\+(?:json|xml)\b)/

/** True where a media type is one that compresses. */
export function isCompressible(contentType: string): boolean {
  return TEXT.test(contentType)
}

/** True where a whole body of a media type is long enough to gain. */
export function isLongEnough(contentType: string, body: string | Buffer): boolean {
  return (
    body.length >= (/^application\/(?:trig|n-quads)\b/.test(contentType) ? LEAST_BYTES_OF_QUADS : LEAST_BYTES)
  )
}

/** Compresses a whole body. */
export function compressBody(
  body: string | Buffer,
  coding: Coding,
  done: (error: Error | null, compressed: Buffer) => void,
): void {
  if (coding === 'br') brotliCompress(body, BROTLI, done)
  else if (body.length > MAX_AT_ONCE) gzip(body, GZIP, done)
  else done(null, gzipSync(body, GZIP))
}

/** Compresses a stream; who stops reading stops the stream too. */
export function compressStream(body: Readable, coding: Coding): Readable {
  const compressor = coding === 'br' ? createBrotliCompress(BROTLI) : createGzip(GZIP)
  // Errors of either end the other, and the one that is read tells them.
  return pipeline(body, compressor, () => undefined)
}

/** The content codings that answers are sent in, in the order of the house where a client likes them alike. */
export const CODINGS = ['gzip', 'br'] as const

export type Coding = (typeof CODINGS)[number]

/** The coding that an Accept-Encoding header likes best (RFC 9110, section 12.5.3); null for none. */
export function preferredCoding(acceptEncoding: string | undefined): Coding | null {
  if (acceptEncoding === undefined) return null
  let best: Coding | null = null
  let max = qualityOf('identity', acceptEncoding, 0)
  for (const coding of CODINGS) {
    const quality = qualityOf(coding, acceptEncoding, 0)
    if (quality > 0 && (best === null ? quality >= max : quality > max)) {
      best = coding
      max = quality
    }
  }
  return best
}

/** True where an answer in this coding can be read; without the header any can. */
export function acceptsCoding(acceptEncoding: string | undefined, coding: Coding): boolean {
  return acceptEncoding === undefined || qualityOf(coding, acceptEncoding, 0) > 0
}

function qualityOf(coding: string, acceptEncoding: string, unnamed: number): number {
  let quality = unnamed
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map(piece => piece.trim())
    if (name !== coding && name !== '*') continue
    const text = parameters.find(parameter => parameter.startsWith('q='))?.slice(2)
    const value = text === undefined ? 1 : Number(text)
    const known = value >= 0 && value <= 1 ? value : 0
    if (name === coding) return known
    if (coding !== 'identity') quality = known
  }
  return quality
}
