import { once } from 'node:events'

/** Writes to standard output as fast as it is read; who closes it has read enough. */
export async function print(pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  const { stdout } = process
  const failure = new Promise<never>((_, reject) => stdout.on('error', reject))
  failure.catch(() => undefined)
  try {
    for await (const piece of pieces)
      if (piece.length > 0 && !stdout.write(piece)) await Promise.race([once(stdout, 'drain'), failure])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    process.exit(0)
  }
}
