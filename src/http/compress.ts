import { pipeline, type Readable } from 'node:stream'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip, gzipSync } from 'node:zlib'
import type { Coding } from './encoding.ts'

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
