import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Fault } from '../errors/errors.ts'
import { wholeLines } from '../rdf/line-set.ts'
import { yieldToOthers } from '../runtime/work-client.ts'
import { STORE_UNAVAILABLE } from '../store/faults.ts'

/** Bytes of a piece. */
const PIECE_BYTES = 2 ** 16

/**
 * The triples of a published graph as stored in its file, in bounded pieces of whole lines of N-Triples; only pieces that are
 * read are decompressed.
 */
export async function* publishedTriples(file: string): AsyncGenerator<string> {
  const packed = createReadStream(file, { highWaterMark: PIECE_BYTES })
  const text: AsyncIterable<Buffer> = pipeline(
    packed,
    createGunzip({ chunkSize: PIECE_BYTES }),
    () => undefined,
  )
  try {
    for await (const lines of wholeLines(text, 0)) {
      yield lines.toString()
      await yieldToOthers()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const reason = 'another version has taken the place of this one. Try again in a moment.'
    throw new Fault(STORE_UNAVAILABLE, { reason }, { cause: error })
  }
}
