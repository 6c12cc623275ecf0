import { fstatSync, write } from 'node:fs'
import { ignoreRejection } from '../errors/ignore-rejection.ts'

/**
 * Writes to standard output as fast as it is read; ends the process if the reader closes it. A piece is written while the next
 * one is created: its buffer may be reused once the piece after that is requested.
 */
export async function print(pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  const writePiece = fstatSync(process.stdout.fd).isFile() ? writeToFile : writeToStream
  let writing: Promise<void> = Promise.resolve()
  try {
    for await (const piece of pieces) {
      // Also before an empty one, because the buffer of the previous piece may be reused from now on.
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

/** Writes without blocking the thread that creates the pieces, as a stream of a file would. */
async function writeToFile(piece: string | Uint8Array): Promise<void> {
  const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
  for (let at = 0; at < bytes.length; ) at += await writeSome(bytes.subarray(at))
}

function writeSome(bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(process.stdout.fd, bytes, (error, count) => (error === null ? resolve(count) : reject(error)))
  })
}
