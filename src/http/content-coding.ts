import { pipeline, type Readable } from 'node:stream'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip, gzipSync } from 'node:zlib'

/** Shorter bodies are not worth compressing. */
const LEAST_BYTES = 1024
/**
 * Shorter pages of quads are sent uncompressed: they fit into the first packets of a connection, and a client that reads
 * hundreds of them would spend as long on decompressing one as on everything else.
 */
const LEAST_BYTES_OF_QUADS = 4096
/** Up to this size a body is compressed synchronously: to hand it to another thread and back takes as long. */
const MAX_AT_ONCE = 16 * 1024

const GZIP = { level: 4 }
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

/** Media types that are text: images, archives and the like are compressed already. */
const TEXT =
  /^(?:text\/(?!event-stream)|application\/(?:json|jsonl|x-ndjson|xml|n-triples|n-quads|trig|javascript)\b|[\w.-]+\/[\w.-]+\+(?:json|xml)\b)/

/** True if a media type is worth compressing. */
export function isCompressible(contentType: string): boolean {
  return TEXT.test(contentType)
}

/** True if a whole body of a media type is long enough to be worth compressing. */
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

/** Compresses a stream; if the reader stops, the source is destroyed too. */
export function compressStream(body: Readable, coding: Coding): Readable {
  const compressor = coding === 'br' ? createBrotliCompress(BROTLI) : createGzip(GZIP)
  // An error of either stream destroys the other, and the one that is read reports it.
  return pipeline(body, compressor, () => undefined)
}

/** The content codings of answers, in the server's order of preference among equal qualities. */
export const CODINGS = ['gzip', 'br'] as const

export type Coding = (typeof CODINGS)[number]

/** The preferred coding of an Accept-Encoding header (RFC 9110, section 12.5.3); null for none. */
export function preferredCoding(acceptEncoding: string | undefined): Coding | null {
  if (acceptEncoding === undefined) return null
  let best: Coding | null = null
  let max = qualityOf('identity', acceptEncoding)
  for (const coding of CODINGS) {
    const quality = qualityOf(coding, acceptEncoding)
    if (quality > 0 && (best === null ? quality >= max : quality > max)) {
      best = coding
      max = quality
    }
  }
  return best
}

/** True if the header accepts this coding; without the header every coding is accepted. */
export function acceptsCoding(acceptEncoding: string | undefined, coding: Coding): boolean {
  return acceptEncoding === undefined || qualityOf(coding, acceptEncoding) > 0
}

function qualityOf(coding: string, acceptEncoding: string): number {
  let quality = 0
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
