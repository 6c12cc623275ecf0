import type { Transform } from 'node:stream'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FaultPlace } from '../errors/errors.ts'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { unreadable } from './unreadable.ts'

/** Maximum decompressed size of a file in bytes. */
const MAX_UNPACKED = 64 * 2 ** 30
/** Decompressed bytes above which a file must not exceed a maximum compression ratio, which regular data never do. */
const SUSPICIOUS = 2 ** 27
const MAX_RATIO = 300

/** Throws SourceUnreadable where bytes unpack to more than honest data do. */
export function refuseBomb(unpacked: number, packed: number, place: FaultPlace): void {
  if (unpacked > MAX_UNPACKED || (unpacked > SUSPICIOUS && unpacked > packed * MAX_RATIO))
    throw unreadable(
      `The packed data unpack to more than ${unpacked} bytes from ${packed}: they are refused as a bomb.`,
      place,
      'Publish the unpacked file, if it is honest.',
    )
}

/**
 * Decompresses pieces of bytes. Throws SourceUnreadable for damaged data and for a decompressed size beyond the limits: a
 * decompression bomb.
 *
 * @param unpacker a stream of zlib
 */
export async function* boundedStream(
  packed: AsyncIterable<Buffer>,
  unpacker: Transform,
  place: FaultPlace,
): AsyncGenerator<Buffer> {
  let read = 0
  async function* counted() {
    for await (const piece of packed) {
      read += piece.length
      yield piece
    }
  }
  const input = Readable.from(counted(), { objectMode: true, highWaterMark: 1 })
  let unpacked = 0
  const done = ignoreRejection(pipeline(input, unpacker), 'whoever reads the output gets it')
  try {
    for await (const piece of unpacker as AsyncIterable<Buffer>) {
      unpacked += piece.length
      refuseBomb(unpacked, read, place)
      yield piece
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (typeof code !== 'string' || !code.startsWith('Z_')) throw error
    const reason = code === 'Z_BUF_ERROR' ? 'the packed data end too soon' : 'the packed data are damaged'
    throw unreadable(`The file cannot be read: ${reason}.`, place, 'Get the file again.', error)
  } finally {
    input.destroy()
    unpacker.destroy()
    await done
  }
}
