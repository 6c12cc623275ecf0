import { Readable } from 'node:stream'
import { forSameClient } from '../runtime/work-client.ts'

/** Pieces of which the first were requested already. Ending them ends the others, also before any was read: no generator does. */
export function continued<Piece>(
  requested: readonly Promise<IteratorResult<Piece>>[],
  iterator: AsyncIterator<Piece>,
): AsyncIterableIterator<Piece> {
  let read = 0
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () => requested[read++] ?? iterator.next(),
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  }
}

/**
 * Waits for the first piece of a body, so that an error before it is thrown here, and answered as a fault. A later one breaks the
 * connection, which no client takes for a complete answer.
 */
export async function begun<Piece>(pieces: AsyncIterable<Piece>): Promise<AsyncIterableIterator<Piece>> {
  const iterator = pieces[Symbol.asyncIterator]()
  const first = await iterator.next()
  return continued([Promise.resolve(first)], iterator)
}

/**
 * The payload of an answer that is made while it is read, on the account of its client.
 *
 * @param source what the pieces are made of, if that has begun
 */
export function streamed(
  pieces: AsyncIterable<string | Uint8Array>,
  source?: AsyncIterator<unknown>,
): Readable {
  return Readable.from(forSameClient(pieces, source), { objectMode: false, highWaterMark: 64 * 1024 })
}
