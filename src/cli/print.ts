/**
 * Writes to standard output as fast as it is read; who closes it has read enough. Nothing more is asked for before a piece
 * is written, so that its bytes may be used again.
 */
export async function print(pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  const { stdout } = process
  // Failures come to who writes; without a listener they would end the process as well.
  stdout.on('error', () => undefined)
  const write = (piece: string | Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      stdout.write(piece, error => (error == null ? resolve() : reject(error)))
    })
  try {
    for await (const piece of pieces) if (piece.length > 0) await write(piece)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    process.exit(0)
  }
}
