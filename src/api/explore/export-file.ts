import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { compressStream } from '../../http/content-coding.ts'
import { forSameClient } from '../../runtime/work-client.ts'

/** A file that an export hands out. */
export interface ExportFile {
  readonly name: string
  readonly mediaType: string
  /** The file itself is compressed with gzip. */
  readonly compressed: boolean
}

/**
 * Sends a file in pieces as they are made. What goes wrong after the first byte ends the connection, so that a part of a
 * file never looks like the whole.
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
    .send(compressStream(stream, 'gzip'))
}

/** Waits for the first piece: what goes wrong before it is thrown here, and answered as a fault. */
export async function begunExport<Piece>(pieces: AsyncGenerator<Piece>): Promise<AsyncGenerator<Piece>> {
  const first = await pieces.next()
  return (async function* () {
    if (first.done === true) return
    yield first.value
    yield* pieces
  })()
}
