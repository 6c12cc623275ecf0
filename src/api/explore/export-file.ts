import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { forSameClient } from '../../runtime/work-client.ts'

/** A file of an export. */
export interface ExportFile {
  readonly name: string
  readonly mediaType: string
  /** The file itself is compressed with gzip. */
  readonly compressed: boolean
}

/**
 * Streams a file. An error after the first byte closes the connection, so that a truncated file never looks complete.
 */
export function sendFile(
  reply: FastifyReply,
  pieces: AsyncIterable<string | Uint8Array>,
  { name, mediaType, compressed }: ExportFile,
): FastifyReply {
  const stream = Readable.from(forSameClient(pieces), { objectMode: false, highWaterMark: 64 * 1024 })
  const disposition = (file: string) => `attachment; filename="${file}"`
  if (!compressed) return reply.type(mediaType).header('content-disposition', disposition(name)).send(stream)
  return reply
    .type('application/gzip')
    .header('content-disposition', disposition(`${name}.gz`))
    .send(inGzip(stream))
}

/** A stream through gzip; an error of either stream destroys the other, and the one that is read reports it. */
function inGzip(stream: Readable): Readable {
  return pipeline(stream, createGzip(), () => undefined)
}

/** Waits for the first chunk: an error before it is thrown here, and answered as a fault. */
export async function begunExport<Piece>(pieces: AsyncGenerator<Piece>): Promise<AsyncGenerator<Piece>> {
  const first = await pieces.next()
  return (async function* () {
    if (first.done === true) return
    yield first.value
    yield* pieces
  })()
}
