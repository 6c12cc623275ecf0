import { fstatSync, write } from 'node:fs'
import { ignoreRejection } from '../errors/ignore-rejection.ts'

/**
 * Writes to standard output as fast as it is read; who closes it has read enough. A piece is written while the next one
 * is made: its bytes may be used again once the one after that is asked for.
 */
export async function print(pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  const writePiece = fstatSync(process.stdout.fd).isFile() ? writeToFile : writeToStream
  let writing: Promise<void> = Promise.resolve()
  try {
    for await (const piece of pieces) {
      // Also before an empty one, for the piece before it may be used again from now on.
      await writing
      if (piece.length === 0) continue
      writing = writePiece(piece)
      void ignoreRejection(writing, 'it is awaited before the next piece')
    }
    await writing
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    process.exit(0)
  }
}

function writeToStream(piece: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(piece, error => (error == null ? resolve() : reject(error)))
  })
}

/** Beside the thread that makes the pieces, which a stream of a file would stop. */
async function writeToFile(piece: string | Uint8Array): Promise<void> {
  const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
  for (let at = 0; at < bytes.length; ) at += await writeSome(bytes.subarray(at))
}

function writeSome(bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(process.stdout.fd, bytes, (error, count) => (error === null ? resolve(count) : reject(error)))
  })
}
