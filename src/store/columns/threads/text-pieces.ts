import type { PieceBytes } from './piece-bytes.ts'
import type { LastPiece } from './protocol.ts'

/** Bytes of the first piece that is sent before its time is over, and how much more each may have: a reader of little waits for little. */
const FIRST_PIECE = 8192

/** Milliseconds, from its first rows on, in which a piece gets as long as it may be: what is all found by then is one piece. */
const PIECE_TIME = 4

/**
 * The answer of a query in pieces.
 *
 * @param written the piece that the steps write to
 * @param steps write a little each; the last returns the cursor of the rest
 * @param largest bytes of a piece
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
