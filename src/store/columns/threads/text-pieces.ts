import type { PieceBytes } from './piece-bytes.ts'
import type { LastPiece } from './protocol.ts'

/** Minimum bytes of the first chunk, doubled for each next one: a client that reads little waits for little. */
const FIRST_PIECE = 8192

/** Milliseconds from its first rows in which a chunk may exceed its minimum: results found by then are in one chunk. */
const PIECE_TIME = 4

/**
 * The answer of a query in chunks.
 *
 * @param written the chunk that the steps write to
 * @param steps write small parts; the last returns the cursor of the rest
 * @param largest maximum bytes of a chunk
 */
export function* textPieces(
  written: PieceBytes,
  steps: Generator<void, string | null>,
  largest: number,
): Generator<Uint8Array, LastPiece> {
  for (let size = FIRST_PIECE; ; size = Math.min(largest, 2 * size)) {
    let end = Number.POSITIVE_INFINITY
    while (written.length < size || (written.length < largest && performance.now() < end)) {
      const { value: cursor, done } = steps.next()
      end = Math.min(end, performance.now() + PIECE_TIME)
      if (done === true) return { piece: written.length > 0 ? written.take() : null, cursor }
    }
    yield written.take()
  }
}
